//! The settings in the attribute: `name = value`, separated by commas.

use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

use crate::problem::Problem;
use crate::quoted;

/// A setting, and the value given to it.
pub(crate) struct Setting {
    name: Ident,
    kind: Kind,
    /// Invariant: not empty.
    value: Vec<TokenTree>,
}

/// How the value of a setting is handed on.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Kind {
    /// As it is: an expression.
    Plain,
    /// A text is turned into a value of this type by this function of `__test`; anything else is an
    /// expression.
    Text { function: &'static str, of: &'static str },
}

const TIME: Kind = Kind::Text { function: "time", of: "::core::time::Duration" };
const MEMORY: Kind = Kind::Text { function: "memory", of: "::raddle::Memory" };
const COVERAGE: Kind = Kind::Text { function: "coverage", of: "::raddle::Accesses" };
const GRANULARITY: Kind = Kind::Text { function: "granularity", of: "::raddle::Granularity" };
const PANICS: Kind = Kind::Text { function: "panics", of: "::raddle::Panics" };
const LEAKS: Kind = Kind::Text { function: "leaks", of: "::raddle::Leaks" };
const ON_STEP_LIMIT: Kind = Kind::Text { function: "on_step_limit", of: "::raddle::OnStepLimit" };

/// Every setting, with an example of a value.
const SETTINGS: &[(&str, Kind, &str)] = &[
    ("strategy", Kind::Plain, "\"pct:3\""),
    ("memory", MEMORY, "\"rc11\""),
    ("runs", Kind::Plain, "10_000"),
    ("time", TIME, "\"10s\""),
    ("seed", Kind::Plain, "7"),
    ("max_steps", Kind::Plain, "100_000"),
    ("on_step_limit", ON_STEP_LIMIT, "\"discard\""),
    ("granularity", GRANULARITY, "\"all\""),
    ("keep_going", Kind::Plain, "true"),
    ("races", Kind::Plain, "false"),
    ("panics", PANICS, "\"join\""),
    ("spurious", Kind::Plain, "1"),
    ("leaks", LEAKS, "\"fail\""),
    ("lock_order", Kind::Plain, "true"),
    ("watchdog", TIME, "\"30s\""),
    ("threads", Kind::Plain, "2"),
    ("stack_size", Kind::Plain, "65_536"),
    ("coverage", COVERAGE, "\"site\""),
    ("name", Kind::Plain, "\"queue\""),
    ("replay", Kind::Plain, "\"r1-…\""),
];

pub(crate) fn parse(arguments: TokenStream) -> Result<Vec<Setting>, Problem> {
    let mut settings: Vec<Setting> = Vec::new();
    let mut tokens = arguments.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let TokenTree::Ident(name) = token else {
            return Err(Problem::new(
                token.span(),
                "settings are written as `name = value`, such as `strategy = \"pct:3\"`",
            ));
        };
        let word = name.to_string();
        let Some(&(_, kind, example)) = SETTINGS.iter().find(|setting| setting.0 == word) else {
            return Err(unknown(&name));
        };
        if settings.iter().any(|setting| setting.name.to_string() == word) {
            return Err(Problem::new(name.span(), format!("`{word}` is set twice")));
        }
        let is_sign = |token: &TokenTree, sign| matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign);
        let missing =
            || Problem::new(name.span(), format!("`{word}` needs a value: `{word} = {example}`"));
        tokens.next_if(|token| is_sign(token, '=')).ok_or_else(missing)?;
        let mut value = Vec::new();
        while let Some(token) = tokens.next_if(|token| !is_sign(token, ',')) {
            value.push(token);
        }
        if value.is_empty() {
            return Err(missing());
        }
        tokens.next();
        settings.push(Setting { name, kind, value });
    }
    Ok(settings)
}

fn unknown(name: &Ident) -> Problem {
    let names: Vec<String> = SETTINGS.iter().map(|setting| format!("`{}`", setting.0)).collect();
    Problem::new(name.span(), format!("unknown setting `{name}`; there are {}", names.join(", ")))
}

impl Setting {
    /// The method of the configuration with its argument.
    pub(crate) fn call(self) -> Vec<TokenTree> {
        let argument = match (self.kind, &self.value[..]) {
            (Kind::Text { function, of }, [TokenTree::Literal(text)])
                if is_text(&text.to_string()) =>
            {
                converted(function, of, text.clone().into())
            }
            (Kind::Plain | Kind::Text { .. }, _) => self.value,
        };
        let mut list = Group::new(Delimiter::Parenthesis, argument.into_iter().collect());
        list.set_span(self.name.span());
        vec![self.name.into(), list.into()]
    }
}

/// `{ const VALUE: type = ::raddle::__test::function("text"); VALUE }`: a text that will not do is a
/// compile error at the text.
fn converted(function: &str, of: &str, text: TokenTree) -> Vec<TokenTree> {
    let span = text.span();
    let mut block = quoted(&format!("const VALUE: {of} = ::raddle::__test::{function}"), span);
    let mut list = Group::new(Delimiter::Parenthesis, text.into());
    list.set_span(Span::call_site().located_at(span));
    block.push(list.into());
    block.extend(quoted("; VALUE", span));
    vec![Group::new(Delimiter::Brace, block.into_iter().collect()).into()]
}

fn is_text(literal: &str) -> bool {
    literal.starts_with('"') || literal.starts_with("r\"") || literal.starts_with("r#")
}
