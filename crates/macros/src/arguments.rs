//! The arguments of the attribute: `name = value`, separated by commas.

use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

use crate::problem::Problem;
use crate::table::Row;
use crate::tokens;

/// A setting and its value.
pub(crate) struct Setting {
    name: Ident,
    /// Whether a text is converted at compile time.
    is_text: bool,
    /// Invariant: not empty.
    value: Vec<TokenTree>,
}

/// Reads the arguments of the attribute. The settings that it accepts are `table`.
pub(crate) fn parse(arguments: TokenStream, table: &[Row]) -> Result<Vec<Setting>, Problem> {
    let mut settings: Vec<Setting> = Vec::new();
    let mut arguments = arguments.into_iter().peekable();
    while let Some(token) = arguments.next() {
        let TokenTree::Ident(name) = token else {
            return Err(Problem::new(
                token.span(),
                "settings are written as `name = value`, such as `strategy = \"pct:3\"`",
            ));
        };
        let word = name.to_string();
        let Some(row) = table.iter().find(|row| row.name == word) else {
            return Err(unknown(&name, table));
        };
        if settings.iter().any(|setting| setting.name.to_string() == word) {
            return Err(Problem::new(name.span(), format!("`{word}` is set twice")));
        }
        let is_sign = |token: &TokenTree, sign| matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign);
        let missing = || {
            let example = &row.example;
            Problem::new(name.span(), format!("`{word}` needs a value: `{word} = {example}`"))
        };
        arguments.next_if(|token| is_sign(token, '=')).ok_or_else(missing)?;
        let mut value = Vec::new();
        while let Some(token) = arguments.next_if(|token| !is_sign(token, ',')) {
            value.push(token);
        }
        if value.is_empty() {
            return Err(missing());
        }
        arguments.next();
        settings.push(Setting { name, is_text: row.is_text, value });
    }
    Ok(settings)
}

fn unknown(name: &Ident, table: &[Row]) -> Problem {
    let names: Vec<String> = table.iter().map(|row| format!("`{}`", row.name)).collect();
    Problem::new(name.span(), format!("unknown setting `{name}`; there are {}", names.join(", ")))
}

impl Setting {
    /// The call of the setting's method of `Config`, without the dot.
    pub(crate) fn call(self) -> Vec<TokenTree> {
        let argument = match &self.value[..] {
            [TokenTree::Literal(text)] if self.is_text && is_text(&text.to_string()) => {
                converted(&self.name, text.clone().into())
            }
            _ => self.value,
        };
        let mut list = Group::new(Delimiter::Parenthesis, argument.into_iter().collect());
        list.set_span(self.name.span());
        vec![self.name.into(), list.into()]
    }
}

/// A constant, so that a text that is not valid is a compile error:
/// `{ const VALUE: ::raddle::__test::text::NAME::Value = ::raddle::__test::text::NAME::parse("text"); VALUE }`.
fn converted(name: &Ident, text: TokenTree) -> Vec<TokenTree> {
    let span = text.span();
    let module = format!("::raddle::__test::text::{name}");
    let mut block = tokens(&format!("const VALUE: {module}::Value = {module}::parse"), span);
    let mut list = Group::new(Delimiter::Parenthesis, text.into());
    list.set_span(Span::call_site().located_at(span));
    block.push(list.into());
    block.extend(tokens("; VALUE", span));
    vec![Group::new(Delimiter::Brace, block.into_iter().collect()).into()]
}

fn is_text(literal: &str) -> bool {
    literal.starts_with('"') || literal.starts_with("r\"") || literal.starts_with("r#")
}
