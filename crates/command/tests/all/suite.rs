//! Programs of published benchmarks, written anew from their descriptions, each with its bug and without it.
//!
//! The bug is found within the executions that the default allows, and the correct form is clean. With
//! `RADDLE_TEST_SCALE` the correct forms are checked by as many executions too.

use crate::world::World;

/// Says that all executions of the correct form are checked.
const PROVED: bool = true;
const SAMPLED: bool = false;

/// A source with its flags, part of the failure's text, and whether the correct form is proved.
type Entry = (&'static str, &'static [&'static str], &'static str, bool);

fn check(name: &str, options: &[&str], entries: &[Entry]) {
    let world = World::new(name);
    let is_full = std::env::var_os("RADDLE_TEST_SCALE").is_some();
    for &(source, flags, expected, is_proved) in entries {
        let source = format!("suite/{source}");
        let program = world.build(&source, flags);
        let found = world.raddle(&[&["run"][..], options, &[&program]].concat()).ends_with(1);
        found.says(&[expected, "replayed once: it fails in the same way"]);
        let program = world.build(&source, &[flags, &["-DFIXED"]].concat());
        let fewer: &[&str] = if is_full || is_proved { &[] } else { &["--runs", "500"] };
        let clean =
            world.raddle(&[&["run"][..], options, fewer, &[&program]].concat()).ends_with(0);
        if is_proved {
            clean.says(&["ok — exhaustive"]);
        }
    }
}

/// SCTBench: bugs that operations of synchronisation are enough for.
#[test]
fn programs_with_locks() {
    check(
        "suite_locks",
        &[],
        &[
            ("stringbuffer.cpp", &[], "assertion failed: count <= (int)text.size()", PROVED),
            ("twostage.c", &["-DWRITERS=1"], "assertion failed: also == seen + 1", PROVED),
            ("twostage.c", &["-DWRITERS=99"], "assertion failed: also == seen + 1", SAMPLED),
            ("queue.c", &["-DATTEMPTS=20"], "assertion failed: items[first] == stored[i]", SAMPLED),
            ("queue.c", &["-DATTEMPTS=7"], "assertion failed: items[first] == stored[i]", PROVED),
            ("qsort_mt.c", &[], "assertion failed: numbers[i - 1] <= numbers[i]", PROVED),
            ("read_twice.c", &[], "reads rwlock twice at once", PROVED),
            ("deadlock01.c", &[], "deadlock: 2 threads wait for one another", PROVED),
            ("account.c", &[], "assertion failed: balance == -5", PROVED),
            ("token_ring.c", &[], "assertion failed: x1 == x2 && x2 == x3", PROVED),
            ("carter01.c", &[], "deadlock: 2 threads wait for one another", PROVED),
            ("pbzip2.c", &[], "the program uses memory after it was freed at pbzip2.c:", SAMPLED),
            ("stack.c", &[], "assertion failed: top > 0", SAMPLED),
            ("lazy01.c", &[], "assertion failed: data < 3", PROVED),
            ("streamcluster.c", &["-DBUG=1"], "assertion failed: atomic_load(&done)", SAMPLED),
            ("streamcluster.c", &["-DBUG=2"], "the program crashes", SAMPLED),
            ("streamcluster.c", &["-DBUG=3"], "the program uses memory after", SAMPLED),
            ("aget.c", &[], "assertion failed: sum == written", PROVED),
            ("splash.c", &[], "assertion failed: atomic_load(&finished) == THREADS", SAMPLED),
        ],
    );
}

/// The rest of SCTBench, and entries of CHESS, BPOR and PCT.
#[test]
fn programs_that_wait() {
    check(
        "suite_waits",
        &[],
        &[
            ("arithmetic.c", &[], "assertion failed: sum != ", PROVED),
            ("philosophers.c", &["-DN=2"], "deadlock: 2 threads wait for one another", PROVED),
            ("philosophers.c", &["-DN=7"], "deadlock: 7 threads wait for one another", PROVED),
            ("fsbench.c", &[], "assertion failed: block < BLOCKS", PROVED),
            ("phase01.c", &[], "deadlock: thread 1 waits for itself", PROVED),
            ("sync01.c", &[], "deadlock: no thread is runnable", PROVED),
            ("ferret.c", &[], "deadlock: no thread is runnable", PROVED),
            ("lazy_init.c", &[], "assertion failed: before == 0", PROVED),
            ("last_context.c", &[], "the program uses memory after it was freed", PROVED),
            ("interrupt.c", &[], "deadlock: no thread is runnable", PROVED),
            ("dryad.c", &[], "the program uses memory after it was freed at dryad.c:", PROVED),
            ("mrse.c", &[], "deadlock: no thread is runnable", PROVED),
        ],
    );
}

/// SCTBench: bugs that need plain or atomic accesses as scheduling points.
#[test]
fn programs_that_race() {
    check(
        "suite_races",
        &[],
        &[
            ("reorder.c", &["-DSETTERS=2", "-DCHECKERS=1"], "assertion failed: (a == 0", PROVED),
            ("reorder.c", &["-DSETTERS=3", "-DCHECKERS=1"], "assertion failed: (a == 0", PROVED),
            ("reorder.c", &["-DSETTERS=4", "-DCHECKERS=1"], "assertion failed: (a == 0", PROVED),
            ("reorder.c", &["-DSETTERS=9", "-DCHECKERS=1"], "assertion failed: (a == 0", SAMPLED),
            ("reorder.c", &["-DSETTERS=10", "-DCHECKERS=10"], "assertion failed: (a == 0", SAMPLED),
            ("contexts.c", &[], "it cannot access the address 0x0", PROVED),
            ("wsq.c", &[], "assertion failed: atomic_load(&runs[i]) == 1", SAMPLED),
            ("wsq.c", &["-DSPIN"], "assertion failed: atomic_load(&runs[i]) == 1", SAMPLED),
            ("wsq.c", &["-DSTATE"], " panicked at wsq.c:4", SAMPLED),
            ("wsq.c", &["-DSTATE", "-DSPIN"], " panicked at wsq.c:4", SAMPLED),
            ("wronglock.c", &["-DOTHERS=7"], "assertion failed: value == seen + 1", SAMPLED),
            ("wronglock.c", &["-DOTHERS=3"], "assertion failed: value == seen + 1", PROVED),
            ("bluetooth.c", &[], "assertion failed: !stopped", PROVED),
            ("ctrace.c", &[], "the program uses memory after it was freed at ctrace.c:", PROVED),
        ],
    );
}

/// PCTWM: bugs of weak memory.
#[test]
fn programs_under_weak_memory() {
    check(
        "suite_weak",
        &["--memory", "rc11"],
        &[
            ("weak_dekker.c", &[], "data race on data", PROVED),
            ("weak_barrier.c", &[], "data race on data", SAMPLED),
            ("weak_mcslock.c", &[], "data race on data", SAMPLED),
            ("weak_msqueue.c", &[], "data race on nodes", PROVED),
            ("weak_mpmcqueue.c", &[], "data race on slots", SAMPLED),
            ("weak_rwlocks.c", &[], "data race on data", SAMPLED),
            ("weak_seqlock.c", &[], "assertion failed: left == right", PROVED),
            ("weak_deque.c", &[], "assertion failed: item != 0", PROVED),
            ("weak_rwlock.c", &[], "assertion failed: left == right", SAMPLED),
        ],
    );
}

/// safestack (SCTBench) fails in some ten thousand executions once. Its correct form is clean.
#[test]
fn a_stack_without_locks() {
    let world = World::new("suite_safestack");
    let program = world.build("suite/safestack.c", &["-DFIXED"]);
    world.raddle(&["run", "--runs", "1000", &program]).ends_with(0);
    if std::env::var_os("RADDLE_TEST_SCALE").is_some() {
        let program = world.build("suite/safestack.c", &[]);
        let words = ["run", "--strategy", "pos", "--runs", "200_000", "--time", "300s", &program];
        world.raddle(&words).ends_with(1).says(&["atomic_load(&value[node]) == id"]);
    }
}
