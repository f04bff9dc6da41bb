//! Reports on deadlocks, on hand-made traces.

use expect_test::expect;
use raddle_core::{
    Action, Effect, MutexOp, ObjectId, ObjectKind, RwLockOp, Site, ThreadId, ThreadOp,
};
use raddle_results::{Finding, Wait};

use crate::build::{Build, MAIN, check, failed};
use crate::site;

#[test]
fn a_cycle_of_readers_and_writers_and_a_bystander() {
    let mut build = Build::with_threads(3);
    let rwlock = build.object(ObjectKind::RwLock);
    let mutex = build.object(ObjectKind::Mutex);
    let lock = Action::Mutex(MutexOp::Lock);
    let (read, write) = (Action::RwLock(RwLockOp::Read), Action::RwLock(RwLockOp::Write));
    build.step(1, rwlock, read, Effect::None, site::two());
    build.step(3, rwlock, read, Effect::None, site::three());
    build.step(2, mutex, lock, Effect::None, site::four());
    build.ends(3);
    build.waits(0, ObjectId(1), Action::Thread(ThreadOp::Join), site::one());
    build.waits(1, mutex, lock, site::three());
    build.waits(2, rwlock, write, site::four());
    let wait = |thread, object, site, holders, in_cycle| {
        let thread = ThreadId(thread);
        Wait { thread, object, site, holders, in_cycle }
    };
    let (first, second, third) = (ThreadId(1), ThreadId(2), ThreadId(3));
    let waits = vec![
        wait(0, ObjectId(1), site::one(), vec![(first, Site::UNKNOWN)], false),
        wait(1, mutex, site::three(), vec![(second, site::four())], true),
        wait(2, rwlock, site::four(), vec![(third, site::three()), (first, site::two())], true),
    ];
    check(
        &failed(Finding::Deadlock(waits), build.finish()),
        expect![[r#"
            raddle: test `tests::queue` FAILED — deadlock: 2 threads wait for one another
              found by random after 1,204 executions (0.4 s) · 7 steps · replayed once: it fails in the same way

                   main             thread 1        thread 2         thread 3
                1  spawn thread 1   │                                                crates/report/tests/goldens/site.rs:5
                2  spawn thread 2   │               │                                crates/report/tests/goldens/site.rs:5
                3  spawn thread 3   │               │                │               crates/report/tests/goldens/site.rs:5
                4  │                rwlock 1.read   │                │               crates/report/tests/goldens/site.rs:9
                5  │                │               │                rwlock 1.read   crates/report/tests/goldens/site.rs:13
                6  │                │               mutex 1.lock     │               crates/report/tests/goldens/site.rs:17
                7  │                │               │                ends
                ✗  join thread 1    │               │                                crates/report/tests/goldens/site.rs:5    blocked forever
                ✗  │                mutex 1.lock    │                                crates/report/tests/goldens/site.rs:13   blocked forever
                ✗  │                │               rwlock 1.write                   crates/report/tests/goldens/site.rs:17   blocked forever

              rwlock 1  first used at crates/report/tests/goldens/site.rs:9
              mutex 1   first used at crates/report/tests/goldens/site.rs:9

              cycle: thread 1 → mutex 1 (held by thread 2, acquired at crates/report/tests/goldens/site.rs:17)
                   → thread 2 → rwlock 1 (held by thread 1, acquired at crates/report/tests/goldens/site.rs:9)
                   → thread 1

              main waits for thread 1 to end at crates/report/tests/goldens/site.rs:5
              thread 1 waits for mutex 1 at crates/report/tests/goldens/site.rs:13
                held by thread 2, acquired at crates/report/tests/goldens/site.rs:17
              thread 2 waits for rwlock 1 at crates/report/tests/goldens/site.rs:17
                held by thread 3, acquired at crates/report/tests/goldens/site.rs:13 and never released: that thread has ended
                held by thread 1, acquired at crates/report/tests/goldens/site.rs:9

              replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}

#[test]
fn a_thread_that_waits_for_itself() {
    let mut build = Build::with_threads(0);
    let mutex = build.object(ObjectKind::Mutex);
    let lock = Action::Mutex(MutexOp::Lock);
    build.step(0, mutex, lock, Effect::None, site::two());
    build.waits(0, mutex, lock, site::three());
    let holders = vec![(MAIN, site::two())];
    let wait = Wait { thread: MAIN, object: mutex, site: site::three(), holders, in_cycle: true };
    check(
        &failed(Finding::Deadlock(vec![wait]), build.finish()),
        expect![[r#"
            raddle: test `tests::queue` FAILED — deadlock: main waits for itself
              found by random after 1,204 executions (0.4 s) · 1 step · replayed once: it fails in the same way

                   main
                1  mutex 1.lock   crates/report/tests/goldens/site.rs:9
                ✗  mutex 1.lock   crates/report/tests/goldens/site.rs:13   blocked forever

              mutex 1  first used at crates/report/tests/goldens/site.rs:9

              cycle: main → mutex 1 (held by main, acquired at crates/report/tests/goldens/site.rs:9)
                   → main

              main waits for mutex 1 at crates/report/tests/goldens/site.rs:13
                held by main, acquired at crates/report/tests/goldens/site.rs:9

              replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}

#[test]
fn two_cycles_at_once() {
    let mut build = Build::with_threads(4);
    let lock = Action::Mutex(MutexOp::Lock);
    let mutexes: Vec<ObjectId> = (0..4).map(|_| build.object(ObjectKind::Mutex)).collect();
    let mut waits = Vec::new();
    // Threads 1 and 2 wait for each other, and so do 3 and 4.
    for (thread, other) in [(1, 2), (2, 1), (3, 4), (4, 3)] {
        build.step(thread, mutexes[thread as usize - 1], lock, Effect::None, site::two());
        build.waits(thread, mutexes[other as usize - 1], lock, site::three());
        waits.push(Wait {
            thread: ThreadId(thread),
            object: mutexes[other as usize - 1],
            site: site::three(),
            holders: vec![(ThreadId(other), site::two())],
            in_cycle: true,
        });
    }
    check(
        &failed(Finding::Deadlock(waits), build.finish()),
        expect![[r#"
            raddle: test `tests::queue` FAILED — deadlock: 2 threads wait for one another
              found by random after 1,204 executions (0.4 s) · 8 steps · replayed once: it fails in the same way

                   main             thread 1       thread 2       thread 3       thread 4
                1  spawn thread 1   │                                                           crates/report/tests/goldens/site.rs:5
                2  spawn thread 2   │              │                                            crates/report/tests/goldens/site.rs:5
                3  spawn thread 3   │              │              │                             crates/report/tests/goldens/site.rs:5
                4  spawn thread 4   │              │              │              │              crates/report/tests/goldens/site.rs:5
                5  │                mutex 1.lock   │              │              │              crates/report/tests/goldens/site.rs:9
                6  │                │              mutex 2.lock   │              │              crates/report/tests/goldens/site.rs:9
                7  │                │              │              mutex 3.lock   │              crates/report/tests/goldens/site.rs:9
                8  │                │              │              │              mutex 4.lock   crates/report/tests/goldens/site.rs:9
                ✗  │                mutex 2.lock   │              │              │              crates/report/tests/goldens/site.rs:13   blocked forever
                ✗  │                │              mutex 1.lock   │              │              crates/report/tests/goldens/site.rs:13   blocked forever
                ✗  │                │              │              mutex 4.lock   │              crates/report/tests/goldens/site.rs:13   blocked forever
                ✗  │                │              │              │              mutex 3.lock   crates/report/tests/goldens/site.rs:13   blocked forever

              mutex 1  first used at crates/report/tests/goldens/site.rs:9
              mutex 2  first used at crates/report/tests/goldens/site.rs:9
              mutex 3  first used at crates/report/tests/goldens/site.rs:9
              mutex 4  first used at crates/report/tests/goldens/site.rs:9

              cycle: thread 1 → mutex 2 (held by thread 2, acquired at crates/report/tests/goldens/site.rs:9)
                   → thread 2 → mutex 1 (held by thread 1, acquired at crates/report/tests/goldens/site.rs:9)
                   → thread 1

              cycle: thread 3 → mutex 4 (held by thread 4, acquired at crates/report/tests/goldens/site.rs:9)
                   → thread 4 → mutex 3 (held by thread 3, acquired at crates/report/tests/goldens/site.rs:9)
                   → thread 3

              thread 1 waits for mutex 2 at crates/report/tests/goldens/site.rs:13
                held by thread 2, acquired at crates/report/tests/goldens/site.rs:9
              thread 2 waits for mutex 1 at crates/report/tests/goldens/site.rs:13
                held by thread 1, acquired at crates/report/tests/goldens/site.rs:9
              thread 3 waits for mutex 4 at crates/report/tests/goldens/site.rs:13
                held by thread 4, acquired at crates/report/tests/goldens/site.rs:9
              thread 4 waits for mutex 3 at crates/report/tests/goldens/site.rs:13
                held by thread 3, acquired at crates/report/tests/goldens/site.rs:9

              replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}
