//! The output of checks: reports in a folder, long tokens in files, colours, and the results of an interrupted check. Each
//! test runs one of the victims in another process.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::{Config, thread};

fn two_threads() -> usize {
    let counter = AtomicUsize::new(0);
    let add = || counter.store(counter.load(SeqCst) + 1, SeqCst);
    thread::scope(|scope| {
        scope.spawn(add);
        add();
    });
    counter.load(SeqCst)
}

/// Switches between two threads often enough that the token is long.
fn long_and_failing() {
    let turn = AtomicUsize::new(0);
    let go = |me: usize| {
        while turn.load(SeqCst) < 4000 {
            if turn.load(SeqCst) % 2 == me {
                turn.fetch_add(1, SeqCst);
            }
            thread::yield_now();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| go(1));
        go(0);
    });
    panic!("always");
}

#[raddle::test]
#[ignore = "a victim, run by other tests"]
fn fails() {
    assert_eq!(two_threads(), 2, "an update got lost");
}

#[raddle::test(strategy = "dpor")]
#[ignore = "a victim, run by other tests"]
fn passes() {
    two_threads();
}

#[raddle::test]
#[ignore = "a victim, run by other tests"]
#[should_panic = "test `files::fails_as_expected` FAILED — assertion `left == right` failed: an update got lost"]
fn fails_as_expected() {
    assert_eq!(two_threads(), 2, "an update got lost");
}

#[test]
#[ignore = "a victim, run by other tests"]
fn checks_twice() {
    raddle::check(|| assert!(two_threads() > 0));
    raddle::check(|| assert!(two_threads() > 0));
}

#[raddle::test]
#[ignore = "a victim, run by other tests"]
fn fails_late() {
    long_and_failing();
}

#[test]
#[ignore = "a victim, run by other tests"]
fn runs_for_long() {
    // The harness captures the output of `println!`.
    std::io::stderr().write_all(b"begins\n").unwrap();
    let config = Config::new()
        .name("long")
        .strategy("random")
        .runs(u64::MAX)
        .time(std::time::Duration::from_secs(60));
    config.check(|| assert!(two_threads() > 0));
}

#[test]
#[ignore = "takes two seconds; run by other tests"]
fn searches_for_two_seconds() {
    let config = Config::new().strategy("dpor").runs(u64::MAX);
    config.time(std::time::Duration::from_secs(2)).check(|| {
        let counter = Arc::new(AtomicUsize::new(0));
        for _ in 0..6 {
            let counter = counter.clone();
            thread::spawn(move || {
                for _ in 0..6 {
                    counter.fetch_add(1, SeqCst);
                }
            });
        }
    });
}

fn victim(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = format!("files::{name}");
    command.args(["--exact", &name, "--include-ignored", "--nocapture", "--test-threads=1"]);
    for name in ["RADDLE_REPORT", "RADDLE_COLOR", "RADDLE_PROGRESS", "NO_COLOR", "RADDLE_REPLAY"] {
        command.env_remove(name);
    }
    command.env_remove("RUST_BACKTRACE");
    command
}

/// Returns whether the victim succeeded, and its output.
fn outcome(command: &mut Command) -> (bool, String) {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// Returns an empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_folder_for_reports() {
    let folder = folder("reports").join("inner");
    let (content, text) = outcome(victim("fails").env("RADDLE_REPORT", &folder));
    assert!(
        !content
            && text.contains(&format!("report: {}", folder.join("files.fails.html").display()))
    );
    let (content, text) = outcome(victim("passes").env("RADDLE_REPORT", &folder));
    assert!(content && text.contains("files.passes.html"), "{text}");
    let (content, text) = outcome(victim("checks_twice").env("RADDLE_REPORT", &folder));
    assert!(content, "{text}");
    let expected = ["fails.html", "fails.json", "passes.html", "passes.json"]
        .map(|name| format!("files.{name}"));
    let found = files(&folder);
    assert!(expected.iter().all(|name| found.iter().any(|file| file == name)), "{found:?}");
    assert_eq!(found.len(), 10, "two files for each of four checks, and the index: {found:?}");
    let index = fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(index.contains("1 FAILED") && index.contains("4 checks"), "{index}");
    for (name, result) in [("fails", "an update got lost"), ("passes", "exhaustive")] {
        let row = index.lines().find(|line| line.contains(&format!("files.{name}.html")));
        assert!(row.expect(name).contains(result), "{index}");
    }
    // A second run of a test replaces its entry.
    let before = fs::read_to_string(folder.join("index.json")).unwrap();
    outcome(victim("passes").env("RADDLE_REPORT", &folder));
    let after = fs::read_to_string(folder.join("index.json")).unwrap();
    assert_eq!(before.matches("\"page\"").count(), after.matches("\"page\"").count());
    let page = fs::read_to_string(folder.join("files.fails.html")).unwrap();
    assert!(page.contains("an update got lost"));
    // The page contains the source.
    assert!(page.contains("let add = || counter.store(counter.load(SeqCst) + 1, SeqCst);"));
    let json = fs::read_to_string(folder.join("files.passes.json")).unwrap();
    assert!(json.contains(r#""verdict": {"kind": "exhausted"}"#), "{json}");
}

#[test]
fn a_folder_that_cannot_be_created() {
    let file = folder("in-the-way");
    fs::write(&file, "a file").unwrap();
    let (content, text) = outcome(victim("passes").env("RADDLE_REPORT", &file));
    assert!(!content && text.contains("cannot be used as the folder for reports"), "{text}");
}

#[test]
fn colours_are_for_terminals() {
    let (_, text) = outcome(&mut victim("fails"));
    assert!(!text.contains('\x1b'), "{text}");
    let (_, text) = outcome(victim("fails").env("RADDLE_COLOR", "always"));
    assert!(text.contains("\x1b[1;31mFAILED\x1b[0m"), "{text}");
    assert_eq!(text.matches("raddle: test `files::fails`").count(), 1, "{text}");
    let (content, text) = outcome(victim("passes").env("RADDLE_COLOR", "always"));
    assert!(content && text.contains("\x1b[1;32mok\x1b[0m"), "{text}");
    // The message of a panic has no colours, because tests compare it.
    let (content, text) = outcome(victim("fails_as_expected").env("RADDLE_COLOR", "always"));
    assert!(content, "{text}");
    let (content, text) = outcome(victim("passes").env("RADDLE_COLOR", "blue"));
    assert!(!content && text.contains("RADDLE_COLOR=`blue` is not known"), "{text}");
}

#[test]
fn a_search_shows_progress() {
    for threads in ["1", "2"] {
        let mut victim = victim("searches_for_two_seconds");
        let victim = victim.env("RADDLE_THREADS", threads);
        let (content, text) = outcome(victim.env("RADDLE_PROGRESS", "always"));
        let line =
            text.lines().find(|line| line.starts_with("raddle: files::searches_for_two_seconds: "));
        let line = line.unwrap_or_else(|| panic!("{text}"));
        assert!(content && line.contains("/s), ") && line.contains(" classes, "), "{line}");
        // On several OS threads the share is known only after one of them has finished a part.
        assert!(threads != "1" || line.contains(" % of about "), "{line}");
    }
    // By default tests print no progress.
    let (content, text) = outcome(&mut victim("searches_for_two_seconds"));
    assert!(content && !text.contains("/s), "), "{text}");
}

#[test]
fn a_long_token_is_in_a_file() {
    let report = Config::new().name("long token").run(long_and_failing);
    let token = report.failure().unwrap().token.clone();
    let path = token.strip_prefix('@').unwrap_or_else(|| panic!("{} letters", token.len()));
    assert!(fs::read_to_string(path).unwrap().starts_with("r1-"));
    let again = Config::new().name("long token").replay(&token).run(long_and_failing);
    let failure = again.failure().unwrap();
    assert_eq!(failure.finding, report.failure().unwrap().finding);
    assert_eq!(failure.token, token);
    fs::remove_file(path).unwrap();
    let error = Config::new().name("long token").replay(&token).try_run(long_and_failing);
    let text = error.unwrap_err().to_string();
    assert!(text.contains("cannot be read"), "{text}");
}

#[test]
fn a_long_token_is_in_the_folder_for_reports() {
    let folder = folder("tokens");
    let (_, text) = outcome(victim("fails_late").env("RADDLE_REPORT", &folder));
    let line = text.lines().find(|line| line.contains("replay:")).expect(&text);
    let word = line.trim().strip_prefix("replay: RADDLE_REPLAY=").expect(line);
    let (token, rest) = word.split_once(" cargo test ").expect(word);
    assert!(token.starts_with('@') && rest.ends_with("--exact files::fails_late"), "{line}");
    let (content, text) = outcome(victim("fails_late").env("RADDLE_REPLAY", token));
    assert!(!content && text.contains("replayed from its token"), "{text}");
}

/// The process receives SIGINT during a check.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_check_reports_partial_results() {
    use std::os::unix::process::ExitStatusExt;

    // The report is printed although the harness captures the output of tests.
    // A process that a shell started in the background ignores SIGINT, and so would its child.
    let mut child = Command::new("env")
        .arg("--default-signal=INT")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "files::runs_for_long", "--include-ignored"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let status = child.wait().unwrap();
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert_eq!(status.signal(), Some(2), "{status}: {rest}");
    assert!(
        rest.contains("raddle: interrupted; so far:\nraddle: test `long` ok — sampled: "),
        "{rest}"
    );
}

#[test]
fn control_characters_are_visible() {
    let evil = "evil\u{1b}]0;title\u{7}\u{9b}2J";
    let config = raddle::Config::new().name(evil);
    let report = config.run(move || panic!("{evil}\u{1b}[2Jcleared\r"));
    let is_control = |letter: char| letter != '\n' && letter.is_control();
    for text in [raddle::text(&report), report.to_html(), report.to_json()] {
        assert!(!text.contains(is_control), "{text:?}");
        assert!(text.contains("title"), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_is_replaced_and_not_followed() {
    let folder = folder("links");
    fs::create_dir_all(&folder).unwrap();
    let (other, link) = (folder.join("other"), folder.join("files.passes.json"));
    fs::write(&other, "precious").unwrap();
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(&other, &link).unwrap();
    let (content, text) = outcome(victim("passes").env("RADDLE_REPORT", &folder));
    assert!(content, "{text}");
    assert_eq!(fs::read_to_string(&other).unwrap(), "precious");
    assert!(fs::read_to_string(&link).unwrap().starts_with('{'));
    let mut files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name());
    assert!(!files.any(|name| name.to_string_lossy().ends_with(".new")), "parts are left");
}

/// Runs the failing victim where no file can be longer than 2 KiB. If it may not ignore that, it is killed in the middle of
/// a write.
#[cfg(unix)]
fn fails_with_short_files(folder: &Path, ignores: bool) -> (std::process::ExitStatus, String) {
    let victim = victim("fails");
    let prepare = if ignores { "trap '' XFSZ; " } else { "" };
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{prepare}ulimit -c 0; ulimit -f 4; exec \"$0\" \"$@\"")]);
    shell.arg(victim.get_program()).args(victim.get_args());
    for (name, value) in victim.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let output = shell.env("RADDLE_REPORT", folder).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status, String::from_utf8(text).unwrap())
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_old_reports_as_they_were() {
    let folder = folder("full");
    fs::create_dir_all(&folder).unwrap();
    let old = folder.join("files.fails.json");
    fs::write(&old, "old").unwrap();
    let (status, text) = fails_with_short_files(&folder, true);
    // The failure is reported all the same, and which file could not be written.
    assert_eq!(status.code(), Some(101), "{text}");
    assert!(text.contains("an update got lost") && text.contains("replay: "), "{text}");
    assert!(text.contains("files.fails.json: File too large"), "{text}");
    assert_eq!(files(&folder), ["files.fails.json"], "{text}");
    assert_eq!(fs::read_to_string(&old).unwrap(), "old");
}

#[cfg(unix)]
#[test]
fn a_check_that_is_killed_while_it_writes_leaves_old_reports_as_they_were() {
    let folder = folder("killed");
    fs::create_dir_all(&folder).unwrap();
    let old = folder.join("files.fails.json");
    fs::write(&old, "old").unwrap();
    let (status, text) = fails_with_short_files(&folder, false);
    assert_eq!(status.code(), None, "it was not killed: {text}");
    assert_eq!(fs::read_to_string(&old).unwrap(), "old");
    assert_eq!(files(&folder).len(), 2, "the old report and a part of the new one");
    // The next check replaces it.
    let (_, text) = outcome(victim("fails").env("RADDLE_REPORT", &folder));
    assert!(fs::read_to_string(&old).unwrap().ends_with("}\n"), "{text}");
}

#[test]
fn a_file_that_is_too_large_for_a_token_is_refused() {
    let folder = folder("large");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("token");
    fs::File::create(&file).unwrap().set_len(65 << 20).unwrap();
    let error = raddle::Config::new().replay(format!("@{}", file.display())).try_run(|| {});
    let text = error.unwrap_err().to_string();
    assert!(text.contains("more than"), "{text}");
}
