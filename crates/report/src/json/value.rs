//! JSON as data, and its text.

use std::fmt::{self, Write};

/// A JSON value.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(u64),
    Fraction(f64),
    Text(String),
    List(Vec<Json>),
    /// Fields with names that the form knows.
    Object(Vec<(&'static str, Json)>),
    /// Fields with any names.
    Map(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    pub(crate) fn list(items: impl IntoIterator<Item = Json>) -> Json {
        Json::List(items.into_iter().collect())
    }

    /// `null` for nothing.
    pub(crate) fn or_null<T>(value: Option<T>, json: impl FnOnce(T) -> Json) -> Json {
        value.map_or(Json::Null, json)
    }

    /// On lines of its own if it holds much, on one line otherwise.
    fn write(&self, to: &mut String, indent: usize) {
        match self {
            Json::Null => to.push_str("null"),
            Json::Bool(value) => push(to, format_args!("{value}")),
            Json::Number(value) => push(to, format_args!("{value}")),
            // JSON has no infinity; an estimate that large is none.
            Json::Fraction(value) if !value.is_finite() => to.push_str("null"),
            Json::Fraction(value) => push(to, format_args!("{value:?}")),
            Json::Text(text) => string(to, text),
            Json::List(items) => {
                let items = items.iter().map(|item| (None, item));
                self.nested(to, indent, ['[', ']'], items);
            }
            Json::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| (Some(*name), value));
                self.nested(to, indent, ['{', '}'], fields);
            }
            Json::Map(fields) => {
                let fields = fields.iter().map(|(name, value)| (Some(&name[..]), value));
                self.nested(to, indent, ['{', '}'], fields);
            }
        }
    }

    fn nested<'a>(
        &self,
        to: &mut String,
        indent: usize,
        [open, close]: [char; 2],
        items: impl Iterator<Item = (Option<&'a str>, &'a Json)>,
    ) {
        let broken = indent == 0 || self.depth() > 2;
        let inner = indent + 2;
        let mut is_first = true;
        to.push(open);
        for (name, value) in items {
            if !is_first {
                to.push_str(if broken { "," } else { ", " });
            }
            is_first = false;
            if broken {
                push(to, format_args!("\n{:inner$}", ""));
            }
            if let Some(name) = name {
                string(to, name);
                to.push_str(": ");
            }
            value.write(to, inner);
        }
        if broken {
            push(to, format_args!("\n{:indent$}", ""));
        }
        to.push(close);
    }

    /// How many lists and objects are around the innermost value, up to 3: no more is asked.
    fn depth(&self) -> usize {
        let deepest = match self {
            Json::List(items) => items.iter().map(Json::depth).max(),
            Json::Object(fields) => fields.iter().map(|field| field.1.depth()).max(),
            Json::Map(fields) => fields.iter().map(|field| field.1.depth()).max(),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Fraction(_) | Json::Text(_) => {
                return 0;
            }
        };
        1 + deepest.unwrap_or(0)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text, 0);
        f.write_str(&text)
    }
}

fn string(to: &mut String, text: &str) {
    to.push('"');
    for letter in text.chars() {
        match letter {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            '\n' => to.push_str("\\n"),
            '\t' => to.push_str("\\t"),
            // Also those that end a line of a script, which JSON may be part of.
            '\0'..'\u{20}' | '\u{7f}' | '\u{2028}' | '\u{2029}' => {
                push(to, format_args!("\\u{:04x}", letter as u32));
            }
            other => to.push(other),
        }
    }
    to.push('"');
}

fn push(to: &mut String, text: fmt::Arguments<'_>) {
    to.write_fmt(text).expect("raddle invariant broken: a string cannot be written to");
}
