//! Programs with known bugs are found and replayed; correct ones are clean.

use crate::world::World;

/// The number of executions of n adders with m additions each: the number of orders of all additions.
#[test]
fn dpor_makes_one_execution_of_each_order() {
    let world = World::new("fetch_add");
    for (threads, times, expected) in [(2, 2, 6), (2, 3, 20), (3, 2, 90)] {
        let flags = [format!("-DTHREADS={threads}"), format!("-DTIMES={times}")];
        let program = world.build("fetch_add.c", &[&flags[0], &flags[1]]);
        world.run(&program, &[]).ends_with(0);
        let words = ["run", "--strategy", "dpor", "--format", "json", &program];
        let done = world.raddle(&words).ends_with(0);
        assert_eq!(done.executions(), (expected, true), "{threads} × {times}");
    }
}

/// A failure has the exit code 1, source lines, and a token that replays it in a new process.
fn fails(source: &str, options: &[&str], expected: &[&str]) {
    let world = World::new(&format!("{source}{}", options.concat()));
    let program = world.build(source, &[]);
    let words = [&["run"][..], options, &["--", &program]].concat();
    let found = world.raddle(&words).ends_with(1).says(expected);
    let found = found.says(&["replayed once: it fails in the same way"]);
    let again = world.raddle(&["replay", found.token()]).ends_with(1).says(expected);
    assert!(again.text.contains("replayed from its token"), "{}", again.text);
    world.raddle(&["list"]).ends_with(0).says(&[found.token(), "raddle run", &program]);
}

#[test]
fn a_lost_update_is_found() {
    let expected = [
        "assertion failed: counter == 2",
        "counter.load → 0",
        "lost_update.c:10",
        "10 │ int seen = atomic_load(&counter);",
        "overwrites",
        "output of this execution:\n    saw 0\n    saw 0",
    ];
    for strategy in ["auto", "dpor", "dfs", "random", "pct:2", "pos-star"] {
        fails("lost_update.c", &["--strategy", strategy], &expected);
    }
}

#[test]
fn a_deadlock_is_found_with_its_cycle() {
    let expected = [
        "deadlock: 2 threads wait for one another",
        "cycle: thread 1 → b (held by thread 2, acquired at deadlock.c:15)",
        "a  mutex, first used at deadlock.c:7",
    ];
    fails("deadlock.c", &[], &expected);
}

#[test]
fn a_lost_wake_up_in_c_plus_plus_is_found() {
    fails("lost_wakeup.cpp", &[], &["deadlock", "lost_wakeup.cpp:15"]);
    // Calls of the C++ library that were inlined are shown at the lines of the program, with names as in the source.
    let world = World::new("lost_wakeup_inlined");
    let program = world.build("lost_wakeup.cpp", &["-O2"]);
    let done = world.raddle(&["run", "--explain", "off", &program]).ends_with(1);
    done.says(&["ready.load → 0", "lost_wakeup.cpp:14", "lost_wakeup.cpp:17", "changed  condvar"]);
    let world = World::new("lost_wakeup_fixed");
    let program = world.build("lost_wakeup.cpp", &["-DFIXED"]);
    world.raddle(&["run", &program]).ends_with(0).says(&["exhaustive"]);
}

#[test]
fn crashes_and_exit_codes_are_failures() {
    fails("null.c", &[], &["it cannot access the address 0x0", "null.c:10"]);
    fails("exit_code.c", &[], &["exit with code 3"]);
}

#[test]
fn store_buffering_needs_weak_memory() {
    fails(
        "store_buffering.c",
        &["--memory", "rc11"],
        &["assertion failed: first || second", "stale"],
    );
    let world = World::new("store_buffering_sc");
    let program = world.build("store_buffering.c", &[]);
    world.raddle(&["run", "--strategy", "dpor", &program]).ends_with(0).says(&["exhaustive"]);
}

#[test]
fn mutexes_of_all_kinds() {
    let world = World::new("mutexes");
    let program = world.build("mutexes.c", &[]);
    world.run(&program, &[]).ends_with(0);
    world.raddle(&["run", "--strategy", "dpor", &program]).ends_with(0).says(&["exhaustive"]);
}

/// The same failure in JSON and as a page, with lines instead of addresses.
#[test]
fn reports_have_source_lines_in_every_form() {
    let world = World::new("forms");
    let program = world.build("deadlock.c", &[]);
    let json = world.raddle(&["run", "--format", "json", &program]).ends_with(1);
    let json = json.says(&[r#""file": "deadlock.c", "line": 7"#]);
    assert!(!json.text.contains("\"address\""), "{}", json.text);
    let words = ["run", "--report", "reports", &program];
    world.raddle(&words).ends_with(1);
    let page = std::fs::read_to_string(world.path("reports/deadlock.html")).unwrap();
    assert!(page.contains("deadlock.c:7") && page.contains("raddle replay r1-"));
    assert!(world.path("reports/deadlock.json").exists());
}

/// The command carries its library: a copy elsewhere, with an empty cache, is enough.
#[test]
fn a_copy_of_the_command_works_elsewhere() {
    let world = World::new("copy");
    std::fs::copy(env!("CARGO_BIN_EXE_raddle"), world.path("raddle")).unwrap();
    let program = world.build("deadlock.c", &[]);
    let cache = world.path("cache");
    let words = [&format!("XDG_CACHE_HOME={}", cache.display()), "./raddle", "run", &program];
    world.run("env", &words).ends_with(1).says(&["deadlock.c:15"]);
    assert!(cache.join("raddle").exists());
}

/// `make` with `CC="raddle cc"` compiles and links in two steps.
#[test]
fn objects_are_compiled_and_linked_apart() {
    let world = World::new("objects");
    world.build("deadlock.c", &[]);
    world.raddle(&["cc", "-c", "deadlock.c", "-o", "deadlock.o"]).ends_with(0);
    world.raddle(&["cc", "deadlock.o", "-o", "apart"]).ends_with(0);
    world.raddle(&["run", "./apart"]).ends_with(1).says(&["deadlock.c:15"]);
}

/// Executions in one process, whose memory is put back, are those in processes of their own.
#[test]
fn fork_and_snapshot_make_the_same_executions() {
    let world = World::new("backends");
    for (source, threads) in [
        ("fetch_add.c", 2),
        // More threads than were made before the first execution.
        ("fetch_add.c", 9),
        ("lost_update.c", 2),
        ("deadlock.c", 2),
        ("lost_wakeup.cpp", 2),
        ("null.c", 2),
        ("exit_code.c", 2),
        ("mutexes.c", 2),
        ("heap.c", 2),
    ] {
        let program = world.build(source, &[&format!("-DTHREADS={threads}"), "-DTIMES=2"]);
        for strategy in ["dpor", "random", "pct:3", "pos"] {
            let check = |backend: &str| {
                let words = ["run", "--strategy", strategy, "--runs", "50", "--backend", backend];
                let done = world.raddle(&[&words[..], &["--format", "json", &program]].concat());
                let lines = done.text.lines().filter(|line| !line.contains("elapsed_seconds"));
                lines.collect::<Vec<_>>().join("\n")
            };
            let (fork, snapshot) = (check("fork"), check("snapshot"));
            assert!(fork.contains("\"verdict\""), "{fork}");
            assert_eq!(fork, snapshot, "{source} {threads} {strategy}");
        }
    }
}

/// A program that changes what the kernel knows of its process is checked in processes of their own.
#[test]
fn open_files_need_processes() {
    let world = World::new("files");
    let program = world.build("files.c", &[]);
    world.raddle(&["run", &program]).ends_with(1).says(&["assertion failed: other_was_first"]);
    let words = ["run", "--backend", "snapshot", &program];
    world.raddle(&words).ends_with(2).says(&["leave `--backend` out"]);
}

/// Snapshots make at least 25 times the executions of forks in the same CPU time.
#[test]
fn snapshots_are_fast() {
    let world = World::new("speed");
    let program = world.build("fetch_add.c", &["-DTHREADS=2", "-DTIMES=2"]);
    let cpu_seconds_per_run = |backend: &str, runs: u32| {
        let raddle = env!("CARGO_BIN_EXE_raddle");
        let command = format!(
            "{raddle} run --strategy random --time 60s --runs {runs} --backend {backend} {program} > out; times"
        );
        let done = world.run("bash", &["-c", &command]).ends_with(0);
        let children = done.text.lines().nth(1).unwrap();
        let seconds = |word: &str| {
            let (minutes, seconds) = word.trim_end_matches('s').split_once('m').unwrap();
            minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
        };
        children.split_whitespace().map(seconds).sum::<f64>() / f64::from(runs)
    };
    let best = |backend: &str, runs: u32| {
        (0..3).map(|_| cpu_seconds_per_run(backend, runs)).fold(f64::INFINITY, f64::min)
    };
    let (fork, snapshot) = (best("fork", 500), best("snapshot", 20_000));
    assert!(fork >= 25.0 * snapshot, "fork {fork}, snapshot {snapshot}");
}

#[test]
fn a_data_race_is_found_and_can_be_ignored() {
    let expected = ["data race on counter", "plain_counter.c:16"];
    fails("plain_counter.c", &["--races", "first"], &expected);
    // The places of the race are scheduling points, so the update is lost.
    let expected = [
        "assertion failed: counter == 2",
        "counter.get",
        "counter.set",
        "1 place that races is a scheduling point: plain_counter.c:16",
    ];
    for options in [&[][..], &["--races", "true"], &["--races", "false"]] {
        fails("plain_counter.c", options, &expected);
    }
    // A race that leads to nothing is reported itself.
    let expected = ["data race on counter", "no other failure in 4 executions"];
    let world = World::new("harmless");
    let program = world.build("plain_counter.c", &["-DUNCHECKED"]);
    let done = world.raddle(&["run", &program]).ends_with(1).says(&expected);
    world.raddle(&["replay", done.token()]).ends_with(1).says(&["data race on counter"]);
    // A token is enough, also where the failure was not found.
    let program = world.build("plain_counter.c", &[]);
    let done = world.raddle(&["run", &program]).ends_with(1);
    let words = ["run", "--replay", done.token(), &program];
    world.raddle(&words).ends_with(1).says(&["assertion failed: counter == 2"]);
    let world = World::new("locked_counter");
    let program = world.build("plain_counter.c", &["-DLOCKED"]);
    for options in [&["run", "--strategy", "dpor"][..], &["run", "--races", "false"]] {
        world.raddle(&[options, &[&program]].concat()).ends_with(0).says(&["exhaustive"]);
    }
}

#[test]
fn uses_of_freed_memory_are_found() {
    let world = World::new("use_after_free");
    let program = world.build("use_after_free.c", &[]);
    world.raddle(&["run", "--strategy", "dpor", &program]).ends_with(0).says(&["exhaustive"]);
    let program = world.build("use_after_free.c", &["-DTWICE"]);
    let done = world.raddle(&["run", "--strategy", "dpor", "--races", "false", &program]);
    let done = done
        .ends_with(1)
        .says(&["the program uses memory after it was freed at use_after_free.c:19"]);
    world.raddle(&["replay", done.token()]).ends_with(1).says(&["after it was freed"]);
}
