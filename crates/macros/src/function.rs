//! The parts of the function that becomes a test.

use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

use crate::problem::Problem;

/// A function without parameters.
pub(crate) struct Function {
    /// The attributes, including documentation.
    pub(crate) attributes: Vec<TokenTree>,
    pub(crate) name: Ident,
    pub(crate) is_async: bool,
    /// The arrow and the type; empty if the function has no result.
    pub(crate) result: Vec<TokenTree>,
    pub(crate) body: Group,
}

/// Splits a function into its parts. Returns a [`Problem`] if `item` cannot be a test.
pub(crate) fn parse(item: TokenStream) -> Result<Function, Problem> {
    let tokens: Vec<TokenTree> = item.into_iter().collect();
    let attributes = attributes(&tokens)?;
    let begin = attributes.len();
    let keyword = tokens[begin..].iter().position(|token| is_word(token, "fn"));
    let Some(keyword) = keyword.map(|position| begin + position) else {
        let span = tokens.get(begin).map_or_else(Span::call_site, TokenTree::span);
        return Err(Problem::new(span, "only a function can be a test"));
    };
    for (word, message) in QUALIFIERS {
        if let Some(found) = tokens[begin..keyword].iter().find(|token| is_word(token, word)) {
            return Err(Problem::new(found.span(), *message));
        }
    }
    let is_async = tokens[begin..keyword].iter().any(|token| is_word(token, "async"));
    let mut rest = tokens.into_iter().skip(keyword + 1);
    let Some(TokenTree::Ident(name)) = rest.next() else {
        return Err(Problem::new(Span::call_site(), "the function has no name"));
    };
    match rest.next() {
        Some(TokenTree::Group(list)) if list.delimiter() == Delimiter::Parenthesis => {
            if !list.stream().is_empty() {
                return Err(Problem::new(
                    list.span(),
                    "a test takes no arguments; use `raddle::choose` to try several values",
                ));
            }
        }
        Some(token) => {
            return Err(Problem::new(token.span(), "a test cannot be generic"));
        }
        None => return Err(Problem::new(name.span(), "the function has no parameters")),
    }
    let mut result: Vec<TokenTree> = rest.collect();
    match result.pop() {
        Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => {
            Ok(Function { attributes, name, is_async, result, body })
        }
        Some(_) | None => Err(Problem::new(name.span(), "the function has no body")),
    }
}

/// Qualifiers that a test cannot have, with the reason.
const QUALIFIERS: &[(&str, &str)] = &[
    ("unsafe", "a test cannot be unsafe"),
    ("extern", "a test cannot be extern"),
    ("const", "a test cannot be const"),
];

/// Returns the attributes at the beginning of `tokens`.
fn attributes(tokens: &[TokenTree]) -> Result<Vec<TokenTree>, Problem> {
    let mut attributes = Vec::new();
    for pair in tokens.chunks_exact(2) {
        match pair {
            [TokenTree::Punct(hash), TokenTree::Group(attribute)]
                if hash.as_char() == '#' && attribute.delimiter() == Delimiter::Bracket =>
            {
                if is_test(attribute) {
                    return Err(Problem::new(
                        attribute.span(),
                        "`raddle::test` already makes the function a test: remove this attribute",
                    ));
                }
                attributes.extend(pair.iter().cloned());
            }
            _item => break,
        }
    }
    Ok(attributes)
}

/// Returns whether an attribute is a path that ends in `test`.
fn is_test(attribute: &Group) -> bool {
    let tokens: Vec<TokenTree> = attribute.stream().into_iter().collect();
    let path = tokens.iter().take_while(|token| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(punct) => punct.as_char() == ':',
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    });
    path.last().is_some_and(|last| is_word(last, "test"))
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == word)
}
