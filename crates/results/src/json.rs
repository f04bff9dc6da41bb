//! JSON values, and their text in both directions.
//!
//! Written and read by hand, because every user of raddle compiles this. What raddle writes is documented in
//! `docs/report-json.md`.

mod data;
mod read;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::{self, Write};

pub(crate) use data::{Data, expected, object, unknown, variants, words};
pub use read::ReadError;

/// A JSON value.
#[derive(Clone, PartialEq, Debug)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number that is not negative.
    Number(u64),
    /// Any other number. Infinity and NaN are written as `null`.
    Fraction(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object, with its fields in order.
    Object(Vec<(Cow<'static, str>, Json)>),
}

impl Json {
    /// Reads a JSON text.
    pub fn parse(text: &str) -> Result<Json, ReadError> {
        read::parse(text)
    }

    /// A string.
    pub fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    /// An object with these fields.
    pub fn object(fields: Vec<(&'static str, Json)>) -> Json {
        Json::Object(fields.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// Returns the field of an object. Returns `None` if it is missing or this is no object.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(fields) => {
                fields.iter().find(|field| field.0 == name).map(|field| &field.1)
            }
            Json::Null
            | Json::Bool(_)
            | Json::Number(_)
            | Json::Fraction(_)
            | Json::Text(_)
            | Json::List(_) => None,
        }
    }

    /// Returns the text of a string. Returns `None` if this is no string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            Json::Null
            | Json::Bool(_)
            | Json::Number(_)
            | Json::Fraction(_)
            | Json::List(_)
            | Json::Object(_) => None,
        }
    }

    /// Writes a value on one line if it is shallow, on several lines otherwise.
    fn write(&self, to: &mut String, indent: usize) {
        match self {
            Json::Null => to.push_str("null"),
            Json::Bool(value) => push(to, format_args!("{value}")),
            Json::Number(value) => push(to, format_args!("{value}")),
            Json::Fraction(value) if !value.is_finite() => to.push_str("null"),
            Json::Fraction(value) => push(to, format_args!("{value:?}")),
            Json::Text(text) => string(to, text),
            Json::List(items) => {
                let items = items.iter().map(|item| (None, item));
                self.nested(to, indent, ['[', ']'], items);
            }
            Json::Object(fields) => {
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
        let broken = indent == 0 || self.is_deeper_than(2);
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

    /// Returns whether more than `levels` lists and objects are nested in one another.
    fn is_deeper_than(&self, levels: usize) -> bool {
        let is_deep = |inner: &Json| inner.is_deeper_than(levels - 1);
        match self {
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Fraction(_) | Json::Text(_) => {
                false
            }
            Json::List(_) | Json::Object(_) if levels == 0 => true,
            Json::List(items) => items.iter().any(is_deep),
            Json::Object(fields) => fields.iter().any(|field| is_deep(&field.1)),
        }
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
            // The last two end a line of a script, which JSON may be part of.
            '\0'..'\u{20}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => {
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
