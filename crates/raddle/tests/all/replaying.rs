//! The replay line works when pasted, and failing executions are tried first next time.

use std::path::Path;
use std::process::{Command, Output};

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::thread;

/// Set in child processes in which the tests below have their bug.
const BUG: &str = "RADDLE_TEST_BUG";

fn loses_updates(is_bugged: bool) {
    let count = Arc::new(AtomicUsize::new(0));
    let other = {
        let count = count.clone();
        thread::spawn(move || {
            let seen = count.load(SeqCst);
            count.store(seen + 1, SeqCst);
        })
    };
    let seen = count.load(SeqCst);
    count.store(seen + 1, SeqCst);
    other.join().unwrap();
    assert!(!is_bugged || count.load(SeqCst) == 2, "an update got lost");
}

/// Run by `the_replay_line_can_be_pasted` in another process.
#[raddle::test(remember = false)]
fn pasted() {
    loses_updates(std::env::var_os(BUG).is_some());
}

/// Run by `failing_executions_are_tried_first` in another process.
#[raddle::test]
fn remembered() {
    loses_updates(std::env::var_os(BUG).is_some());
}

/// Runs this program with arguments and variables.
fn child(arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments).env_remove("RADDLE_REPLAY").env("RUST_BACKTRACE", "0");
    command.envs(variables.iter().copied()).output().unwrap()
}

fn printed(output: &Output) -> String {
    let all =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    all.concat()
}

/// Run by `checks_without_the_attribute_have_a_command` in another process.
#[test]
fn pasted_without_the_attribute() {
    raddle::check(|| loses_updates(std::env::var_os(BUG).is_some()));
}

/// Run by `a_crash_has_a_command` in another process.
#[raddle::test(remember = false)]
fn crashes() {
    if std::env::var_os(BUG).is_some() {
        std::process::abort();
    }
}

/// Returns whether a command runs this test of this program. Options of Cargo may come before the package.
fn is_command_of(command: &str, test: &str) -> bool {
    command.starts_with("cargo test ")
        && command.ends_with(&format!("-p raddle --test all -- --exact {test}"))
}

/// Returns the command of the replay line in what a child process printed.
fn command(output: &Output) -> String {
    let text = printed(output);
    let line = text.lines().find_map(|line| line.trim().strip_prefix("replay: RADDLE_REPLAY="));
    let line = line.unwrap_or_else(|| panic!("no line in {text}"));
    let at = line.find("cargo test").unwrap_or_else(|| panic!("no command in {line}"));
    line[at..].to_owned()
}

/// The package and its folder come from the variables that Cargo sets for test programs.
#[test]
fn checks_without_the_attribute_have_a_command() {
    let test = "replaying::pasted_without_the_attribute";
    let variables = [
        (BUG, "1"),
        ("CARGO_PKG_NAME", env!("CARGO_PKG_NAME")),
        ("CARGO_MANIFEST_DIR", env!("CARGO_MANIFEST_DIR")),
    ];
    let command = command(&child(&["--exact", test], &variables));
    assert!(is_command_of(&command, test), "{command}");
}

#[test]
fn a_crash_has_a_command() {
    let test = "replaying::crashes";
    let command = command(&child(&["--exact", test], &[(BUG, "1")]));
    assert!(is_command_of(&command, test), "{command}");
}

#[test]
fn the_replay_line_can_be_pasted() {
    let output = child(&["--exact", "replaying::pasted"], &[(BUG, "1"), ("RADDLE_MEMORY", "rc11")]);
    let text = printed(&output);
    let line = text.lines().find_map(|line| line.trim().strip_prefix("replay: ")).expect("a line");
    let mut words = line.split_whitespace().collect::<Vec<_>>();
    let variables = words.iter().take_while(|word| word.contains('=')).count();
    let variables: Vec<_> =
        words.drain(..variables).filter_map(|word| word.split_once('=')).collect();
    assert!(is_command_of(&words.join(" "), "replaying::pasted"), "{line}");
    assert!(variables.contains(&("RADDLE_MEMORY", "rc11")), "{line}");
    // Cargo would run the same program with the words after `--`.
    let mut again = variables.clone();
    again.push((BUG, "1"));
    let output = child(&["--exact", "replaying::pasted"], &again);
    let text = printed(&output);
    assert!(!output.status.success() && text.contains("replayed from its token"), "{text}");
}

#[test]
fn failing_executions_are_tried_first() {
    let test = ["--exact", "replaying::remembered"];
    let program = std::env::current_exe().unwrap();
    let target = program.ancestors().nth(3).unwrap();
    let file = target.join("raddle/all/replaying.remembered.tokens");
    let _ = std::fs::remove_file(&file);
    // A file that is no list of tokens does no harm.
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "r1-nonsense\n\u{0}\n").unwrap();
    let first = child(&test, &[(BUG, "1")]);
    assert!(!first.status.success() && printed(&first).contains("found by"), "{}", printed(&first));
    let tokens = |file: &Path| std::fs::read_to_string(file).unwrap_or_default();
    assert_eq!(tokens(&file).lines().count(), 1);
    let second = child(&test, &[(BUG, "1"), ("RADDLE_STRATEGY", "round-robin")]);
    let text = printed(&second);
    assert!(!second.status.success() && text.contains("failed before, and fails again"), "{text}");
    let off = child(&test, &[(BUG, "1"), ("RADDLE_REMEMBER", "0")]);
    assert!(printed(&off).contains("found by"), "{}", printed(&off));
    // The bug is gone.
    assert!(child(&test, &[]).status.success());
    assert!(!file.exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_replay_without_a_check_fails() {
    let token = [("RADDLE_REPLAY", "r1-_THsJwAAAgQDAAJjO4zb")];
    let output = child(&["--exact", "replaying::no_such_test"], &token);
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(101), "{text}");
    assert!(text.contains("no check replayed it"), "{text}");
    assert!(child(&["--list"], &token).status.success());
    // A check of another name has an error of its own.
    let output = child(&["--exact", "replaying::pasted"], &token);
    let text = printed(&output);
    assert!(!output.status.success() && text.contains("not made by the check"), "{text}");
    assert!(!text.contains("no check replayed it"), "{text}");
}

/// Run by `all_checks_share_a_time` in another process.
#[test]
#[ignore = "takes long; run by `all_checks_share_a_time`"]
fn twenty_long_checks() {
    for _ in 0..20 {
        let config = raddle::Config::new().strategy("random").runs(u64::MAX);
        config.time(std::time::Duration::from_secs(60)).run(|| loses_updates(false));
    }
}

#[test]
fn all_checks_share_a_time() {
    let begin = std::time::Instant::now();
    let test = ["--exact", "--ignored", "replaying::twenty_long_checks"];
    let output = child(&test, &[("RADDLE_TOTAL_TIME", "1s"), ("RADDLE_SEED", "random")]);
    let text = printed(&output);
    assert!(output.status.success() && begin.elapsed().as_secs() < 20, "{text}");
    assert!(text.contains("raddle: RADDLE_SEED="), "{text}");
}
