//! Where a check comes from: the command that runs it again.

use std::ffi::OsStr;
use std::path::Path;

use crate::environment::Environment;

/// What `#[raddle::test]` knows of the crate that it expands in.
#[derive(Copy, Clone, Debug)]
pub struct Origin {
    /// The package.
    pub package: Option<&'static str>,
    /// The folder of the package.
    pub folder: Option<&'static str>,
    /// The name of the crate.
    pub krate: &'static str,
    /// The name of the binary, if the crate is one.
    pub binary: Option<&'static str>,
    /// Whether the crate is an integration test or a benchmark.
    pub is_integration_test: bool,
    /// The flags of the compiler.
    pub flags: Option<&'static str>,
}

/// Returns the [`Origin`](crate::__test::Origin) of the crate in which it is expanded.
#[doc(hidden)]
#[macro_export]
macro_rules! __origin {
    () => {
        $crate::__test::Origin {
            package: ::core::option_env!("CARGO_PKG_NAME"),
            folder: ::core::option_env!("CARGO_MANIFEST_DIR"),
            krate: ::core::module_path!(),
            binary: ::core::option_env!("CARGO_BIN_NAME"),
            is_integration_test: ::core::option_env!("CARGO_TARGET_TMPDIR").is_some(),
            flags: ::core::option_env!("RUSTFLAGS"),
        }
    };
}

/// Variables of the environment that change what an execution is. A replay needs the same.
const OF_EXECUTIONS: [&str; 5] =
    ["RADDLE_MEMORY", "RADDLE_GRANULARITY", "RADDLE_PANICS", "RADDLE_SPURIOUS", "RADDLE_LEAKS"];

impl Origin {
    /// Returns the command that runs the test `name` again, to be pasted into a shell. Returns `None` if the test
    /// was not built by Cargo.
    pub(crate) fn command(&self, name: &str) -> Option<String> {
        let mut words = Vec::new();
        if let Some(flags) = self.flags.filter(|flags| !flags.is_empty()) {
            words.push(format!("RUSTFLAGS={}", quoted(flags)));
        }
        if let Ok(environment) = Environment::get() {
            let values = environment.values().filter(|(name, _)| OF_EXECUTIONS.contains(name));
            let value = |value: &OsStr| quoted(&value.to_string_lossy());
            words.extend(values.map(|(name, set)| format!("{name}={}", value(set))));
        }
        words.push(format!("cargo test -p {}", quoted(self.package?)));
        words.push(self.target());
        let is_ignored = |word: String| word == "--ignored" || word == "--include-ignored";
        let ignored = if std::env::args().any(is_ignored) { "--include-ignored " } else { "" };
        words.push(format!("-- {ignored}--exact {}", quoted(name)));
        Some(words.join(" "))
    }

    /// Returns the option that selects the target of the test.
    fn target(&self) -> String {
        let krate = self.krate.split("::").next().unwrap_or(self.krate);
        match self.binary {
            Some(binary) => format!("--bin {}", quoted(binary)),
            None if !self.is_integration_test => "--lib".to_owned(),
            None => {
                let tests = self.folder.map(|folder| Path::new(folder).join("tests"));
                let is_there =
                    |file: String| tests.as_ref().is_some_and(|tests| tests.join(file).exists());
                if is_there(format!("{krate}.rs")) || is_there(format!("{krate}/main.rs")) {
                    format!("--test {krate}")
                } else {
                    // Cargo turns hyphens of a target into underscores of its crate.
                    format!("--test {}", quoted(&krate.replace('_', "?")))
                }
            }
        }
    }
}

/// Returns a word of a shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.@/:,=".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: Origin = Origin {
        package: Some("queue"),
        folder: None,
        krate: "queue::tests",
        binary: None,
        is_integration_test: false,
        flags: None,
    };

    #[test]
    fn commands() {
        for (origin, expected) in [
            (ORIGIN, "cargo test -p queue --lib -- --exact a::b"),
            (
                Origin { flags: Some("--cfg raddle"), ..ORIGIN },
                "RUSTFLAGS='--cfg raddle' cargo test -p queue --lib -- --exact a::b",
            ),
            (
                Origin { binary: Some("queue-tool"), ..ORIGIN },
                "cargo test -p queue --bin queue-tool -- --exact a::b",
            ),
            (
                Origin { is_integration_test: true, krate: "long_name::inner", ..ORIGIN },
                "cargo test -p queue --test 'long?name' -- --exact a::b",
            ),
            (
                Origin {
                    is_integration_test: true,
                    krate: "all",
                    folder: Some(env!("CARGO_MANIFEST_DIR")),
                    ..ORIGIN
                },
                "cargo test -p queue --test all -- --exact a::b",
            ),
        ] {
            assert_eq!(origin.command("a::b").as_deref(), Some(expected));
        }
        assert_eq!(Origin { package: None, ..ORIGIN }.command("a"), None);
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
