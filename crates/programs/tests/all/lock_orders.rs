//! Deadlocks that are repaired by one order of locks: the order that a report names is applied to the program, which is then
//! searched by another strategy.

use raddle::sync::{Arc, Mutex, MutexGuard};
use raddle::{Change, Config, Finding, MovedLock, Report, Verdict, thread};
use raddle_testkit::scaled;

const LOCKS: usize = 3;

/// What a thread does: it acquires the lock with this number, for the how-manieth time it acquires any, or releases it.
#[derive(Copy, Clone, PartialEq, Debug)]
enum Step {
    Acquire(usize, u32),
    Release(usize),
}

type Scripts = Vec<Vec<Step>>;

/// Returns what a thread does that acquires at most `steps` locks, some of them while it has others.
fn script(draw: &mut impl FnMut(usize) -> usize, steps: usize) -> Vec<Step> {
    let (mut held, mut script, mut nth) = (Vec::new(), Vec::new(), 0);
    for _ in 0..steps {
        let lock = draw(LOCKS);
        match held.iter().position(|one| *one == lock) {
            Some(at) => {
                held.remove(at);
                script.push(Step::Release(lock));
            }
            None => {
                held.push(lock);
                script.push(Step::Acquire(lock, nth));
                nth += 1;
            }
        }
    }
    script.extend(held.into_iter().rev().map(Step::Release));
    script
}

fn check(scripts: &Scripts, strategy: &str) -> Report {
    let scripts = Arc::new(scripts.clone());
    let config = Config::new().name("locks").strategy(strategy).unlimited_time().runs(u64::MAX);
    config.run(move || {
        let locks: Arc<[Mutex<()>; LOCKS]> = Arc::default();
        let threads: Vec<_> = (0..scripts.len())
            .map(|number| {
                let (scripts, locks) = (scripts.clone(), locks.clone());
                thread::spawn(move || perform(&scripts[number], &locks))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    })
}

fn perform(script: &[Step], locks: &[Mutex<()>; LOCKS]) {
    let mut held: [Option<MutexGuard<'_, ()>>; LOCKS] = Default::default();
    for step in script {
        match *step {
            Step::Acquire(lock, _) => held[lock] = Some(locks[lock].lock().unwrap()),
            Step::Release(lock) => held[lock] = None,
        }
    }
}

/// Returns the program with the change that a repair asks for.
fn changed(scripts: &Scripts, moved: &[MovedLock]) -> Scripts {
    let mut changed = scripts.clone();
    for MovedLock { first, second } in moved {
        let script = &mut changed[first.thread.index() - 1];
        let at = |script: &[Step], wanted: u32| {
            let is = |step: &Step| matches!(step, Step::Acquire(_, nth) if *nth == wanted);
            script.iter().position(is).expect("the thread acquires it")
        };
        let step = script.remove(at(script, first.nth));
        let place = at(script, second.nth);
        script.insert(place, step);
    }
    changed
}

/// Returns what a report says has to come before what.
fn moved(report: &Report) -> Option<Vec<MovedLock>> {
    let explanation = report.failure()?.explanation.as_ref()?;
    explanation.repairs.iter().find_map(|repair| match &repair.change {
        Change::LockOrder { moved, .. } => Some(moved.clone()),
        _ => None,
    })
}

fn is_exhausted(report: &Report) -> bool {
    matches!(report.verdict, Verdict::Exhausted)
}

/// Every order that a report claims is one with which nothing fails.
#[test]
fn orders_repair_random_programs() {
    let (mut deadlocks, mut repaired) = (0, 0);
    for seed in 0..scaled(40) {
        let mut state = seed;
        let mut draw = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        (0..3).for_each(|_| _ = draw(2));
        let scripts: Scripts = (0..2 + draw(2))
            .map(|_| {
                let steps = 2 + draw(3);
                script(&mut draw, steps)
            })
            .collect();
        let report = check(&scripts, "dpor");
        let Some(failure) = report.failure() else { continue };
        assert!(matches!(failure.finding, Finding::Deadlock(_)));
        deadlocks += 1;
        let Some(moved) = moved(&report) else { continue };
        repaired += 1;
        let changed = changed(&scripts, &moved);
        let after = check(&changed, "dfs");
        assert!(is_exhausted(&after), "{scripts:?}\n{changed:?}\n{report}\n{after}");
    }
    println!("{repaired} of {deadlocks} deadlocks are repaired by one order of locks");
    assert!(repaired >= scaled(4) && repaired * 3 >= deadlocks, "{repaired} of {deadlocks}");
}

/// A thread that waits for another one while it has a lock: no order of the locks helps.
#[test]
fn waits_for_other_things_are_not_repaired_by_an_order() {
    let report = Config::new().strategy("dpor").run(|| {
        let locks = Arc::new((Mutex::new(()), Mutex::new(())));
        let other = locks.clone();
        let thread = thread::spawn(move || {
            let _second = other.1.lock().unwrap();
            let _first = other.0.lock().unwrap();
        });
        let first = locks.0.lock().unwrap();
        thread.join().unwrap();
        drop(first);
    });
    assert!(matches!(report.failure().unwrap().finding, Finding::Deadlock(_)));
    assert!(moved(&report).is_none(), "{report}");
}
