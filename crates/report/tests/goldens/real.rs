//! Reports on runs of real programs, replayed from tokens so that they do not depend on a strategy.

use std::time::Duration;

use expect_test::{Expect, expect};
use raddle_core::{Choice, ThreadId, ThreadInfo};
use raddle_results::{Finding, Report, Token, Verdict};

use crate::{html, json, programs};

/// Checks the report on the run of `program` in which the threads run in this `order`.
fn check(program: fn(), order: &[u32], expected: Expect) {
    let report = replayed(program, order);
    expected.assert_eq(&raddle_report::text(&report));
    json::parsed(&report);
}

/// Returns the report on the run of `program` in which the threads run in this `order`.
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

/// Removes the parts of a report that depend on the environment and the clock.
pub(crate) fn settled(report: raddle::Report) -> Report {
    let mut report: Report = (*report).clone();
    report.elapsed = Duration::from_micros(400);
    if let Verdict::Failed(failure) = &mut report.verdict {
        if let Finding::Panic(panic) = &mut failure.finding {
            panic.backtrace = None;
        }
        // What stacks say depends on how the test was compiled.
        if let Some(details) = &mut failure.trace.details {
            details.stacks.clear();
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

              atomic 1  i32, made at crates/report/tests/goldens/programs.rs:7

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
fn locks_are_acquired_in_opposite_orders() {
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
                ✗  mutex 1.lock     │              crates/report/tests/goldens/programs.rs:32   blocked forever
                ✗  │                mutex 2.lock   crates/report/tests/goldens/programs.rs:27   blocked forever

              mutex 1  Mutex<()>, made at crates/report/tests/goldens/programs.rs:22
              mutex 2  Mutex<()>, made at crates/report/tests/goldens/programs.rs:22

              cycle: main → mutex 1 (held by thread 1, acquired at crates/report/tests/goldens/programs.rs:26)
                   → thread 1 → mutex 2 (held by main, acquired at crates/report/tests/goldens/programs.rs:31)
                   → main

              main waits for mutex 1 at crates/report/tests/goldens/programs.rs:32
                held by thread 1, acquired at crates/report/tests/goldens/programs.rs:26
              thread 1 waits for mutex 2 at crates/report/tests/goldens/programs.rs:27
                held by main, acquired at crates/report/tests/goldens/programs.rs:31

              replay: RADDLE_REPLAY=r1-XbDf1gAAAQQBAAFc9N7p cargo test real"#]],
    );
}

#[test]
fn a_notification_comes_too_early() {
    check(
        programs::lost_wakeup,
        &[0, 1, 1, 0, 0, 0, 1, 1, 1],
        expect![[r#"
            raddle: test `real` FAILED — deadlock: no thread is runnable
              replayed from its token · 9 steps

                   main                                     thread 1
                1  spawn thread 1                           │                       crates/report/tests/goldens/programs.rs:39
                2  │                                        mutex 1.lock            crates/report/tests/goldens/programs.rs:42
                3  │                                        mutex 1.unlock          crates/report/tests/goldens/programs.rs:42   acquired in 2
                4  mutex 1.lock                             │                       crates/report/tests/goldens/programs.rs:48
                5  mutex 1.unlock                           │                       crates/report/tests/goldens/programs.rs:48   acquired in 4
                6  condvar 1.notify_one → wakes no thread   │                       crates/report/tests/goldens/programs.rs:49
                7  │                                        mutex 1.lock            crates/report/tests/goldens/programs.rs:43
                8  │                                        condvar 1.wait begins   crates/report/tests/goldens/programs.rs:44
                9  │                                        mutex 1.unlock          crates/report/tests/goldens/programs.rs:44   acquired in 7
                ✗  join thread 1                            │                       crates/report/tests/goldens/programs.rs:50   blocked forever
                ✗  │                                        condvar 1.wait          crates/report/tests/goldens/programs.rs:44   blocked forever

              mutex 1    Mutex<bool>, made at crates/report/tests/goldens/programs.rs:38
              condvar 1  made at crates/report/tests/goldens/programs.rs:38

              main waits for thread 1 to end at crates/report/tests/goldens/programs.rs:50
              thread 1 waits for a notification of condvar 1 at crates/report/tests/goldens/programs.rs:44
                notified in step 6, at crates/report/tests/goldens/programs.rs:49, when no thread waited

              replay: RADDLE_REPLAY=r1-XbDf1gAAAQQCAAMEA25xO20 cargo test real"#]],
    );
}

#[test]
fn threads_have_the_names_the_program_gave_them() {
    check(
        programs::named_threads,
        &[0, 1, 1, 0],
        expect![[r#"
            raddle: test `real` FAILED — deadlock: no thread is runnable
              replayed from its token · 4 steps

                   main                      thread 1 (worker)
                1  spawn thread 1 (worker)   │                   crates/report/tests/goldens/programs.rs:55
                2  │                         mutex 1.lock        crates/report/tests/goldens/programs.rs:57
                3  │                         ends
                4  join thread 1 (worker)                        crates/report/tests/goldens/programs.rs:59
                ✗  mutex 1.lock                                  crates/report/tests/goldens/programs.rs:60   blocked forever

              mutex 1  Mutex<()>, made at crates/report/tests/goldens/programs.rs:54

              main waits for mutex 1 at crates/report/tests/goldens/programs.rs:60
                held by thread 1 (worker), acquired at crates/report/tests/goldens/programs.rs:57 and never released: that thread has ended

              replay: RADDLE_REPLAY=r1-XbDf1gAAAQQCAAHNqsUq cargo test real"#]],
    );
}

#[test]
fn the_source_is_below_the_picture() {
    let report = replayed(programs::lost_update, &[0, 0, 1, 1, 1, 0, 0, 0]);
    let text = raddle_report::text_with(
        &raddle_report::document(&report),
        raddle_report::Paint::Plain,
        &html::source,
    );
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

          atomic 1  i32, made at crates/report/tests/goldens/programs.rs:7

          crates/report/tests/goldens/programs.rs
             6 │ pub(crate) fn lost_update() {
             7 │     let counter = Arc::new(AtomicI32::new(-1));
             8 │     let other = thread::spawn({
             9 │         let counter = counter.clone();
            10 │         move || {
            11 │             let seen = counter.load(Ordering::SeqCst);
            12 │             counter.store(seen + 1, Ordering::SeqCst);
            13 │         }
            14 │     });
            15 │     let seen = counter.load(Ordering::SeqCst);
            16 │     counter.store(seen + 1, Ordering::SeqCst);
            17 │     other.join().unwrap();
            18 │     assert_eq!(counter.load(Ordering::SeqCst), 1, "an update got lost");

          main panicked at crates/report/tests/goldens/programs.rs:18:5

          replay: RADDLE_REPLAY=r1-XbDf1gAAAgQDAAPFBDrG cargo test real"#]].assert_eq(&text);
}

#[test]
fn colours() {
    let report = replayed(programs::opposite_locks, &[0, 1, 0]);
    let text = raddle_report::text_with(
        &raddle_report::document(&report),
        raddle_report::Paint::Colours,
        &html::source,
    );
    expect![[r#"
        raddle: test `real` ^[1;31mFAILED^[0m — ^[1mdeadlock: 2 threads wait for one another^[0m
          replayed from its token · 3 steps

               ^[36mmain             ^[0m^[33mthread 1       ^[0m
            ^[2m1^[0m  ^[36mspawn thread 1   ^[0m^[33m│              ^[0m^[2mcrates/report/tests/goldens/programs.rs:23^[0m
            ^[2m2^[0m  ^[36m│                ^[0m^[33mmutex 1.lock   ^[0m^[2mcrates/report/tests/goldens/programs.rs:26^[0m
            ^[2m3^[0m  ^[36mmutex 2.lock     ^[0m^[33m│              ^[0m^[2mcrates/report/tests/goldens/programs.rs:31^[0m
            ^[1;31m✗^[0m  ^[36mmutex 1.lock     ^[0m^[33m│              ^[0m^[2mcrates/report/tests/goldens/programs.rs:32   ^[0mblocked forever
            ^[1;31m✗^[0m  ^[36m│                ^[0m^[33mmutex 2.lock   ^[0m^[2mcrates/report/tests/goldens/programs.rs:27   ^[0mblocked forever

          ^[2mmutex 1  Mutex<()>, made at crates/report/tests/goldens/programs.rs:22^[0m
          ^[2mmutex 2  Mutex<()>, made at crates/report/tests/goldens/programs.rs:22^[0m

          ^[2mcrates/report/tests/goldens/programs.rs^[0m
            ^[2m21 │^[0m pub(crate) fn opposite_locks() {
            ^[2m22 │^[0m     let locks = Arc::new((Mutex::new(()), Mutex::new(())));
            ^[2m23 │^[0m     let other = thread::spawn({
            ^[2m24 │^[0m         let locks = locks.clone();
            ^[2m25 │^[0m         move || {
            ^[2m26 │^[0m             let _first = locks.0.lock().unwrap();
            ^[2m27 │^[0m             let _second = locks.1.lock().unwrap();
            ^[2m28 │^[0m         }
            ^[2m29 │^[0m     });
            ^[2m30 │^[0m     {
            ^[2m31 │^[0m         let _first = locks.1.lock().unwrap();
            ^[2m32 │^[0m         let _second = locks.0.lock().unwrap();

          cycle: main → mutex 1 (held by thread 1, acquired at crates/report/tests/goldens/programs.rs:26)
               → thread 1 → mutex 2 (held by main, acquired at crates/report/tests/goldens/programs.rs:31)
               → main

          main waits for mutex 1 at crates/report/tests/goldens/programs.rs:32
            held by thread 1, acquired at crates/report/tests/goldens/programs.rs:26
          thread 1 waits for mutex 2 at crates/report/tests/goldens/programs.rs:27
            held by main, acquired at crates/report/tests/goldens/programs.rs:31

          replay: ^[1mRADDLE_REPLAY=r1-XbDf1gAAAQQBAAFc9N7p cargo test real^[0m"#]].assert_eq(&text.replace('\x1b', "^"));
}
