//! What a replay needs, as one word: the program, the test, its build, and the schedule.

use std::fmt;
use std::fs;
use std::path::Path;

use crate::library;

/// A failing execution of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Token {
    /// As in [`Binary::name`](super::build::Binary).
    pub(super) binary: String,
    /// `None` if the program is one test.
    pub(super) test: Option<String>,
    /// Tells builds apart.
    pub(super) build: u32,
    /// The schedule, as the library in the program knows it.
    pub(super) schedule: String,
}

impl Token {
    /// Reads a token. Returns `None` if it is none.
    pub(super) fn parse(text: &str) -> Option<Token> {
        let (rest, schedule) = text.trim().rsplit_once('/')?;
        let (rest, build) = rest.rsplit_once('/')?;
        let (binary, test) = rest.rsplit_once('/')?;
        Some(Token {
            binary: binary.to_owned(),
            test: Some(test.to_owned()).filter(|test| !test.is_empty()),
            build: u32::from_str_radix(build, 16).ok()?,
            schedule: schedule.to_owned(),
        })
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Token { binary, test, build, schedule } = self;
        write!(f, "{binary}/{}/{build:08x}/{schedule}", test.as_deref().unwrap_or(""))
    }
}

/// Returns what tells builds of a program apart.
pub(super) fn build_of(program: &Path) -> u32 {
    library::hash(&fs::read(program).unwrap_or_default()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_as_they_were_written() {
        for (binary, test) in
            [("one", Some("a::b")), ("one::bin/two", Some("c")), ("one::own", None)]
        {
            let (binary, test) = (binary.to_owned(), test.map(str::to_owned));
            let token = Token { binary, test, build: 0xab, schedule: "r1-x_-Y".into() };
            assert_eq!(Token::parse(&token.to_string()), Some(token));
        }
        for wrong in ["", "r1-x", "a/b/r1-x", "a/b/zz/r1-x"] {
            assert_eq!(Token::parse(wrong), None);
        }
    }
}
