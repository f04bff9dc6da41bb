//! Loops that wait for another thread end a search, and threads that wait forever are found. A loop that counts its rounds
//! is none of these, wherever the count is.

use crate::world::World;

/// Each program waits, and all its executions are made: as many classes by `dfs` as executions by `dpor`.
#[test]
fn loops_that_wait_are_searched_to_the_end() {
    let world = World::new("loops");
    for flags in [&[][..], &["-O0"]] {
        let program = world.build("loops.c", flags);
        for which in ["flag", "yields", "sleeps", "spins", "tries"] {
            let numbers = ["dfs", "dpor"].map(|strategy| {
                let words = ["run", "--strategy", strategy, "--format", "json", &program, which];
                let done = world.raddle(&words).ends_with(0);
                assert!(done.executions().1, "{which}: {}", done.text);
                (done.number("classes"), done.executions().0)
            });
            let [(all, _), dpor] = numbers;
            assert_eq!(dpor, (all, all), "{which} {flags:?}");
            for options in [&["--strategy", "pos"][..], &["--memory", "rc11"]] {
                let words = [&["run"][..], options, &["--runs", "300", &program, which]].concat();
                world.raddle(&words).ends_with(0);
            }
        }
    }
}

#[test]
fn threads_that_wait_forever_are_found() {
    let world = World::new("loops_forever");
    let program = world.build("loops.c", &[]);
    for (which, place) in [
        ("forever", "loops.c:26"),
        ("yields_forever", "loops.c:29"),
        ("spins_forever", "loops.c:21"),
    ] {
        for strategy in ["auto", "dfs", "dpor", "pos"] {
            let done = world.raddle(&["run", "--strategy", strategy, &program, which]);
            let done = done.ends_with(1).says(&["waits forever in a loop", place]);
            world.raddle(&["replay", done.token()]).ends_with(1).says(&["waits forever in a loop"]);
        }
    }
}

/// A plain variable that another thread writes without synchronisation races, and is a scheduling point then.
#[test]
fn a_loop_that_reads_a_plain_variable_races() {
    let world = World::new("loops_plain");
    let program = world.build("loops.c", &[]);
    world
        .raddle(&["run", &program, "plain"])
        .ends_with(1)
        .says(&["data race on plain_flag", "no other failure in"]);
    let words = ["run", "--races", "false", "--strategy", "dpor", &program, "plain"];
    world.raddle(&words).ends_with(0).says(&["exhaustive"]);
}

/// Three rounds without a change end a loop, which only an execution with that many rounds shows.
#[test]
fn rounds_that_are_counted_are_not_left_out() {
    let world = World::new("loops_that_count");
    let program = world.build("loops.c", &[]);
    for which in ["counts", "counts_in_memory", "counts_in_thread", "counts_on_heap"] {
        for strategy in ["dfs", "dpor", "random"] {
            let done = world.raddle(&["run", "--strategy", strategy, &program, which]);
            done.ends_with(1).says(&["assertion failed: !atomic_load(&done)"]);
        }
    }
    // How often this loop goes round depends on the time that steps take.
    let done = world.raddle(&["run", &program, "clock"]).ends_with(0);
    assert!(!done.text.contains("exhaustive"), "{}", done.text);
    done.says(&["a loop that reads the clock", "searches claim nothing"]);
    let done = world.raddle(&["run", "--strategy", "dpor", &program, "clock"]).ends_with(2);
    done.says(&["a search of everything does not end", "loops.c:8"]);
}
