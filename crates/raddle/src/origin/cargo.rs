//! How Cargo was told to build this program: what has to be said again to build the same.

use std::path::Path;

use super::quoted;

/// Options of `cargo test` that change what is built, and whether a value follows.
const OPTIONS: [(&str, Option<&str>, bool); 11] = [
    ("--release", Some("-r"), false),
    ("--profile", None, true),
    ("--features", Some("-F"), true),
    ("--all-features", None, false),
    ("--no-default-features", None, false),
    ("--target", None, true),
    ("--target-dir", None, true),
    ("--manifest-path", None, true),
    ("--config", None, true),
    ("--lockfile-path", None, true),
    ("-Z", None, true),
];

/// Returns the options of Cargo with which this program was built, each with a space after it: those that the calling
/// `cargo test` was given, or the profile, which the folder of the program shows.
pub(super) fn options() -> String {
    let of_parent = parent_words().and_then(|words| of_words(&words));
    let options = of_parent.or_else(|| of_program(&std::env::current_exe().ok()?));
    options.unwrap_or_default().iter().map(|word| quoted(word) + " ").collect()
}

/// Returns the command line of the process that started this one.
#[cfg(target_os = "linux")]
fn parent_words() -> Option<Vec<String>> {
    let parent = std::os::unix::process::parent_id();
    let line = std::fs::read(format!("/proc/{parent}/cmdline")).ok()?;
    let words = line.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into());
    Some(words.collect())
}

#[cfg(not(target_os = "linux"))]
fn parent_words() -> Option<Vec<String>> {
    None
}

/// Returns the options among the words of a command line. Returns `None` if it is not one of `cargo test`.
fn of_words(words: &[String]) -> Option<Vec<String>> {
    let (program, words) = words.split_first()?;
    let is_test = |word: &String| word == "test" || word == "t";
    if Path::new(program).file_stem()? != "cargo" || !words.iter().any(is_test) {
        return None;
    }
    let mut options = Vec::new();
    let mut words = words.iter().take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let is_of = |name: &str| {
            let rest = word.strip_prefix(name)?;
            // `--features=a`, and `-Fa`.
            let is_joined = rest.starts_with('=') || (!name.starts_with("--") && !rest.is_empty());
            (rest.is_empty() || is_joined).then_some(is_joined)
        };
        let found = OPTIONS.iter().find_map(|&(long, short, has_value)| {
            let is_joined = is_of(long).or_else(|| is_of(short?))?;
            (has_value || !is_joined).then_some(has_value && !is_joined)
        });
        if let Some(is_value_next) = found {
            options.push(word.clone());
            options.extend(if is_value_next { words.next().cloned() } else { None });
        }
    }
    Some(options)
}

/// Returns the option for the profile of `target/PROFILE/deps/program`.
fn of_program(program: &Path) -> Option<Vec<String>> {
    let deps = program.parent().filter(|folder| folder.ends_with("deps"))?;
    let profile = deps.parent()?.file_name()?.to_str()?;
    Some(match profile {
        "debug" => Vec::new(),
        "release" => vec!["--release".to_owned()],
        profile => vec!["--profile".to_owned(), profile.to_owned()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_that_change_what_is_built_are_kept() {
        for (line, expected) in [
            ("/bin/cargo test", Some("")),
            ("cargo test -p queue --lib name", Some("")),
            ("cargo t -r -Fa,b --test loom -- --release", Some("-r -Fa,b")),
            (
                "cargo --config net.offline=true test --features loom --release name",
                Some("--config net.offline=true --features loom --release"),
            ),
            ("cargo test --target-dir=/t --profile=ci -q", Some("--target-dir=/t --profile=ci")),
            ("cargo test --releases --target", Some("--target")),
            ("cargo build --release", None),
            ("/bin/cargo-nextest nextest run test", None),
            ("bash -c test", None),
        ] {
            let found = of_words(&words(line)).map(|options| options.join(" "));
            assert_eq!(found.as_deref(), expected, "{line}");
        }
        assert_eq!(of_words(&[]), None);
    }

    #[test]
    fn the_folder_shows_the_profile() {
        for (program, expected) in [
            ("/t/debug/deps/queue-1", Some("")),
            ("/t/release/deps/queue-1", Some("--release")),
            ("/t/x86_64-unknown-linux-gnu/ci/deps/queue-1", Some("--profile ci")),
            ("/usr/bin/queue", None),
        ] {
            let found = of_program(Path::new(program)).map(|options| options.join(" "));
            assert_eq!(found.as_deref(), expected, "{program}");
        }
    }
}
