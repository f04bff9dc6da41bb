//! The settings that the attribute accepts, as `raddle::__settings!` lists them.
//!
//! This crate cannot depend on raddle, whose table of settings names them. So the attribute expands to a
//! call of `raddle::__settings!`, which calls `expand!` with the list and the attribute's input.

use proc_macro::{TokenStream, TokenTree};

/// A setting that the attribute accepts.
pub(crate) struct Row {
    pub(crate) name: String,
    /// A value, as it is written in the attribute.
    pub(crate) example: String,
    /// Whether a text is converted at compile time.
    pub(crate) is_text: bool,
}

/// Reads a list such as `runs = 10_000 as expression, time = "10s" as time,`.
pub(crate) fn parse(list: TokenStream) -> Vec<Row> {
    let tokens: Vec<TokenTree> = list.into_iter().collect();
    let rows =
        tokens.split(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ','));
    let rows = rows.filter_map(|row| match row {
        [name, _equals, example, _as, parser] => Some(Row {
            name: name.to_string(),
            example: example.to_string(),
            is_text: parser.to_string() != "expression",
        }),
        _ => None,
    });
    rows.collect()
}
