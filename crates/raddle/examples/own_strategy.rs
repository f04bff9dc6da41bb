//! Custom strategies: a chooser that switches threads at every step, and a search that tries every single preemption.
//!
//! ```sh
//! cargo run -p raddle --example own_strategy
//! ```

use raddle::Config;
use raddle::strategy::{
    Choice, Choices, Chooser, Covered, Event, Explorer, Pick, Point, Rng, Schedule, ThreadId, Trace,
};
use raddle::sync::atomic::{AtomicU32, Ordering};
use raddle::thread;

/// Chooses at random among the threads other than that of the last step.
struct AlwaysSwitch {
    rng: Rng,
}

impl AlwaysSwitch {
    fn new(seed: u64) -> AlwaysSwitch {
        AlwaysSwitch { rng: Rng::new(seed) }
    }
}

impl Chooser for AlwaysSwitch {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let last = past.last().map(|event| event.id.thread);
        let others: Vec<usize> = match at {
            Point::Thread(threads) => (0..threads.enabled.len())
                .filter(|&option| Some(threads.enabled[option]) != last)
                .collect(),
            Point::Source { .. } | Point::Place { .. } | Point::Value { .. } => Vec::new(),
        };
        Pick::Take(match others.len() {
            0 => self.rng.below(at.options()),
            others_count => others[self.rng.below(others_count)],
        })
    }
}

/// Runs the program without preemptions, then once with each possible preemption.
#[derive(Default)]
struct EachPreemption {
    /// The choices up to and including each preemption that was not tried.
    planned: Vec<Schedule>,
    chooser: NoPreemption,
    runs: u64,
}

/// Continues the running thread, and records where others were enabled.
#[derive(Default)]
struct NoPreemption {
    /// The number of choices made.
    choices: usize,
    /// The number of choices before each point at which a preemption is possible, and the other threads.
    preemptions: Vec<(usize, Vec<ThreadId>)>,
}

impl Explorer for EachPreemption {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        prefix.clear();
        if self.runs > 0 {
            let Some(planned) = self.planned.pop() else { return false };
            prefix.extend(planned);
        }
        self.chooser = NoPreemption::default();
        true
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(&mut self.chooser)
    }

    fn learn(&mut self, run: u64, trace: &Trace) {
        self.runs = run + 1;
        if run > 0 {
            return;
        }
        let schedule = trace.schedule();
        for (before, others) in &self.chooser.preemptions {
            for &thread in others {
                let mut planned = schedule[..*before].to_vec();
                planned.push(Choice::Thread(thread));
                self.planned.push(planned);
            }
        }
    }

    /// There are more executions with at most one preemption: they can also differ in which thread runs first.
    fn covered(&self, _is_done: bool) -> Covered {
        Covered::Nothing
    }
}

impl Chooser for NoPreemption {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let mut option = 0;
        if let (Point::Thread(threads), Some(last)) = (at, past.last()) {
            let running = last.id.thread;
            if let Some(own) = threads.enabled.iter().position(|&thread| thread == running) {
                option = own;
                let others = threads.enabled.iter().copied().filter(|&thread| thread != running);
                self.preemptions.push((self.choices, others.collect()));
            }
        }
        self.choices += 1;
        Pick::Take(option)
    }
}

/// Two threads increment a counter, by a load and a store each.
fn lost_update() {
    let count = AtomicU32::new(0);
    let increment = || {
        let seen = count.load(Ordering::SeqCst);
        count.store(seen + 1, Ordering::SeqCst);
    };
    thread::scope(|scope| {
        scope.spawn(increment);
        increment();
    });
    assert_eq!(count.load(Ordering::SeqCst), 2, "an update is lost");
}

fn by_chooser() -> raddle::Report {
    Config::new().name("lost update").runs(100).chooser(AlwaysSwitch::new).run(lost_update)
}

fn by_explorer() -> raddle::Report {
    Config::new().name("lost update").explorer(|_seed| EachPreemption::default()).run(lost_update)
}

fn main() {
    println!("{}\n", raddle::text(&by_chooser()));
    println!("{}", raddle::text(&by_explorer()));
}

#[test]
fn both_find_the_bug() {
    for (report, strategy) in [(by_chooser(), "AlwaysSwitch"), (by_explorer(), "EachPreemption")] {
        assert_eq!(report.strategy, strategy);
        let failure = report.failure().expect("there is a bug");
        assert!(failure.reproduced, "{}", raddle::text(&report));
    }
}

/// A chooser gives the same result on several OS threads, and failures are counted by cause.
#[test]
fn a_chooser_samples_like_a_named_strategy() {
    let config = || Config::new().name("lost update").runs(500).chooser(AlwaysSwitch::new);
    let (one, two) = (config().run(lost_update), config().threads(2).run(lost_update));
    assert_eq!(one.failure().unwrap().token, two.failure().unwrap().token);
    let report = config().keep_going(true).run(lost_update);
    let failures = report.failures.as_ref().expect("failures are counted");
    assert_eq!((failures.runs, failures.causes.len()), (500, 1));
}

/// A search ends at the first failure.
#[test]
fn an_explorer_cannot_keep_going() {
    let config = Config::new().explorer(|_seed| EachPreemption::default()).keep_going(true);
    let error = config.try_run(lost_update).expect_err("a search ends at the first failure");
    assert!(error.to_string().contains("`EachPreemption` ends at the first failure"), "{error}");
}
