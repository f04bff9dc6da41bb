//! Values of settings, read from text.

use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::OnceLock;
use std::time::Duration;

use raddle_explore::Strategy;

use super::{SettingError, Variable, Word};

/// The value that the environment gives to a variable.
///
/// Each method reads the value as one type, or returns an error that names the variable and what it
/// accepts.
#[derive(Copy, Clone)]
pub(crate) struct Given<'a> {
    pub(crate) variable: &'a Variable,
    pub(crate) value: &'a OsStr,
}

impl Given<'_> {
    /// A whole number, in which digits may be separated by `_`.
    pub(crate) fn number<T: FromStr>(self) -> Result<T, SettingError> {
        self.text()?.replace('_', "").parse().map_err(|_| {
            let Variable { name, example, .. } = self.variable;
            self.refuse(&format!("is not a whole number; say for example {name}={example}"))
        })
    }

    /// A whole number, or `random`: a number that is drawn once for the process and printed.
    pub(crate) fn seed(self) -> Result<u64, SettingError> {
        static DRAWN: OnceLock<u64> = OnceLock::new();
        if self.text()? != "random" {
            return self.number();
        }
        Ok(*DRAWN.get_or_init(|| {
            // The standard library seeds its hash maps with random numbers of the system.
            let seed = RandomState::new().hash_one(std::process::id());
            // A test harness may capture the output of `eprintln!`.
            let _ = writeln!(io::stderr(), "raddle: {}={seed}", self.variable.name);
            seed
        }))
    }

    /// Yes or no.
    pub(crate) fn switch(self) -> Result<bool, SettingError> {
        match self.text()? {
            "1" | "true" | "yes" => Ok(true),
            "0" | "false" | "no" => Ok(false),
            _ => Err(self.refuse("is neither yes nor no; say 1 or 0")),
        }
    }

    /// One of a few words.
    pub(crate) fn word<T: Word>(self) -> Result<T, SettingError> {
        T::parse(self.text()?)
            .ok_or_else(|| self.refuse(&format!("is not known; say {}", T::list())))
    }

    /// A time, such as `10s`.
    pub(crate) fn time(self) -> Result<Duration, SettingError> {
        time(self.text()?).ok_or_else(|| self.refuse_time())
    }

    /// A time greater than zero, or `off`, which is `None`.
    pub(crate) fn time_or_off(self) -> Result<Option<Duration>, SettingError> {
        time_or_off(self.text()?).ok_or_else(|| self.refuse_time())
    }

    /// The word of a strategy.
    pub(crate) fn strategy(self) -> Result<Strategy, SettingError> {
        let name = self.variable.name;
        self.text()?.parse().map_err(|error| SettingError::new(format!("{name}: {error}")))
    }

    /// A replay token, which is read when the check begins.
    pub(crate) fn token(self) -> Result<String, SettingError> {
        self.text().map(str::to_owned)
    }

    /// A path.
    pub(crate) fn path(self) -> Result<PathBuf, SettingError> {
        Ok(PathBuf::from(self.value))
    }

    fn text(&self) -> Result<&str, SettingError> {
        let invalid = || SettingError::new(format!("{} is not valid UTF-8", self.variable.name));
        self.value.to_str().ok_or_else(invalid)
    }

    fn refuse_time(self) -> SettingError {
        self.refuse(&format!("is not a time; say {}", self.variable.values))
    }

    fn refuse(self, reason: &str) -> SettingError {
        let value = self.value.to_string_lossy();
        SettingError::new(format!("{}=`{value}` {reason}", self.variable.name))
    }
}

/// Reads a time such as `500ms`, `10s`, `2m` or `1h`. Returns `None` if `text` is not a time.
pub(crate) const fn time(text: &str) -> Option<Duration> {
    let text = text.trim_ascii().as_bytes();
    let (mut number, mut digits) = (0u64, 0);
    while digits < text.len() && text[digits].is_ascii_digit() {
        let digit = (text[digits] - b'0') as u64;
        number = match number.checked_mul(10) {
            Some(tens) => match tens.checked_add(digit) {
                Some(number) => number,
                None => return None,
            },
            None => return None,
        };
        digits += 1;
    }
    if digits == 0 {
        return None;
    }
    let seconds = match text.split_at(digits).1 {
        b"ms" => return Some(Duration::from_millis(number)),
        b"s" => number.checked_mul(1),
        b"m" => number.checked_mul(60),
        b"h" => number.checked_mul(3600),
        _ => None,
    };
    match seconds {
        Some(seconds) => Some(Duration::from_secs(seconds)),
        None => None,
    }
}

/// Reads a time greater than zero, or `off`. Returns `None` if `text` is neither.
pub(crate) const fn time_or_off(text: &str) -> Option<Option<Duration>> {
    if let b"off" = text.as_bytes() {
        return Some(None);
    }
    match time(text) {
        Some(Duration::ZERO) | None => None,
        time => Some(time),
    }
}

/// Finds the value of `word`. Returns `None` if `words` does not contain it.
pub(crate) const fn word<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    let mut index = 0;
    while index < words.len() {
        if equal(words[index].0.as_bytes(), word.as_bytes()) {
            return Some(words[index].1);
        }
        index += 1;
    }
    None
}

/// Compares two texts. `==` cannot be used in a `const fn`.
const fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    true
}
