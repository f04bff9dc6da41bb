//! What the command does besides finding failures: files, standard input, expected output, several processes, progress,
//! a debugger.

use std::collections::BTreeSet;
use std::{fs, thread, time};

use raddle_testkit::scaled;

use crate::world::World;

#[test]
fn files_and_input_are_named_or_replaced() {
    let world = World::new("writes");
    let program = world.build("writes.c", &[]);
    world.raddle(&["run", &program]).ends_with(0).says(&[
        "executions change files, which is not undone: log.txt",
        "the program reads standard input, which is empty",
    ]);
    fs::write(world.path("in"), "hello\n").unwrap();
    fs::write(world.path("expected"), "read hello\nthread one\nthread two\n").unwrap();
    // The file of the first execution changes what the second one writes.
    let words = ["run", "--stdin", "in", "--expect", "expected", &program];
    world.raddle(&words).ends_with(1).says(&["line 2 is `log.txt exists`, expected: `thread one`"]);
    // In a folder of its own, each execution begins without it, on both back ends.
    for backend in ["fork", "snapshot"] {
        let words = ["run", "--stdin", "in", "--expect", "expected", "--backend", backend];
        let fresh = ["--fresh-folder", "true", &program];
        let done = world.raddle(&[&words[..], &fresh].concat()).ends_with(1);
        let done = done.says(&[
            "the output is not the expected one: line 2 is `thread two`, expected: `thread one`",
            "replayed once: it fails in the same way",
        ]);
        assert!(!done.text.contains("which is"), "{}", done.text);
        world.raddle(&["replay", done.token()]).ends_with(1).says(&["line 2 is `thread two`"]);
    }
}

#[test]
fn several_processes_share_a_check() {
    let world = World::new("processes");
    let program = world.build("suite/wsq.c", &["-DFIXED"]);
    let words = ["run", "--threads", "2", "--strategy", "pos", "--runs", "1001", &program];
    world.raddle(&words).ends_with(0).says(&["sampled: 1,002 executions (pos)"]);
    let program = world.build("suite/reorder.c", &["-DSETTERS=9", "-DCHECKERS=1"]);
    let found = world.raddle(&["run", "--threads", "3", &program]).ends_with(1);
    let found = found.says(&["assertion failed: (a == 0", "it fails in the same way"]);
    world.raddle(&["replay", found.token()]).ends_with(1).says(&["assertion failed: (a == 0"]);
    let program = world.build("deadlock.c", &["-DFIXED"]);
    let words = ["run", "--threads", "2", "--strategy", "dpor", &program];
    world.raddle(&words).ends_with(2).says(&["searches in one process"]);
}

#[test]
fn progress_is_shown_on_request() {
    let world = World::new("progress");
    let program = world.build("suite/wsq.c", &["-DFIXED"]);
    let words = ["run", "--strategy", "pos", "--runs", "10_000_000", "--time", "1s", &program];
    let done = world.raddle(&words).ends_with(0);
    assert!(!done.text.contains('\r'), "{}", done.text);
    let done = world.raddle(&[&words[..1], &["--progress", "always"], &words[1..]].concat());
    done.ends_with(0).says(&["\r\u{1b}[K./wsq: ", " executions ("]);
}

/// A token is enough to say all that can be said of why an execution fails.
#[test]
fn a_failure_is_explained_by_its_token() {
    let world = World::new("explain");
    let program = world.build("lost_update.c", &[]);
    let found = world.raddle(&["run", "--explain", "off", &program]).ends_with(1);
    assert!(!found.text.contains("it fails whenever"), "{}", found.text);
    let done = world.raddle(&["explain", found.token()]).ends_with(1);
    done.says(&["replayed from its token", "it fails whenever", "lost_update.c:10"]);
    world.raddle(&["explain"]).ends_with(2).says(&["raddle explain TOKEN"]);
    world.raddle(&["explain", "r1-none"]).ends_with(2).says(&["raddle list"]);
}

/// Where gdb is installed, a replay stops at the failure, also of a program whose executions need processes of their
/// own. Otherwise the command says that gdb is missing.
#[test]
fn a_failure_is_replayed_in_a_debugger() {
    let world = World::new("gdb");
    fs::write(world.path("commands"), "backtrace\nquit\n").unwrap();
    for (source, flags, place) in [
        ("lost_update.c", &[][..], "at lost_update.c:22"),
        ("deadlock.c", &[], "at deadlock.c:"),
        ("plain_counter.c", &[], "at plain_counter.c:32"),
        // A race that leads to nothing: the second access.
        ("plain_counter.c", &["-DUNCHECKED"], "at plain_counter.c:16"),
        ("files.c", &["-DHANDLER"], "at files.c:"),
    ] {
        let program = world.build(source, flags);
        let found = world.raddle(&["run", &program]).ends_with(1);
        let raddle = env!("CARGO_BIN_EXE_raddle");
        let words = format!("{raddle} replay {} --gdb < commands", found.token());
        let done = world.run("sh", &["-c", &words]);
        if world.run("sh", &["-c", "command -v gdb"]).text.is_empty() {
            done.ends_with(2).says(&["gdb cannot be run", "leave `--gdb` out"]);
        } else {
            done.says(&["__raddle_failure", place]);
        }
    }
}

/// Each schedule gives the same bytes in fresh processes: with forks, with snapshots, and from its token. There are 20
/// schedules, times `RADDLE_TEST_SCALE`, with the seeds from `RADDLE_TEST_SEED` on.
#[test]
fn schedules_are_the_same_in_fresh_processes() {
    let world = World::new("schedules");
    let program = world.build("fails.c", &[]);
    let mut tokens = BTreeSet::new();
    let first: u64 = std::env::var("RADDLE_TEST_SEED").map_or(0, |seed| seed.parse().unwrap());
    for seed in first..first + scaled(20) {
        let seed = seed.to_string();
        let check = |backend: &str| {
            let words = ["run", "--strategy", "random", "--seed", &seed, "--backend", backend];
            let explain = ["--explain", "off", "--format", "json", &program];
            let done = world.raddle(&[&words[..], &explain].concat());
            let done = done.ends_with(1).says(&[r#""reproduced": true"#]);
            let lines = done.text.lines().filter(|line| !line.contains("elapsed_seconds"));
            lines.collect::<Vec<_>>().join("\n")
        };
        let fork = check("fork");
        assert_eq!(fork, check("snapshot"), "seed {seed}");
        let (_, token) = fork.split_once(r#""token": ""#).unwrap();
        let token = token.split('"').next().unwrap();
        // From its token alone, with either back end: the whole trace, byte for byte.
        for backend in ["fork", "snapshot"] {
            let words = ["run", "--replay", token, "--backend", backend, "--format", "json"];
            let done = world.raddle(&[&words[..], &[&program]].concat()).ends_with(1);
            assert_eq!(trace_of(&fork), trace_of(&done.text), "{backend}: {token}");
        }
        tokens.insert(token.to_owned());
    }
    eprintln!("{} different schedules", tokens.len());
    assert!(tokens.len() > 10);
}

/// Returns the steps of a report in JSON, with everything that follows them.
fn trace_of(report: &str) -> &str {
    report[report.find("\"trace\"").unwrap()..].trim_end()
}

/// The memory of a check does not grow with the number of executions.
#[test]
fn memory_is_flat() {
    let world = World::new("flat");
    let program = world.build("heap.c", &[]);
    let most_kilobytes = |runs: &str| {
        let words = ["run", "--strategy", "random", "--time", "120s", "--runs", runs, &program];
        let mut child = world.start(&words);
        let mut most = 0;
        while child.try_wait().unwrap().is_none() {
            most = most.max(world.kilobytes_of("heap"));
            thread::sleep(time::Duration::from_millis(2));
        }
        assert!(child.wait().unwrap().success());
        most
    };
    let (few, many) = (most_kilobytes("5_000"), most_kilobytes("100_000"));
    assert!(few > 0 && many <= few + few / 10, "{few} kB, {many} kB");
}

/// The library exports what it stands in for, and names that begin with its own.
#[test]
fn names_do_not_clash() {
    let world = World::new("names");
    let program = world.build("names.c", &["-fno-builtin"]);
    world.run(&program, &[]).ends_with(0);
    world.raddle(&["run", &program]).ends_with(0).says(&["exhaustive"]);
    let names = |file: &str| -> Vec<String> {
        let done = world.run("nm", &["-D", "--defined-only", file]).ends_with(0);
        let name = |line: &str| Some(line.split_whitespace().nth(2)?.split('@').next()?.to_owned());
        done.text.lines().filter_map(name).collect()
    };
    let place = world.run("gcc", &["-print-file-name=libc.so.6"]).text;
    let mut known = names(place.trim());
    let place = world.run("gcc", &["-print-file-name=libstdc++.so.6"]).text;
    known.extend(names(place.trim()));
    let needed = world.run("ldd", &[&program]).text;
    let library = needed.split_whitespace().find(|word| word.ends_with("/libraddle_native.so"));
    for name in names(library.unwrap()) {
        let is_own = name.starts_with("__tsan_") || name.starts_with("__raddle_");
        // Functions of earlier or later versions of glibc.
        let is_other = ["cfree", "pthread_rwlock_clockrdlock"].contains(&&name[..]);
        assert!(is_own || is_other || known.contains(&name), "{name} is exported");
    }
}
