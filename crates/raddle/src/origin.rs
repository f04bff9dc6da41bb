//! Where a check comes from: the command that runs it again.

mod cargo;

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
        Some(command(self.package?, &self.target(), self.flags, name))
    }

    /// Returns the option that selects the target of the test.
    fn target(&self) -> String {
        let krate = self.krate.split("::").next().unwrap_or(self.krate);
        match self.binary {
            Some(binary) => format!("--bin {}", quoted(binary)),
            None if !self.is_integration_test => "--lib".to_owned(),
            // Cargo turns hyphens of a target into underscores of its crate.
            None if !self.folder.is_some_and(|folder| is_test_file(Path::new(folder), krate)) => {
                format!("--test {}", quoted(&krate.replace('_', "?")))
            }
            None => format!("--test {krate}"),
        }
    }
}

/// Returns the command that runs the test `name` of this process again, which calls raddle in the source file `caller`.
/// Returns `None` if the process is no test program that Cargo has started.
pub(crate) fn command_of_process(name: &str, caller: &str) -> Option<String> {
    let variable = |name| std::env::var(name).ok();
    let program = std::env::current_exe().ok()?;
    program.parent().filter(|folder| folder.ends_with("deps"))?;
    let krate = program.file_stem()?.to_str()?.rsplit_once('-')?.0;
    let folder = variable("CARGO_MANIFEST_DIR")?;
    let package = variable("CARGO_PKG_NAME")?;
    let target = target_of(Path::new(&folder), &package, krate, caller)?;
    // raddle is built with the same flags.
    Some(command(&package, &target, option_env!("RUSTFLAGS"), name))
}

/// Returns the option that selects the target `krate` of a package in `folder`. Returns `None` if it is not found.
fn target_of(folder: &Path, package: &str, krate: &str, caller: &str) -> Option<String> {
    let is_named_as_package = package.replace('-', "_") == krate;
    let is_unit_test = Path::new(caller).components().any(|part| part.as_os_str() == "src");
    if is_test_file(folder, krate) && !(is_named_as_package && is_unit_test) {
        return Some(format!("--test {krate}"));
    }
    let is_main = caller.ends_with("src/main.rs") || !folder.join("src/lib.rs").exists();
    if is_binary(folder, krate) || (is_named_as_package && is_main) {
        // Cargo turns hyphens of a target into underscores of its crate.
        return Some(format!("--bin {}", quoted(&krate.replace('_', "?"))));
    }
    is_unit_test.then(|| "--lib".to_owned())
}

/// Returns whether Cargo finds the integration test `krate` in a package.
fn is_test_file(folder: &Path, krate: &str) -> bool {
    let tests = folder.join("tests");
    tests.join(format!("{krate}.rs")).exists() || tests.join(krate).join("main.rs").exists()
}

/// Returns whether Cargo finds the binary `krate` in `src/bin` of a package.
fn is_binary(folder: &Path, krate: &str) -> bool {
    let binaries = folder.join("src/bin");
    binaries.join(format!("{krate}.rs")).exists() || binaries.join(krate).join("main.rs").exists()
}

/// Returns the command for a test of a package. `target` is the option that selects the target.
fn command(package: &str, target: &str, flags: Option<&str>, name: &str) -> String {
    let mut words = Vec::new();
    if let Some(flags) = flags.filter(|flags| !flags.is_empty()) {
        words.push(format!("RUSTFLAGS={}", quoted(flags)));
    }
    if let Ok(environment) = Environment::get() {
        let values = environment.values().filter(|(name, _)| OF_EXECUTIONS.contains(name));
        let value = |value: &OsStr| quoted(&value.to_string_lossy());
        words.extend(values.map(|(name, set)| format!("{name}={}", value(set))));
    }
    words.push(format!("cargo test {}-p {}", cargo::options(), quoted(package)));
    words.push(target.to_owned());
    let is_ignored = |word: String| word == "--ignored" || word == "--include-ignored";
    let ignored = if std::env::args().any(is_ignored) { "--include-ignored " } else { "" };
    words.push(format!("-- {ignored}--exact {}", quoted(name)));
    words.join(" ")
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
            // With the options of the command that runs this test.
            let expected =
                expected.replace("cargo test ", &format!("cargo test {}", cargo::options()));
            assert_eq!(origin.command("a::b"), Some(expected));
        }
        assert_eq!(Origin { package: None, ..ORIGIN }.command("a"), None);
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    #[test]
    fn targets_of_a_process() {
        let this = Path::new(env!("CARGO_MANIFEST_DIR"));
        let none = this.join("docs");
        for (folder, krate, caller, expected) in [
            (this, "all", "crates/raddle/tests/all/main.rs", Some("--test all")),
            (this, "raddle", "crates/raddle/src/lib.rs", Some("--lib")),
            (this, "raddle", "src/main.rs", Some("--bin raddle")),
            // A function of the library that an integration test calls.
            (this, "alloc", "crates/raddle/src/alloc.rs", Some("--test alloc")),
            (this, "somewhere_else", "/else/where.rs", None),
            (&none, "raddle", "src/main.rs", Some("--bin raddle")),
        ] {
            let found = target_of(folder, "raddle", krate, caller);
            assert_eq!(found.as_deref(), expected, "{krate}, {caller}");
        }
    }
}
