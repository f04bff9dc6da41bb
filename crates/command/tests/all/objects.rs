//! Wrong uses of synchronisation objects and of the heap are findings.

use crate::world::World;

#[test]
fn objects_are_not_used_after_their_end() {
    let world = World::new("late");
    let program = world.build("objects.c", &[]);
    for (which, expected) in [
        ("destroyed_mutex", "a thread destroys a mutex that is locked"),
        ("initialised_mutex", "a thread initialises a mutex that is locked"),
        ("destroyed_condvar", "a thread uses a condition variable that was destroyed"),
        ("destroyed_rwlock", "a thread destroys a reader-writer lock that is locked"),
        ("freed_mutex", "a thread destroys a mutex that is locked"),
        ("foreign_unlock", "a thread unlocks a mutex that it does not hold"),
        ("foreign_spin", "a thread unlocks a spin lock that it does not hold"),
    ] {
        for races in ["true", "false"] {
            let words = ["run", "--races", races, "--", &program, which];
            world.raddle(&words).ends_with(1).says(&[expected, "objects.c:"]);
        }
    }
}

/// Threads that destroy and use an object in any order: one of them is seen by every search.
#[test]
fn every_search_finds_a_use_after_the_end() {
    let world = World::new("late_use");
    let program = world.build("objects.c", &[]);
    for which in ["destroyed_mutex", "destroyed_condvar", "destroyed_rwlock", "freed_mutex"] {
        for strategy in ["dfs", "dpor", "pos"] {
            let words = ["run", "--strategy", strategy, "--", &program, which];
            world.raddle(&words).ends_with(1).says(&["replayed once"]);
        }
    }
}

#[test]
fn wrong_uses_of_the_heap_are_found() {
    let world = World::new("heap_misuse");
    let program = world.build("heap_misuse.c", &["-Wno-free-nonheap-object"]);
    for (which, expected) in [
        (
            "beyond",
            "an access to 1 byte goes beyond the end of a block of 16 bytes, allocated at heap_misuse.c:28",
        ),
        ("before", "an access to 1 byte is before the beginning of a block of 16 bytes"),
        ("copy", "an access to 17 bytes goes beyond the end"),
        ("twice", "memory is freed twice, first at heap_misuse.c:30"),
        ("inside", "the program frees memory that is no block of the heap"),
        ("leak", "leak: 16 bytes in 1 block are never freed"),
    ] {
        for backend in ["fork", "snapshot"] {
            let words = ["run", "--backend", backend, "--leaks", "fail", "--", &program, which];
            world.raddle(&words).ends_with(1).says(&[expected, "heap_misuse.c:"]);
        }
    }
    world.raddle(&["run", &program, "leak"]).ends_with(0);
    world.raddle(&["run", "--leaks", "fail", "--", &program, "none"]).ends_with(0);
}

/// Accesses of different sizes to the same bytes conflict.
#[test]
fn halves_of_a_variable() {
    let world = World::new("sizes");
    let program = world.build("sizes.c", &[]);
    for strategy in ["dfs", "dpor", "pos", "auto"] {
        let done = world.raddle(&["run", "--strategy", strategy, &program]).ends_with(1);
        done.says(&["assertion failed: low == high"]);
    }
    let done = world.raddle(&["run", "--memory", "rc11", &program]).ends_with(2);
    done.says(&["atomic operations of different sizes"]);
    let program = world.build("wide.c", &["-mcx16"]);
    world.raddle(&["run", &program]).ends_with(1).says(&["assertion failed"]);
    let program = world.build("wide.c", &["-mcx16", "-DFIXED"]);
    world.run(&program, &[]).ends_with(0);
    world.raddle(&["run", "--memory", "rc11", &program]).ends_with(2).says(&["16 bytes"]);
}

/// Only locks that prefer writers block a thread that reads twice.
#[test]
fn reading_twice() {
    let world = World::new("read_twice");
    let program = world.build("suite/read_twice.c", &[]);
    world.raddle(&["run", &program]).ends_with(1).says(&["reads rwlock twice at once"]);
    let program = world.build("suite/read_twice.c", &["-DKIND"]);
    world.raddle(&["run", &program]).ends_with(0).says(&["exhaustive"]);
}

/// A lock on futexes: its deadlocks have a cycle, by the function `syscall` and by the instruction.
#[test]
fn locks_on_futexes() {
    let world = World::new("futex_lock");
    for flags in [&["-DABBA"][..], &["-DABBA", "-DRAW"]] {
        let program = world.build("futex_lock.c", flags);
        let done = world.raddle(&["run", &program]).ends_with(1);
        done.says(&["deadlock: 2 threads wait for one another", "(held by thread 1, acquired at"]);
    }
    let program = world.build("futex_lock.c", &["-DLOST"]);
    world.raddle(&["run", &program]).ends_with(1).says(&["deadlock: no thread is runnable"]);
}
