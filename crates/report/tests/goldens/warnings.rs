//! Leaks as findings, and warnings about executions that do not fail.

use expect_test::expect;
use raddle_core::{Action, Effect, MutexOp, ObjectId, ObjectKind, ParkOp, ThreadId};
use raddle_results::{Finding, Leak, LockOrder, Report, Verdict, Warning, WarningKind};

use crate::build::{Build, check, failed, report};
use crate::json::parsed;
use crate::site;

#[test]
fn a_thread_left_behind() {
    let mut build = Build::with_threads(1);
    let parker = build.object(ObjectKind::Parker(ThreadId(1)));
    build.ends(0);
    build.waits(1, parker, Action::Park(ParkOp::Park { timed: false }), site::two());
    let leak = Leak::Thread { thread: ThreadId(1), object: parker, site: site::two() };
    check(
        &failed(Finding::Leak(leak), build.finish()),
        expect![[r#"
            raddle: test `tests::queue` FAILED — thread 1 is still blocked when all other threads have ended
              found by random after 1,204 executions (0.4 s) · 2 steps · replayed once: it fails in the same way

                   main             thread 1
                1  spawn thread 1   │          crates/report/tests/goldens/site.rs:5
                2  ends             │
                ✗                   park       crates/report/tests/goldens/site.rs:9   blocked forever

              thread 1 waits for parking of thread 1 at crates/report/tests/goldens/site.rs:9, and no thread is left that could wake it. Join it, or
              make it end.

              replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}

#[test]
fn a_lock_left_behind() {
    let mut build = Build::with_threads(1);
    let mutex = build.object(ObjectKind::Mutex);
    build.step(1, mutex, Action::Mutex(MutexOp::Lock), Effect::None, site::two());
    build.ends(1);
    let leak = Leak::Lock { thread: ThreadId(1), object: mutex, site: site::two() };
    check(
        &failed(Finding::Leak(leak), build.finish()),
        expect![[r#"
            raddle: test `tests::queue` FAILED — thread 1 ended while it held mutex 1
              found by random after 1,204 executions (0.4 s) · 3 steps · replayed once: it fails in the same way

                   main             thread 1
                1  spawn thread 1   │              crates/report/tests/goldens/site.rs:5
                2  │                mutex 1.lock   crates/report/tests/goldens/site.rs:9
                3  │                ends

              mutex 1  first used at crates/report/tests/goldens/site.rs:9

              mutex 1 was acquired at crates/report/tests/goldens/site.rs:9 and never released: its guard was forgotten, or is part of
              something that was (`mem::forget`, `Box::leak`, a cycle of `Arc`s). No thread can acquire it any more.

              replay: RADDLE_REPLAY=r1-TOKEN cargo test tests::queue"#]],
    );
}

fn suspicious() -> Report {
    let order = |thread, held: u32, wanted: u32| LockOrder {
        thread: ThreadId(thread),
        held: ObjectId(held),
        taken_at: site::one(),
        wanted: ObjectId(wanted),
        wanted_at: site::two(),
    };
    let kinds = [
        WarningKind::Leak(Leak::Thread {
            thread: ThreadId(2),
            object: ObjectId(1),
            site: site::one(),
        }),
        WarningKind::Leak(Leak::Lock {
            thread: ThreadId(0),
            object: ObjectId(1),
            site: site::two(),
        }),
        WarningKind::LockOrder(vec![order(0, 5, 6), order(1, 6, 7), order(2, 7, 5)]),
    ];
    let warning = |(number, kind)| Warning { kind, execution: number as u64 + 1 };
    let warnings = kinds.into_iter().enumerate().map(warning).collect();
    Report { warnings, ..report(Verdict::Exhausted) }
}

#[test]
fn warnings() {
    check(
        &suspicious(),
        expect![[r#"
            raddle: test `tests::queue` ok — exhaustive: 3,911 classes, 10,000 executions, 0.4 s, SC
                    note: in execution 1, thread 2 is still blocked at crates/report/tests/goldens/site.rs:5 when all other threads have ended
                    note: in execution 2, main ended while it held the lock acquired at crates/report/tests/goldens/site.rs:9
                    warning: locks are acquired in different orders: main holds A (acquired at crates/report/tests/goldens/site.rs:5) and acquires B at crates/report/tests/goldens/site.rs:9; thread 1 holds B (acquired at crates/report/tests/goldens/site.rs:5) and acquires C at crates/report/tests/goldens/site.rs:9; thread 2 holds C (acquired at crates/report/tests/goldens/site.rs:5) and acquires A at crates/report/tests/goldens/site.rs:9 (execution 3); no execution that deadlocks was found"#]],
    );
}

#[test]
fn warnings_as_json() {
    let value = parsed(&suspicious());
    let warnings = &value["warnings"];
    assert_eq!(warnings[0]["warning"]["kind"], "leak");
    assert_eq!(warnings[0]["warning"]["what"], "thread");
    assert_eq!(warnings[1]["warning"]["what"], "lock");
    assert_eq!(warnings[2]["execution"], 3);
    assert_eq!(warnings[2]["warning"]["orders"][1]["held"], 6);
    assert_eq!(warnings[2]["warning"]["orders"][2]["wanted"], 5);
}
