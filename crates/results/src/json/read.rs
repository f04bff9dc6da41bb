//! A reader of JSON texts (RFC 8259).

use std::fmt;

use super::Json;

/// The maximal nesting accepted, so that no text overflows the stack.
const MAX_DEPTH: usize = 64;

/// Why a text cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReadError {
    /// The text is not JSON.
    Syntax {
        /// The byte at which it stops being JSON.
        at: usize,
        /// What could have come there.
        expected: &'static str,
    },
    /// A field is missing, or holds something else than it should.
    Value {
        /// The names of the fields that lead there, joined by points.
        path: String,
        /// What should be there.
        expected: &'static str,
    },
    /// The report was written in a form that this version of raddle does not read.
    Version {
        /// The version of the form.
        found: u64,
    },
}

impl ReadError {
    /// Adds the name of the field, or the position in the list, in which the error occurred.
    pub(super) fn within(mut self, name: &str) -> ReadError {
        if let ReadError::Value { path, .. } = &mut self {
            *path = if path.is_empty() { name.to_owned() } else { format!("{name}.{path}") };
        }
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Syntax { at, expected } => {
                write!(f, "not JSON: expected {expected} at byte {at}")
            }
            ReadError::Value { path, expected } => {
                write!(f, "not a report of raddle: `{path}` should be {expected}")
            }
            ReadError::Version { found } => {
                write!(f, "a report of version {found}, which this version of raddle does not read")
            }
        }
    }
}

impl std::error::Error for ReadError {}

/// Reads one value that makes up the whole text.
pub(super) fn parse(text: &str) -> Result<Json, ReadError> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(0)?;
    reader.space();
    if reader.at == text.len() { Ok(value) } else { Err(reader.error("the end of the text")) }
}

struct Reader<'a> {
    text: &'a str,
    /// Invariant: a boundary between characters of `text`.
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, expected: &'static str) -> ReadError {
        ReadError::Syntax { at: self.at, expected }
    }

    fn space(&mut self) {
        let rest = self.rest().trim_start_matches([' ', '\t', '\n', '\r']);
        self.at = self.text.len() - rest.len();
    }

    /// Skips `word` if it comes next. Returns whether it did.
    fn accept(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    fn value(&mut self, depth: usize) -> Result<Json, ReadError> {
        self.space();
        if depth > MAX_DEPTH {
            return Err(self.error("less nesting"));
        }
        match self.rest().bytes().next() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ if self.accept("null") => Ok(Json::Null),
            _ if self.accept("true") => Ok(Json::Bool(true)),
            _ if self.accept("false") => Ok(Json::Bool(false)),
            _ => Err(self.error("a value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, ReadError> {
        let mut fields = Vec::new();
        self.items("}", |reader| {
            reader.space();
            let name = reader.string()?;
            reader.space();
            if !reader.accept(":") {
                return Err(reader.error("`:`"));
            }
            fields.push((name.into(), reader.value(depth + 1)?));
            Ok(())
        })?;
        Ok(Json::Object(fields))
    }

    fn list(&mut self, depth: usize) -> Result<Json, ReadError> {
        let mut items = Vec::new();
        self.items("]", |reader| {
            items.push(reader.value(depth + 1)?);
            Ok(())
        })?;
        Ok(Json::List(items))
    }

    /// Reads items separated by commas, from the bracket that opens them up to `close`.
    fn items(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.at += 1;
        self.space();
        if self.accept(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            self.space();
            if self.accept(close) {
                return Ok(());
            }
            if !self.accept(",") {
                return Err(self.error("`,` or a closing bracket"));
            }
        }
    }

    fn string(&mut self) -> Result<String, ReadError> {
        if !self.accept("\"") {
            return Err(self.error("a string"));
        }
        let mut text = String::new();
        loop {
            let plain = self.rest();
            let end = plain.find(['"', '\\']).ok_or(self.error("the end of a string"))?;
            if let Some(control) = plain[..end].find(|letter: char| letter < '\u{20}') {
                self.at += control;
                return Err(self.error("no control character"));
            }
            text.push_str(&plain[..end]);
            self.at += end;
            if self.accept("\"") {
                return Ok(text);
            }
            text.push(self.escape()?);
        }
    }

    fn escape(&mut self) -> Result<char, ReadError> {
        let simple = [
            ("\\\"", '"'),
            ("\\\\", '\\'),
            ("\\/", '/'),
            ("\\b", '\u{8}'),
            ("\\f", '\u{c}'),
            ("\\n", '\n'),
            ("\\r", '\r'),
            ("\\t", '\t'),
        ];
        if let Some((_, letter)) = simple.into_iter().find(|(escape, _)| self.accept(escape)) {
            return Ok(letter);
        }
        let start = self.at;
        let first = self.unit()?;
        let code = match first {
            0xd800..=0xdbff => match self.unit()? {
                second @ 0xdc00..=0xdfff => 0x10000 + ((first - 0xd800) << 10) + second - 0xdc00,
                _ => first,
            },
            other => other,
        };
        char::from_u32(code).ok_or(ReadError::Syntax { at: start, expected: "a character" })
    }

    /// Reads `\u` and four hexadecimal digits.
    fn unit(&mut self) -> Result<u32, ReadError> {
        let error = self.error("an escape sequence");
        let digits = self.rest().strip_prefix("\\u").and_then(|rest| rest.get(..4));
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).ok_or(error)?;
        self.at += "\\u0000".len();
        Ok(unit)
    }

    fn number(&mut self) -> Result<Json, ReadError> {
        let is_part = |letter: char| letter.is_ascii_digit() || "+-.eE".contains(letter);
        let rest = self.rest();
        let number = &rest[..rest.find(|letter| !is_part(letter)).unwrap_or(rest.len())];
        let fraction = || number.parse().ok().filter(|value: &f64| value.is_finite());
        let value = match number.parse() {
            _ if !is_json_number(number) => None,
            Ok(whole) => Some(Json::Number(whole)),
            Err(_) => fraction().map(Json::Fraction),
        };
        let value = value.ok_or(self.error("a number"))?;
        self.at += number.len();
        Ok(value)
    }
}

/// Returns whether a text that Rust reads as a number is one in JSON too: digits around a point, and no
/// zeros before others.
fn is_json_number(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let (whole, rest) = digits.split_at(digits.find(['.', 'e', 'E']).unwrap_or(digits.len()));
    let is_padded = whole.len() > 1 && whole.starts_with('0');
    let fraction =
        rest.strip_prefix('.').map(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    !whole.is_empty() && !is_padded && fraction.unwrap_or(true)
}
