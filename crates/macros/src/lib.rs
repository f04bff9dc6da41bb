//! The attribute `#[raddle::test]`. Use it as `raddle::test`, where it is documented.
//!
//! It reads tokens by hand: all it has to know of a function is where its name, its parameters, its
//! result and its body are, and users of raddle need not build a parser of Rust for that.
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
    let mut call = quoted("::raddle::__settings!", Span::call_site());
    let input = [group(Delimiter::Bracket, arguments), group(Delimiter::Brace, item)];
    call.push(group(Delimiter::Brace, input));
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
        // With the function as it was, so that nothing else is reported.
        Err(problem) => [problem.into_error(), item].into_iter().collect(),
    }
}

fn test_function(
    table: &[Row],
    arguments: TokenStream,
    item: TokenStream,
) -> Result<TokenStream, Problem> {
    let settings = arguments::parse(arguments, table)?;
    let function = function::parse(item)?;
    let mut test: Vec<TokenTree> = Vec::new();
    test.extend(quoted("#[::core::prelude::v1::test]", Span::call_site()));
    test.extend(function.attributes.iter().cloned());
    test.extend(quoted("fn", Span::call_site()));
    test.push(function.name.clone().into());
    test.push(group(Delimiter::Parenthesis, []));
    test.push(group(Delimiter::Brace, body(&function, settings)));
    Ok(test.into_iter().collect())
}

/// The function as it was, and then its check.
fn body(function: &Function, settings: Vec<Setting>) -> Vec<TokenTree> {
    let span = function.name.span();
    let mut body: Vec<TokenTree> = quoted("fn", Span::call_site());
    body.push(function.name.clone().into());
    body.push(group(Delimiter::Parenthesis, []));
    body.extend(function.result.iter().cloned());
    body.push(function.body.clone().into());

    body.extend(quoted("::raddle::__test::config", Span::call_site()));
    body.push(group(Delimiter::Parenthesis, path(&function.name)));
    for setting in settings {
        body.push(Punct::new('.', Spacing::Alone).into());
        body.extend(setting.call());
    }
    body.extend(quoted(".check", Span::call_site()));
    // The place of a panic for an `Err` is the test's name.
    let mut program = quoted("|| ::raddle::__test::Outcome::accept", span);
    let mut called = vec![function.name.clone().into()];
    called.push(group(Delimiter::Parenthesis, []));
    program.push(group(Delimiter::Parenthesis, called));
    let last = program.last_mut().expect("just pushed");
    last.set_span(span);
    body.push(group(Delimiter::Parenthesis, program));
    body
}

/// Where the test is: its module and its name.
fn path(name: &Ident) -> Vec<TokenTree> {
    let mut path = quoted("::core::module_path!(),", Span::call_site());
    let text = name.to_string();
    path.push(Literal::string(text.strip_prefix("r#").unwrap_or(&text)).into());
    path
}

fn group(delimiter: Delimiter, content: impl IntoIterator<Item = TokenTree>) -> TokenTree {
    Group::new(delimiter, content.into_iter().collect()).into()
}

/// The tokens of `text`, all as if written at `span`.
fn quoted(text: &str, span: Span) -> Vec<TokenTree> {
    let tokens: TokenStream = text.parse().expect("raddle invariant broken: not tokens");
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for token in &mut tokens {
        token.set_span(token.span().located_at(span));
    }
    tokens
}
