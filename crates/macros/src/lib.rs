//! The attribute `#[raddle::test]`. Use it as `raddle::test`, which documents it.
//!
//! The attribute parses tokens by hand. It only needs the name, the parameters, the result and the body of a
//! function, so users of raddle do not have to build a parser of Rust.
#![forbid(unsafe_code)]

mod arguments;
mod function;
mod problem;
mod table;

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use arguments::Setting;
use function::Function;
use problem::Problem;
use table::Row;

/// Makes a function a test that raddle checks; see `raddle::test`.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let span = Span::call_site();
    let input = [group(Delimiter::Bracket, arguments, span), group(Delimiter::Brace, item, span)];
    let mut call = tokens("::raddle::__settings!", span);
    call.push(group(Delimiter::Brace, input, span));
    call.into_iter().collect()
}

/// Expands `#[raddle::test]`. The input is `[settings that are accepted] [arguments] { item }`.
#[doc(hidden)]
#[proc_macro]
pub fn expand(input: TokenStream) -> TokenStream {
    let mut groups = input.into_iter().map(|token| match token {
        TokenTree::Group(group) => group.stream(),
        other => other.into(),
    });
    let mut next = || groups.next().unwrap_or_default();
    let (table, arguments, item) = (next(), next(), next());
    match test_function(&table::parse(table), arguments, item.clone()) {
        Ok(test) => test,
        // The function is kept, so that the compiler does not report that it is missing.
        Err(problem) => [problem.into_error(), item].into_iter().collect(),
    }
}

/// Turns the function `item` into a test.
///
/// All new tokens are located at the function's name, which is then the location of the test in panics and
/// backtraces.
fn test_function(
    table: &[Row],
    arguments: TokenStream,
    item: TokenStream,
) -> Result<TokenStream, Problem> {
    let settings = arguments::parse(arguments, table)?;
    let function = function::parse(item)?;
    let span = Span::call_site().located_at(function.name.span());
    let mut test: Vec<TokenTree> = Vec::new();
    test.extend(tokens("#[::core::prelude::v1::test]", span));
    test.extend(function.attributes.iter().cloned());
    test.extend(tokens("fn", span));
    test.push(function.name.clone().into());
    test.push(group(Delimiter::Parenthesis, [], span));
    test.push(group(Delimiter::Brace, body(&function, settings, span), span));
    Ok(test.into_iter().collect())
}

/// The body of the test: the original function, and then the check that calls it.
fn body(function: &Function, settings: Vec<Setting>, span: Span) -> Vec<TokenTree> {
    let keywords = if function.is_async { "async fn" } else { "fn" };
    let mut body: Vec<TokenTree> = Vec::new();
    for name in PRINTING.iter().filter(|name| calls(function.body.stream(), name)) {
        body.extend(tokens(&format!("use ::raddle::{name};"), span));
    }
    body.extend(tokens(keywords, span));
    body.push(function.name.clone().into());
    body.push(group(Delimiter::Parenthesis, [], span));
    body.extend(function.result.iter().cloned());
    body.push(function.body.clone().into());

    body.extend(tokens("::raddle::__test::config", span));
    body.push(group(Delimiter::Parenthesis, path(&function.name, span), span));
    for setting in settings {
        body.push(Punct::new('.', Spacing::Alone).into());
        body.extend(setting.call());
    }
    body.extend(tokens(".check", span));
    let mut program = tokens("|| ::raddle::__test::Outcome::accept", span);
    let mut call: Vec<TokenTree> =
        vec![function.name.clone().into(), group(Delimiter::Parenthesis, [], span)];
    if function.is_async {
        let future = group(Delimiter::Parenthesis, call, span);
        call = tokens("::raddle::future::block_on", span);
        call.push(future);
    }
    program.push(group(Delimiter::Parenthesis, call, span));
    body.push(group(Delimiter::Parenthesis, program, span));
    body
}

/// The macros of `std` that print. In a test, those of raddle stand for them, which keep the output of executions apart.
const PRINTING: &[&str] = &["print", "println", "eprint", "eprintln"];

/// Returns whether some code has calls of the macro `name`, written without a path.
fn calls(code: TokenStream, name: &str) -> bool {
    let code: Vec<TokenTree> = code.into_iter().collect();
    let is_sign = |at: usize, sign: char| matches!(code.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == sign);
    code.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Group(group) => calls(group.stream(), name),
        TokenTree::Ident(ident) => {
            let is_in_path = at > 0 && is_sign(at - 1, ':');
            ident.to_string() == name && is_sign(at + 1, '!') && !is_in_path
        }
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

/// The arguments of `__test::config`: the test's module, its name, and where it comes from.
fn path(name: &Ident, span: Span) -> Vec<TokenTree> {
    let mut path = tokens("::core::module_path!(),", span);
    let text = name.to_string();
    path.push(Literal::string(text.strip_prefix("r#").unwrap_or(&text)).into());
    path.extend(tokens(", ::raddle::__origin!()", span));
    path
}

fn group(
    delimiter: Delimiter,
    content: impl IntoIterator<Item = TokenTree>,
    span: Span,
) -> TokenTree {
    let mut group = Group::new(delimiter, content.into_iter().collect());
    group.set_span(span);
    group.into()
}

/// Parses `text` into tokens that are located at `span`.
fn tokens(text: &str, span: Span) -> Vec<TokenTree> {
    let stream: TokenStream = text.parse().expect("raddle invariant broken: not tokens");
    let mut tokens: Vec<TokenTree> = stream.into_iter().collect();
    for token in &mut tokens {
        token.set_span(token.span().located_at(span));
    }
    tokens
}
