//! Reports on runs that raddle made. They are replayed from tokens, so that what is shown does not
//! depend on how a strategy draws.

use std::time::Duration;

use expect_test::{Expect, expect};
use raddle_core::{Choice, Finding, Report, ThreadId, ThreadInfo, Token, Verdict};

use crate::{json, programs};

/// Checks the report on the run of `program` in which the threads go as `order` says.
fn check(program: fn(), order: &[u32], expected: Expect) {
    let report = replayed(program, order);
    expected.assert_eq(&raddle_report::text(&report));
    json::parsed(&report);
}

/// The report on the run of `program` in which the threads go as `order` says.
pub(crate) fn replayed(program: fn(), order: &[u32]) -> Report {
    let main = ThreadId::MAIN;
    let threads = [
        ThreadInfo { id: main, parent: main, position: 0 },
        ThreadInfo { id: ThreadId(1), parent: main, position: 0 },
    ];
    let schedule = order.iter().map(|thread| Choice::Thread(ThreadId(*thread))).collect();
    let token = Token::new("real", &threads, schedule).to_string();
    settled(raddle::Config::new().name("real").replay(token).run(program))
}

/// The report without what depends on the environment and the clock.
fn settled(mut report: Report) -> Report {
    report.elapsed = Duration::from_micros(400);
    if let Verdict::Failed(failure) = &mut report.verdict {
        if let Finding::Panic(panic) = &mut failure.finding {
            panic.backtrace = None;
        }
    }
    report
}

#[test]
fn an_update_gets_lost() {
    check(
        programs::lost_update,
        &[0, 0, 1, 1, 1, 0, 0, 0],
        expect![[r#"
        raddle: test `real` FAILED — assertion `left == right` failed: an update got lost: left: 0, right: 1
          replayed from its token · 8 steps

               main                 thread 1
            1  spawn thread 1       │                    crates/report/tests/goldens/programs.rs:8
            2  atomic 1.load → -1   │                    crates/report/tests/goldens/programs.rs:15   reads the initial value
            3  │                    atomic 1.load → -1   crates/report/tests/goldens/programs.rs:11   reads the initial value
            4  │                    atomic 1.store 0     crates/report/tests/goldens/programs.rs:12
            5  │                    ends
            6  atomic 1.store 0                          crates/report/tests/goldens/programs.rs:16   overwrites 4
            7  join thread 1                             crates/report/tests/goldens/programs.rs:17
            8  atomic 1.load → 0                         crates/report/tests/goldens/programs.rs:18   reads 6
            ✗  panics                                    crates/report/tests/goldens/programs.rs:18

          atomic 1  i32, first used at crates/report/tests/goldens/programs.rs:11

          main panicked at crates/report/tests/goldens/programs.rs:18:5

          replay: RADDLE_REPLAY=r1-XbDf1gAAAgQDAAPFBDrG cargo test real"#]],
    );
}

#[test]
fn a_run_without_a_failure() {
    check(
        programs::lost_update,
        &[0, 1, 1, 1, 0, 0, 0, 0, 0],
        expect!["raddle: test `real` ok — replayed: this execution does not fail"],
    );
}

#[test]
fn locks_are_taken_in_opposite_orders() {
    check(
        programs::opposite_locks,
        &[0, 1, 0],
        expect![[r#"
        raddle: test `real` FAILED — deadlock: 2 threads wait for one another
          replayed from its token · 3 steps

               main             thread 1
            1  spawn thread 1   │              crates/report/tests/goldens/programs.rs:23
            2  │                mutex 1.lock   crates/report/tests/goldens/programs.rs:26
            3  mutex 2.lock     │              crates/report/tests/goldens/programs.rs:31
            ✗  mutex 1.lock     │              crates/report/tests/goldens/programs.rs:32   waits for ever
            ✗  │                mutex 2.lock   crates/report/tests/goldens/programs.rs:27   waits for ever

          mutex 1  first used at crates/report/tests/goldens/programs.rs:26
          mutex 2  first used at crates/report/tests/goldens/programs.rs:31

          cycle: main → mutex 1 (held by thread 1, taken at crates/report/tests/goldens/programs.rs:26)
               → thread 1 → mutex 2 (held by main, taken at crates/report/tests/goldens/programs.rs:31)
               → main

          main waits for mutex 1 at crates/report/tests/goldens/programs.rs:32
            held by thread 1, taken at crates/report/tests/goldens/programs.rs:26
          thread 1 waits for mutex 2 at crates/report/tests/goldens/programs.rs:27
            held by main, taken at crates/report/tests/goldens/programs.rs:31

          replay: RADDLE_REPLAY=r1-XbDf1gAAAQQBAAFc9N7p cargo test real"#]],
    );
}

#[test]
fn a_notification_comes_too_early() {
    check(
        programs::lost_wakeup,
        &[0, 1, 1, 0, 0, 0, 1, 1, 1],
        expect![[r#"
        raddle: test `real` FAILED — deadlock: no thread can go on
          replayed from its token · 9 steps

               main                                  thread 1
            1  spawn thread 1                        │                       crates/report/tests/goldens/programs.rs:39
            2  │                                     mutex 1.lock            crates/report/tests/goldens/programs.rs:42
            3  │                                     mutex 1.unlock          crates/report/tests/goldens/programs.rs:42   taken in 2
            4  mutex 1.lock                          │                       crates/report/tests/goldens/programs.rs:48
            5  mutex 1.unlock                        │                       crates/report/tests/goldens/programs.rs:48   taken in 4
            6  condvar 1.notify_one → wakes nobody   │                       crates/report/tests/goldens/programs.rs:49
            7  │                                     mutex 1.lock            crates/report/tests/goldens/programs.rs:43
            8  │                                     condvar 1.wait begins   crates/report/tests/goldens/programs.rs:44
            9  │                                     mutex 1.unlock          crates/report/tests/goldens/programs.rs:43   taken in 7
            ✗  join thread 1                         │                       crates/report/tests/goldens/programs.rs:50   waits for ever
            ✗  │                                     condvar 1.wait          crates/report/tests/goldens/programs.rs:44   waits for ever

          mutex 1    first used at crates/report/tests/goldens/programs.rs:42
          condvar 1  first used at crates/report/tests/goldens/programs.rs:49

          main waits for thread 1 to end at crates/report/tests/goldens/programs.rs:50
          thread 1 waits for a notification of condvar 1 at crates/report/tests/goldens/programs.rs:44
            notified in step 6, at crates/report/tests/goldens/programs.rs:49, when nobody waited

          replay: RADDLE_REPLAY=r1-XbDf1gAAAQQCAAMEA25xO20 cargo test real"#]],
    );
}

#[test]
fn threads_have_the_names_the_program_gave_them() {
    check(
        programs::named_threads,
        &[0, 1, 1, 0],
        expect![[r#"
        raddle: test `real` FAILED — deadlock: no thread can go on
          replayed from its token · 4 steps

               main                      thread 1 (worker)
            1  spawn thread 1 (worker)   │                   crates/report/tests/goldens/programs.rs:55
            2  │                         mutex 1.lock        crates/report/tests/goldens/programs.rs:57
            3  │                         ends
            4  join thread 1 (worker)                        crates/report/tests/goldens/programs.rs:59
            ✗  mutex 1.lock                                  crates/report/tests/goldens/programs.rs:60   waits for ever

          mutex 1  first used at crates/report/tests/goldens/programs.rs:57

          main waits for mutex 1 at crates/report/tests/goldens/programs.rs:60
            held by thread 1 (worker), taken at crates/report/tests/goldens/programs.rs:57 and never given back: it has ended

          replay: RADDLE_REPLAY=r1-XbDf1gAAAQQCAAHNqsUq cargo test real"#]],
    );
}
