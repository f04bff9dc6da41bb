//! Reports on failures that were found, shrunk and explained.

use expect_test::{Expect, expect};
use raddle::cell::Shared;
use raddle::sync::atomic::Ordering::{Acquire, Relaxed, SeqCst};
use raddle::sync::atomic::{AtomicBool, AtomicUsize};
use raddle::sync::{Arc, Condvar, Mutex};
use raddle::thread;
use raddle_core::{Action, AtomicOp, Effect, Event, ObjectKind, Order, Scalar};
use raddle_results::{
    CauseEvent, Causes, Certificate, CutOff, Explanation, OrderedPair, RunSize, Shrunk,
    Sufficiency, Verdict,
};

use crate::build::{Build, failed, panic};
use crate::real::settled;
use crate::{json, site};

fn check(program: fn(), expected: Expect) {
    check_with(raddle::Config::new().name("explained").strategy("random"), program, expected);
}

fn check_with(config: raddle::Config, program: fn(), expected: Expect) {
    let report = config.run(program);
    let page = report.to_html();
    let report = settled(report);
    json::parsed(&report);
    let text = raddle_report::text(&report);
    // Tokens depend on nothing else than what is shown.
    let text: Vec<&str> = text.lines().filter(|line| !line.contains("replay: ")).collect();
    // The page explains in the same words.
    let explained = text.iter().skip_while(|line| !line.trim().starts_with("why:"));
    for line in explained.filter(|line| line.contains(" at ")) {
        assert!(page.contains(&line.trim().replace('<', "&lt;").replace('>', "&gt;")), "{line}");
    }
    expected.assert_eq(&text.join("\n"));
}

fn withdraw_twice() {
    let balance = Arc::new(AtomicUsize::new(100));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let balance = balance.clone();
            thread::spawn(move || {
                let before = balance.load(SeqCst);
                raddle::note!("balance {before}");
                if before >= 80 {
                    balance.fetch_sub(80, SeqCst);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert!(balance.load(SeqCst) <= 100, "overdrawn");
}

#[test]
fn an_atomicity_violation() {
    check(
        withdraw_twice,
        expect![[r#"
            raddle: test `explained` FAILED — overdrawn
              found by random after 1 execution (0.4 ms) · 11 steps · replayed once: it fails in the same way
              shrunk from 3 preemptions to 1: no execution without a preemption fails this way

                   main                                   thread 1                     thread 2
                1  spawn thread 1                         │                                                          crates/report/tests/goldens/explained.rs:44
                2  spawn thread 2                         │                            │                             crates/report/tests/goldens/explained.rs:44
                3  │                                      atomic 1.load → 100          │                             crates/report/tests/goldens/explained.rs:45   reads the initial value
                ·  │                                      balance 100                  │                             crates/report/tests/goldens/explained.rs:46
                4  │                                      │                            atomic 1.load → 100           crates/report/tests/goldens/explained.rs:45   reads the initial value
                ·  │                                      │                            balance 100                   crates/report/tests/goldens/explained.rs:46
                5  │                                      │                            atomic 1.fetch_sub 80 → 100   crates/report/tests/goldens/explained.rs:48   reads the initial value
                6  │                                      │                            ends
                7  │                                      atomic 1.fetch_sub 80 → 20                                 crates/report/tests/goldens/explained.rs:48   reads 5
                8  │                                      ends
                9  join thread 1                                                                                     crates/report/tests/goldens/explained.rs:53
               10  join thread 2                                                                                     crates/report/tests/goldens/explained.rs:53
               11  atomic 1.load → 18446744073709551556                                                              crates/report/tests/goldens/explained.rs:54   reads 7
                ✗  panics                                                                                            crates/report/tests/goldens/explained.rs:54

              atomic 1  usize, made at crates/report/tests/goldens/explained.rs:40

              main panicked at crates/report/tests/goldens/explained.rs:54:5

              why: it fails whenever
                1. thread 1: atomic 1.load at crates/report/tests/goldens/explained.rs:45 (step 3)
                   before thread 2: atomic 1.fetch_sub 80 at crates/report/tests/goldens/explained.rs:48 (step 5)
                2. thread 2: atomic 1.fetch_sub 80 at crates/report/tests/goldens/explained.rs:48 (step 5)
                   before thread 1: atomic 1.fetch_sub 80 at crates/report/tests/goldens/explained.rs:48 (step 7)
              proved: all 2 executions that do so fail; no smaller set is enough

              repair: hold one lock around each of these (proved: all 2 executions then possible pass)
                from load at crates/report/tests/goldens/explained.rs:45
                  to fetch_sub 80 at crates/report/tests/goldens/explained.rs:48
        "#]],
    );
}

struct Fork;

fn three_philosophers() {
    let forks: Arc<[Mutex<Fork>; 3]> =
        Arc::new([Mutex::new(Fork), Mutex::new(Fork), Mutex::new(Fork)]);
    let threads: Vec<_> = (0..3)
        .map(|number| {
            let forks = forks.clone();
            thread::spawn(move || {
                let _left = forks[number].lock().unwrap();
                let _right = forks[(number + 1) % 3].lock().unwrap();
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn a_deadlock_of_three() {
    check(
        three_philosophers,
        expect![[r#"
            raddle: test `explained` FAILED — deadlock: 3 threads wait for one another
              found by random after 10 executions (0.4 ms) · 6 steps · replayed once: it fails in the same way
              shrunk from 2 preemptions to 1: no execution without a preemption fails this way

                   main             thread 1       thread 2       thread 3
                1  spawn thread 1   │                                            crates/report/tests/goldens/explained.rs:108
                2  spawn thread 2   │              │                             crates/report/tests/goldens/explained.rs:108
                3  spawn thread 3   │              │              │              crates/report/tests/goldens/explained.rs:108
                4  │                mutex 1.lock   │              │              crates/report/tests/goldens/explained.rs:109
                5  │                │              │              mutex 3.lock   crates/report/tests/goldens/explained.rs:109
                6  │                │              mutex 2.lock   │              crates/report/tests/goldens/explained.rs:109
                ✗  join thread 1    │              │              │              crates/report/tests/goldens/explained.rs:114   blocked forever
                ✗  │                mutex 2.lock   │              │              crates/report/tests/goldens/explained.rs:110   blocked forever
                ✗  │                │              mutex 3.lock   │              crates/report/tests/goldens/explained.rs:110   blocked forever
                ✗  │                │              │              mutex 1.lock   crates/report/tests/goldens/explained.rs:110   blocked forever

              mutex 1  Mutex<Fork>, made at crates/report/tests/goldens/explained.rs:104
              mutex 2  Mutex<Fork>, made at crates/report/tests/goldens/explained.rs:104
              mutex 3  Mutex<Fork>, made at crates/report/tests/goldens/explained.rs:104

              cycle: thread 1 → mutex 2 (held by thread 2, acquired at crates/report/tests/goldens/explained.rs:109)
                   → thread 2 → mutex 3 (held by thread 3, acquired at crates/report/tests/goldens/explained.rs:109)
                   → thread 3 → mutex 1 (held by thread 1, acquired at crates/report/tests/goldens/explained.rs:109)
                   → thread 1

              main waits for thread 1 to end at crates/report/tests/goldens/explained.rs:114
              thread 1 waits for mutex 2 at crates/report/tests/goldens/explained.rs:110
                held by thread 2, acquired at crates/report/tests/goldens/explained.rs:109
              thread 2 waits for mutex 3 at crates/report/tests/goldens/explained.rs:110
                held by thread 3, acquired at crates/report/tests/goldens/explained.rs:109
              thread 3 waits for mutex 1 at crates/report/tests/goldens/explained.rs:110
                held by thread 1, acquired at crates/report/tests/goldens/explained.rs:109

              why: it fails whenever
                1. thread 1: mutex 1.lock at crates/report/tests/goldens/explained.rs:109 (step 4)
                   before thread 3: mutex 1.lock at crates/report/tests/goldens/explained.rs:110 (not yet)
                2. thread 3: mutex 3.lock at crates/report/tests/goldens/explained.rs:109 (step 5)
                   before thread 2: mutex 3.lock at crates/report/tests/goldens/explained.rs:110 (not yet)
                3. thread 2: mutex 2.lock at crates/report/tests/goldens/explained.rs:109 (step 6)
                   before thread 1: mutex 2.lock at crates/report/tests/goldens/explained.rs:110 (not yet)
              proved: all 6 executions that do so fail; no smaller set is enough

              repair: always acquire mutex 2, then mutex 3, then mutex 1 (proved: all 39 executions then possible pass)
                thread 1: mutex 2, now acquired at crates/report/tests/goldens/explained.rs:110, comes before mutex 1, now acquired at crates/report/tests/goldens/explained.rs:109
        "#]],
    );
}

fn lost_wakeup() {
    let shared = Arc::new((AtomicBool::new(false), Mutex::new(()), Condvar::new()));
    let other = {
        let shared = shared.clone();
        thread::spawn(move || {
            shared.0.store(true, SeqCst);
            shared.2.notify_one();
        })
    };
    let guard = shared.1.lock().unwrap();
    if !shared.0.load(SeqCst) {
        drop(shared.2.wait(guard).unwrap());
    }
    other.join().unwrap();
}

#[test]
fn a_lost_wakeup() {
    check(
        lost_wakeup,
        expect![[r#"
            raddle: test `explained` FAILED — deadlock: no thread is runnable
              found by random after 6 executions (0.4 ms) · 8 steps · replayed once: it fails in the same way
              needs 1 preemption: no execution without a preemption fails this way

                   main                    thread 1
                1  spawn thread 1          │                                        crates/report/tests/goldens/explained.rs:174
                2  mutex 1.lock            │                                        crates/report/tests/goldens/explained.rs:179
                3  atomic 1.load → false   │                                        crates/report/tests/goldens/explained.rs:180   reads the initial value
                4  │                       atomic 1.store true                      crates/report/tests/goldens/explained.rs:175
                5  │                       condvar 1.notify_one → wakes no thread   crates/report/tests/goldens/explained.rs:176
                6  │                       ends
                7  condvar 1.wait begins                                            crates/report/tests/goldens/explained.rs:181
                8  mutex 1.unlock                                                   crates/report/tests/goldens/explained.rs:181   acquired in 2
                ✗  condvar 1.wait                                                   crates/report/tests/goldens/explained.rs:181   blocked forever

              atomic 1   bool, made at crates/report/tests/goldens/explained.rs:171
              mutex 1    Mutex<()>, made at crates/report/tests/goldens/explained.rs:171
              condvar 1  made at crates/report/tests/goldens/explained.rs:171

              main waits for a notification of condvar 1 at crates/report/tests/goldens/explained.rs:181
                notified in step 5, at crates/report/tests/goldens/explained.rs:176, when no thread waited

              why: it fails whenever
                1. main: atomic 1.load at crates/report/tests/goldens/explained.rs:180 (step 3)
                   before thread 1: atomic 1.store true at crates/report/tests/goldens/explained.rs:175 (step 4)
                2. thread 1: condvar 1.notify_one at crates/report/tests/goldens/explained.rs:176 (step 5)
                   before main: condvar 1.wait begins at crates/report/tests/goldens/explained.rs:181 (step 7)
              proved: the one execution that does so fails; no smaller set is enough

              repair: hold one lock around each of these (proved: all 6 executions then possible pass)
                from load at crates/report/tests/goldens/explained.rs:180
                  to wait begins at crates/report/tests/goldens/explained.rs:181
                from store true at crates/report/tests/goldens/explained.rs:175
                  to notify_one at crates/report/tests/goldens/explained.rs:176
        "#]],
    );
}

fn always() {
    let value = Arc::new(AtomicUsize::new(0));
    let other = {
        let value = value.clone();
        thread::spawn(move || value.store(1, SeqCst))
    };
    other.join().unwrap();
    assert_eq!(value.load(SeqCst), 2, "always");
}

#[test]
fn every_execution_fails() {
    check(
        always,
        expect![[r#"
            raddle: test `explained` FAILED — assertion `left == right` failed: always: left: 1, right: 2
              found by random after 1 execution (0.4 ms) · 5 steps · replayed once: it fails in the same way

                   main                thread 1
                1  spawn thread 1      │                  crates/report/tests/goldens/explained.rs:233
                2  │                   atomic 1.store 1   crates/report/tests/goldens/explained.rs:233
                3  │                   ends
                4  join thread 1                          crates/report/tests/goldens/explained.rs:235
                5  atomic 1.load → 1                      crates/report/tests/goldens/explained.rs:236   reads 2
                ✗  panics                                 crates/report/tests/goldens/explained.rs:236

              atomic 1  usize, made at crates/report/tests/goldens/explained.rs:230

              main panicked at crates/report/tests/goldens/explained.rs:236:5

              why: every execution fails this way (proved: 1 execution)

              repair: none found; tried: one order of locks, one lock around the steps of the causes, one cause turned round, other memory orderings
        "#]],
    );
}

/// Fifty threads with ten steps each, of which four matter.
#[test]
fn what_matters_of_many_threads_fits_forty_lines() {
    let mut build = Build::with_threads(50);
    let [noise, value] = [0; 2].map(|_| build.object(ObjectKind::Atomic(Scalar::U32)));
    let load = Action::Atomic(AtomicOp::Load { order: Order::SeqCst });
    let store = Action::Atomic(AtomicOp::Store { order: Order::SeqCst, value: 1 });
    for thread in 1..=50 {
        for turn in 0..10 {
            let (object, action) = match (thread, turn) {
                (7, 4) | (31, 4) => (value, load),
                (7, 5) | (31, 5) => (value, store),
                _ => (noise, load),
            };
            build.step(thread, object, action, Effect::Value(0), site::three());
        }
    }
    let trace = build.finish();
    let positions: Vec<usize> = (0..trace.events.len())
        .filter(|&position| trace.events[position].op.object() == value)
        .collect();
    let event = |at: usize| {
        let Event { id, op, site, .. } = trace.events[positions[at]];
        CauseEvent { thread: id.thread, op, site, nth: 0, position: Some(positions[at]) }
    };
    let orderings = [(0, 3), (2, 1)]
        .map(|(before, after)| OrderedPair { before: event(before), after: event(after) });
    let certificate = Certificate {
        sufficient: Sufficiency::Sampled { executions: 100 },
        refuted: 2,
        counterexamples: vec!["r1-OTHER".into()],
    };
    let size = RunSize { preemptions: 1, blocks: 51, unusual_choices: 0, steps: 550 };
    let from = RunSize { preemptions: 40, blocks: 150, ..size };
    let shrunk = Shrunk { from, to: size, minimal: false, found_token: "r1-FOUND".into() };
    let mut explanation = Explanation::new(shrunk, 700, Some(CutOff::Time));
    explanation.causes = Some(Causes { orderings: orderings.into(), certificate });
    let mut report = failed(panic(31, "an update got lost"), trace);
    if let Verdict::Failed(failure) = &mut report.verdict {
        failure.explanation = Some(Box::new(explanation));
    }
    json::parsed(&report);
    let text = raddle_report::text(&report);
    let picture = text.split("\n\n").nth(1).expect("a picture");
    assert!(picture.lines().count() <= 40, "{text}");
    for position in positions {
        let is_shown =
            |line: &str| line.split_whitespace().next() == Some(&(position + 1).to_string());
        assert!(picture.lines().any(is_shown), "{position}: {text}");
    }
    let told: Vec<&str> = text
        .lines()
        .filter(|line| {
            ["shrunk", "why", "1.", "2.", "before", "not proved", "…"]
                .iter()
                .any(|word| line.trim_start().starts_with(word))
        })
        // All lines are indented, which the expected text cannot say.
        .map(|line| line.strip_prefix("  ").expect("an indented line"))
        .collect();
    expect![[r#"
          shrunk from 40 preemptions to 1 · ended by its time limit
               … 114 steps of 8 threads …
               … 238 steps of 25 threads …
               … 3 steps of thread 31 …
               … 100 steps of 10 threads …
               … 9 steps of thread 42 …
               … 8 steps of thread 43 …
               … 8 steps of thread 44 …
               … 8 steps of thread 45 …
               … 8 steps of thread 46 …
               … 8 steps of thread 47 …
               … 8 steps of thread 48 …
               … 8 steps of thread 49 …
               … 5 steps of thread 50 …
          why: it fails whenever
            1. thread 7: atomic 2.load at crates/report/tests/goldens/site.rs:13 (step 115)
               before thread 31: atomic 2.store 1 at crates/report/tests/goldens/site.rs:13 (step 356)
            2. thread 31: atomic 2.load at crates/report/tests/goldens/site.rs:13 (step 355)
               before thread 7: atomic 2.store 1 at crates/report/tests/goldens/site.rs:13 (step 116)
          not proved: 100 of 100 drawn executions that do so fail (at least 97 % with 95 % confidence); no smaller set is enough"#]].assert_eq(&told.join("\n"));
}

fn unpublished() {
    let shared = Arc::new((AtomicUsize::new(0), AtomicBool::new(false)));
    let other = shared.clone();
    let writer = thread::spawn(move || {
        other.0.store(7, Relaxed);
        other.1.store(true, Relaxed);
    });
    if shared.1.load(Acquire) {
        assert_eq!(shared.0.load(Relaxed), 7, "the value is missing");
    }
    writer.join().unwrap();
}

#[test]
fn a_weak_memory_bug() {
    let config = raddle::Config::new().name("explained").strategy("dfs");
    check_with(
        config.memory(raddle::Memory::Rc11),
        unpublished,
        expect![[r#"
            raddle: test `explained` FAILED — assertion `left == right` failed: the value is missing: left: 0, right: 7
              found by dfs after 2 executions (0.4 ms) · 6 steps · replayed once: it fails in the same way

                   main                             thread 1
                1  spawn thread 1                   │                               crates/report/tests/goldens/explained.rs:352
                2  │                                atomic 1.store 7 (Relaxed)      crates/report/tests/goldens/explained.rs:353
                3  │                                atomic 2.store true (Relaxed)   crates/report/tests/goldens/explained.rs:354
                4  │                                ends
                5  atomic 2.load (Acquire) → true                                   crates/report/tests/goldens/explained.rs:356   reads 3
                6  atomic 1.load (Relaxed) → 0                                      crates/report/tests/goldens/explained.rs:357   reads the initial value, stale: 2 is newer
                ✗  panics                                                           crates/report/tests/goldens/explained.rs:357

              atomic 1  usize, made at crates/report/tests/goldens/explained.rs:350
              atomic 2  bool, made at crates/report/tests/goldens/explained.rs:350

              Step 6 read the initial value, although step 2 is newer: step 5 read what step 3 stored, but step 3 does not release.
                It would need Release in step 3, or fence(Release) between step 2 (crates/report/tests/goldens/explained.rs:353) and step 3 (crates/report/tests/goldens/explained.rs:354).
              Memory model RC11: load buffering was not explored.

              main panicked at crates/report/tests/goldens/explained.rs:357:9

              repair: by memory orderings (proved: all 2 executions then possible pass)
                store at crates/report/tests/goldens/explained.rs:354: Relaxed → Release
        "#]],
    );
}

fn waits_for_nobody() {
    let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
    let other = flags.clone();
    let thread = thread::spawn(move || {
        while !other[0].load(SeqCst) {
            raddle::hint::spin_loop();
        }
        other[1].store(true, SeqCst);
    });
    while !flags[1].load(SeqCst) {
        raddle::hint::spin_loop();
    }
    flags[0].store(true, SeqCst);
    thread.join().unwrap();
}

/// What threads left on their stacks before is no part of the report.
#[test]
fn a_livelock() {
    let run = || {
        let config = raddle::Config::new().name("explained").strategy("random");
        raddle_report::text(&settled(config.run(waits_for_nobody)))
    };
    let text = run();
    race();
    raddle::Config::new().runs(3).run(|| {
        let words = std::hint::black_box([u64::MAX; 512]);
        raddle::thread::spawn(move || std::hint::black_box(words)).join().unwrap();
    });
    assert_eq!(run(), text);
    let first = text.lines().next().expect("a report");
    let end = text.find("    ✗").expect("the last operations of the threads");
    let replay = text.find("  replay: ").expect("a token");
    expect![[r#"
        raddle: test `explained` FAILED — 2 threads wait forever in loops
            ✗  atomic 2.load → false   │                       crates/report/tests/goldens/explained.rs:405   again and again
            ✗  │                       atomic 1.load → false   crates/report/tests/goldens/explained.rs:400   again and again

          atomic 1  bool, made at crates/report/tests/goldens/explained.rs:397
          atomic 2  bool, made at crates/report/tests/goldens/explained.rs:397

          main waits in a loop, and changes nothing:
            atomic 2.load → false at crates/report/tests/goldens/explained.rs:405 (atomic 2 was never changed)
          thread 1 waits in a loop, and changes nothing:
            atomic 1.load → false at crates/report/tests/goldens/explained.rs:400 (atomic 1 was never changed)
          No thread is left that could change what is looked at.
    "#]]
    .assert_eq(&format!("{first}\n{}\n", text[end..replay].trim_end()));
}

fn race() {
    let shared = Arc::new((Shared::new(0), AtomicBool::new(false)));
    let other = shared.clone();
    let writer = thread::spawn(move || {
        other.0.set(7);
        other.1.store(true, Relaxed);
    });
    if shared.1.load(Acquire) {
        assert_eq!(shared.0.get(), 7);
    }
    writer.join().unwrap();
}

#[test]
fn a_data_race() {
    let config = raddle::Config::new().name("explained").strategy("dpor");
    check_with(
        config,
        race,
        expect![[r#"
            raddle: test `explained` FAILED — data race on cell 1: thread 1 writes and main reads
              found by dpor after 2 executions (0.4 ms) · 6 steps · replayed once: it fails in the same way
              needs 1 preemption: no execution without a preemption fails this way

                   main                             thread 1
                1  spawn thread 1                   │                               crates/report/tests/goldens/explained.rs:449
                ✗  │                                writes cell 1                   crates/report/tests/goldens/explained.rs:450
                2  │                                atomic 1.store true (Relaxed)   crates/report/tests/goldens/explained.rs:451
                3  │                                ends
                4  atomic 1.load (Acquire) → true                                   crates/report/tests/goldens/explained.rs:453   reads 2
                ✗  reads cell 1                                                     crates/report/tests/goldens/explained.rs:454
                5  join thread 1                                                    crates/report/tests/goldens/explained.rs:456
                6  ends

              cell 1    Shared<i32>, made at crates/report/tests/goldens/explained.rs:447
              atomic 1  bool, made at crates/report/tests/goldens/explained.rs:447

              Nothing orders these accesses to cell 1:
                thread 1  writes  at crates/report/tests/goldens/explained.rs:450
                main      reads   at crates/report/tests/goldens/explained.rs:454
              No lock, join or message separates them, and no acquire reads what the first thread
              released.

              repair: by memory orderings (proved: all 2 executions then possible pass)
                store at crates/report/tests/goldens/explained.rs:451: Relaxed → Release
        "#]],
    );
}
