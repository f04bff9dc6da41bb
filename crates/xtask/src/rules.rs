//! The rules of tidiness. Each is a function of the text of one file.
//!
//! The words that a rule forbids are concatenated from parts here, so that this file follows the rules
//! too.

use crate::violation::Violation;

/// A file and its content.
#[derive(Copy, Clone)]
pub(crate) struct Source<'a> {
    /// The path, relative to the workspace, with `/` as separator.
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
}

/// Applies every rule to a file.
pub(crate) fn check(source: Source<'_>, found: &mut Vec<Violation>) {
    for rule in RULES {
        for (line, message) in rule(source) {
            found.push(Violation { file: source.path.to_string(), line: Some(line), message });
        }
    }
}

/// Returns the lines that break the rule, counted from one, each with what to do.
type Rule = fn(Source<'_>) -> Vec<(usize, String)>;

const RULES: &[Rule] = &[
    unfinished_marks,
    ignored_tests,
    stray_whitespace,
    module_doc,
    length,
    machine_paths,
    catch_all_arms,
];

/// Marks of unfinished work.
const MARKS: &[&str] = &[
    concat!("to", "do!"),
    concat!("unimple", "mented!"),
    concat!("db", "g!"),
    concat!("FIX", "ME"),
    concat!("X", "XX"),
    concat!("HA", "CK"),
];

/// The beginning of an attribute that disables a test.
const IGNORE: &str = concat!("#[", "ignore");

/// The beginnings of paths that exist on one machine only.
const MACHINE_PATHS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")];

/// The maximum number of lines of a Rust file.
const MAX_LINES: usize = 600;

fn unfinished_marks(source: Source<'_>) -> Vec<(usize, String)> {
    if !is_rust(source.path) {
        return Vec::new();
    }
    each_line(source.text, |line| {
        let mark = MARKS.iter().find(|mark| contains_word(line, mark))?;
        Some(format!("`{mark}` must not be committed: finish the work, or open an issue"))
    })
}

fn ignored_tests(source: Source<'_>) -> Vec<(usize, String)> {
    if !is_rust(source.path) {
        return Vec::new();
    }
    each_line(source.text, |line| {
        let line = line.trim_start();
        if line.starts_with("//") {
            return None;
        }
        let plain = line.split(IGNORE).skip(1).any(|rest| !gives_reason(rest));
        let conditional = line.starts_with("#[cfg_attr(") && line.ends_with("ignore)]");
        (plain || conditional).then(|| {
            "a test is ignored without a reason: write `ignore = \"why\"`, or make it run".into()
        })
    })
}

/// Returns whether the text after the word `ignore` is a reason that is not empty.
fn gives_reason(rest: &str) -> bool {
    rest.trim_start()
        .strip_prefix('=')
        .and_then(|rest| rest.trim_start().strip_prefix('"'))
        .is_some_and(|reason| !reason.trim_start().starts_with('"'))
}

fn stray_whitespace(source: Source<'_>) -> Vec<(usize, String)> {
    if ![".rs", ".md", ".toml"].iter().any(|ending| source.path.ends_with(ending)) {
        return Vec::new();
    }
    each_line(source.text, |line| {
        if line.contains('\t') {
            Some("a tab: indent and align with spaces".into())
        } else if line.ends_with(char::is_whitespace) {
            Some("white space at the end of the line: remove it".into())
        } else {
            None
        }
    })
}

fn module_doc(source: Source<'_>) -> Vec<(usize, String)> {
    if !is_crate_source(source.path) || source.text.starts_with("//!") {
        return Vec::new();
    }
    vec![(1, "no module doc: begin with `//!` and say what this is".into())]
}

fn length(source: Source<'_>) -> Vec<(usize, String)> {
    let lines = source.text.lines().count();
    if !is_rust(source.path) || lines <= MAX_LINES {
        return Vec::new();
    }
    let message = format!("{lines} lines, more than {MAX_LINES}: split it, one idea per file");
    vec![(MAX_LINES + 1, message)]
}

fn machine_paths(source: Source<'_>) -> Vec<(usize, String)> {
    if source.path.rsplit('/').next() == Some("Cargo.lock") {
        return Vec::new();
    }
    each_line(source.text, |line| {
        let path = MACHINE_PATHS.iter().find(|path| starts_absolute(line, path))?;
        Some(format!("`{path}` is a path of one machine: make it relative or a parameter"))
    })
}

fn catch_all_arms(source: Source<'_>) -> Vec<(usize, String)> {
    if !matches_on_operations(source.path) {
        return Vec::new();
    }
    each_line(source.text, |line| {
        let line = line.trim_start();
        (!line.starts_with("//") && has_catch_all(line)).then(|| {
            "a catch-all arm in a file that matches on operations: name every variant".into()
        })
    })
}

fn is_rust(path: &str) -> bool {
    path.ends_with(".rs")
}

/// Returns whether this is `crates/*/src/**.rs`.
fn is_crate_source(path: &str) -> bool {
    let mut parts = path.split('/');
    is_rust(path)
        && parts.next() == Some("crates")
        && parts.next().is_some()
        && parts.next() == Some("src")
}

/// Returns whether a new operation must break the build in this file.
fn matches_on_operations(path: &str) -> bool {
    path == "crates/core/src/op.rs"
        || path == "crates/core/src/action.rs"
        || path == "crates/core/src/code.rs"
        || path == "crates/core/src/blocking.rs"
        || path == "crates/core/src/dependence.rs"
        || (path.starts_with("crates/engine/src/object") && is_rust(path))
}

/// Returns the problems of the lines of `text`, with line numbers.
fn each_line(text: &str, problem: impl Fn(&str) -> Option<String>) -> Vec<(usize, String)> {
    // `lines` would hide carriage returns.
    let numbered = text.split('\n').enumerate();
    numbered.filter_map(|(index, line)| Some((index + 1, problem(line)?))).collect()
}

/// Returns whether `line` contains `word`, and not only as a part of longer words.
fn contains_word(line: &str, word: &str) -> bool {
    let in_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(word).any(|(at, _)| {
        let after = &line[at + word.len()..];
        !line[..at].ends_with(in_word) && (word.ends_with('!') || !after.starts_with(in_word))
    })
}

/// Returns whether `line` contains a path that begins with `path`.
fn starts_absolute(line: &str, path: &str) -> bool {
    let in_path = |letter: char| letter.is_alphanumeric() || "_-.~}*".contains(letter);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(in_path))
}

/// Returns whether this line has a catch-all arm of a match, such as `_` or `(_, _)`.
fn has_catch_all(line: &str) -> bool {
    let Some((pattern, _)) = line.split_once("=>") else { return false };
    let only_blanks =
        pattern.contains('_') && pattern.chars().all(|letter| "_(), |.".contains(letter));
    only_blanks || line.contains(" _ =>")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a file at `path` that break `rule`.
    fn broken(rule: Rule, path: &str, text: &str) -> Vec<usize> {
        rule(Source { path, text }).into_iter().map(|(line, _)| line).collect()
    }

    const RUST: &str = "crates/core/src/id.rs";
    const NONE: [usize; 0] = [];

    #[test]
    fn marks_are_found_as_words() {
        for mark in MARKS {
            let text = format!("fn f() {{\n    // {mark}\n    {mark}(1);\n}}\n");
            assert_eq!(broken(unfinished_marks, RUST, &text), [2, 3], "{mark}");
            assert_eq!(broken(unfinished_marks, "tests/a.rs", mark), [1], "{mark}");
            assert_eq!(broken(unfinished_marks, "NOTES.md", mark), NONE, "{mark}");
            let longer = format!("fn not_{mark}(); // A{mark}\n");
            assert_eq!(broken(unfinished_marks, RUST, &longer), NONE, "{mark}");
        }
        assert_eq!(broken(unfinished_marks, RUST, "// to do: HACKNEY carriage"), NONE);
    }

    #[test]
    fn an_ignored_test_has_a_reason() {
        let ignored =
            |rest: &str| broken(ignored_tests, RUST, &format!("#[test]\n{IGNORE}{rest}\n"));
        assert_eq!(ignored("]"), [2]);
        assert_eq!(ignored(" = \"\"]"), [2]);
        assert_eq!(ignored(" = \" \"]"), [2]);
        assert_eq!(ignored(" = \"takes an hour\"]"), NONE);
        assert_eq!(ignored("=\"takes an hour\"]"), NONE);

        let attribute = |text: &str| broken(ignored_tests, RUST, text);
        assert_eq!(attribute("    #[cfg_attr(miri, ignore)]"), [1]);
        assert_eq!(attribute("    #[cfg_attr(miri, ignore = \"slow\")]"), NONE);
        assert_eq!(attribute(&format!("// {IGNORE}] needs a reason")), NONE);
        assert_eq!(attribute("fn ignore() {}"), NONE);
    }

    #[test]
    fn whitespace_is_plain() {
        for path in [RUST, "README.md", "crates/core/Cargo.toml"] {
            assert_eq!(broken(stray_whitespace, path, "a\n\tb\nc\td\n"), [2, 3]);
            assert_eq!(broken(stray_whitespace, path, "a \nb\nc\r\n  \n"), [1, 3, 4]);
            assert_eq!(broken(stray_whitespace, path, "a\n\n    b c\n"), NONE);
        }
        assert_eq!(broken(stray_whitespace, "Makefile", "a:\n\tb \n"), NONE);
    }

    #[test]
    fn a_module_says_what_it_is() {
        assert_eq!(broken(module_doc, RUST, "//! Ids.\n"), NONE);
        assert_eq!(broken(module_doc, RUST, "use a;\n//! Ids.\n"), [1]);
        assert_eq!(broken(module_doc, RUST, ""), [1]);
        assert_eq!(broken(module_doc, "crates/engine/src/objects/mutex.rs", "mod a;\n"), [1]);
        assert_eq!(broken(module_doc, "crates/core/tests/a.rs", "mod a;\n"), NONE);
        assert_eq!(broken(module_doc, "crates/core/src/words.txt", "a\n"), NONE);
    }

    #[test]
    fn a_file_is_not_too_long() {
        let lines = |count: usize| "a\n".repeat(count);
        assert_eq!(broken(length, RUST, &lines(MAX_LINES)), NONE);
        assert_eq!(broken(length, "tests/a.rs", &lines(MAX_LINES + 1)), [MAX_LINES + 1]);
        assert_eq!(broken(length, "README.md", &lines(MAX_LINES + 1)), NONE);
    }

    #[test]
    fn no_path_names_a_machine() {
        for path in MACHINE_PATHS {
            let in_file = |file: &str, text: String| broken(machine_paths, file, &text);
            assert_eq!(in_file("README.md", format!("a\ncd {path}raddle\n")), [2], "{path}");
            assert_eq!(in_file(".ci/run", path.to_string()), [1], "{path}");
            assert_eq!(in_file(RUST, format!("\"file://{path}a\"")), [1], "{path}");
            assert_eq!(in_file("a.json", format!("{{\"a\":\"{path}b\"}}")), [1], "{path}");
            assert_eq!(in_file("outside/a/Cargo.lock", format!("{path}a")), NONE, "{path}");
            assert_eq!(in_file("README.md", format!("target{path}a, ..{path}b")), NONE, "{path}");
        }
    }

    #[test]
    fn operations_are_matched_by_name() {
        let arms = "match op {\n    Op::A(_) => 1,\n    _ => 2,\n}\n";
        for path in [
            "crates/core/src/op.rs",
            "crates/core/src/dependence.rs",
            "crates/engine/src/object.rs",
            "crates/engine/src/objects.rs",
            "crates/engine/src/objects/mutex.rs",
        ] {
            assert_eq!(broken(catch_all_arms, path, arms), [3], "{path}");
        }
        for path in [RUST, "crates/core/src/token.rs", "crates/engine/src/engine.rs"] {
            assert_eq!(broken(catch_all_arms, path, arms), NONE, "{path}");
        }
        let arm = |text: &str| broken(catch_all_arms, "crates/core/src/op.rs", text);
        assert_eq!(arm("    (_, _) => 1,"), [1]);
        assert_eq!(arm("    match a { A => 1, _ => 2 }"), [1]);
        assert_eq!(arm("    A | _ => 1,"), [1]);
        assert_eq!(arm("    (A, _) => 1,"), NONE);
        assert_eq!(arm("    A(_) | B { .. } => 1,"), NONE);
        assert_eq!(arm("    unused_ => 1,"), NONE);
        assert_eq!(arm("    // never `_ => x`"), NONE);
        assert_eq!(arm("    let _ = f(|_| 1);"), NONE);
    }

    #[test]
    fn every_rule_is_applied() {
        let mark = MARKS[0];
        let text = format!("{mark}(); \n{IGNORE}]\n{}\n_ => 1\n", MACHINE_PATHS[0]);
        let text = text + &"\n".repeat(MAX_LINES);
        let mut found = Vec::new();
        check(Source { path: "crates/core/src/op.rs", text: &text }, &mut found);
        assert_eq!(found.len(), RULES.len());
        assert!(found[0].to_string().starts_with("crates/core/src/op.rs:1: "));
    }
}
