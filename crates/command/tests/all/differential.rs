//! Systematic searches and samples agree on the classes of executions, for each primitive alone and in pairs.
//!
//! `dfs` makes every execution, and so counts every class. `dpor` must make one execution of each class, and sampling
//! must not see a class that they do not.

use crate::world::World;

const PRIMITIVES: [&str; 36] = [
    "atomic",
    "exchange",
    "mutex",
    "trylock",
    "timedlock",
    "recursive",
    "condvar",
    "timedwait",
    "rwlock",
    "readers",
    "barrier",
    "once",
    "call_once",
    "spin",
    "semaphore",
    "tokens",
    "sem_timedwait",
    "c11",
    "count",
    "futex",
    "futex_timed",
    "requeue",
    "raw_futex",
    "cnd",
    "c11_timed",
    "clockwait",
    "errorcheck",
    "writers",
    "timed_rwlock",
    "spin_try",
    "thread",
    "detached",
    "thrd",
    "key",
    "tss",
    "sleep",
];

struct Checker {
    world: World,
    program: String,
}

impl Checker {
    fn new(name: &str) -> Checker {
        Checker::of(name, "primitives.c", &[])
    }

    fn of(name: &str, source: &str, flags: &[&str]) -> Checker {
        let world = World::new(name);
        let program = world.build(source, flags);
        Checker { world, program }
    }

    /// Returns the number of executions, and of their classes.
    fn counts(&self, strategy: &str, runs: &str, primitives: &[&str]) -> (u64, u64) {
        let words = ["run", "--strategy", strategy, "--runs", runs, "--time", "900s"];
        let program = ["--format", "json", "--", &self.program];
        let done = self.world.raddle(&[&words[..], &program, primitives].concat()).ends_with(0);
        let (executions, is_all) = done.executions();
        assert!(is_all || strategy == "pos", "{strategy} {primitives:?}: {}", done.text);
        (executions, done.number("classes"))
    }

    fn agree(&self, primitives: &[&str], samples: &str) {
        let (_, all) = self.counts("dfs", "1_000_000", primitives);
        let (executions, classes) = self.counts("dpor", "1_000_000", primitives);
        assert_eq!((executions, classes), (all, all), "dpor: {primitives:?}");
        let (_, sampled) = self.counts("pos", samples, primitives);
        assert!(sampled <= all, "pos saw {sampled} classes of {all}: {primitives:?}");
    }
}

#[test]
fn each_primitive_alone() {
    let checker = Checker::new("alone");
    for primitive in PRIMITIVES {
        checker.agree(&[primitive], "10_000");
    }
}

/// All pairs with `RADDLE_TEST_SCALE`, and otherwise each primitive with one other.
#[test]
fn primitives_in_pairs() {
    let checker = Checker::new("pairs");
    let is_full = std::env::var_os("RADDLE_TEST_SCALE").is_some();
    for (index, first) in PRIMITIVES.iter().enumerate() {
        for (other, second) in PRIMITIVES.iter().enumerate() {
            let distance = (other + PRIMITIVES.len() - index) % PRIMITIVES.len();
            if is_full || distance == 7 {
                checker.agree(&[first, second], "1_000");
            }
        }
    }
}

/// All primitives in one program, as far as few preemptions go: `bpor` has the classes that all interleavings with so
/// many preemptions have. The first of them create no threads, so that there are fewer.
#[test]
fn all_primitives_together() {
    let checker = Checker::new("together");
    let more = usize::from(std::env::var_os("RADDLE_TEST_SCALE").is_some());
    for (primitives, most) in [(&PRIMITIVES[..22], 2 + more), (&PRIMITIVES, more)] {
        for preemptions in 0..=most {
            for first in [0, 7, 15] {
                let mut primitives = primitives.to_vec();
                primitives.rotate_left(first);
                let classes = ["dfs", "bpor"].map(|search| {
                    let strategy = format!("{search}:{preemptions}");
                    checker.counts(&strategy, "10_000_000", &primitives).1
                });
                assert_eq!(classes[0], classes[1], "{preemptions} preemptions from {first} on");
            }
        }
    }
}

/// Programs that use one primitive as it is meant to be used.
#[test]
fn whole_programs() {
    for (source, flags) in [
        ("robust.c", &[][..]),
        ("futex_lock.c", &[]),
        ("futex_lock.c", &["-DRAW"]),
        ("sizes.c", &["-DFIXED"]),
        ("wide.c", &["-DFIXED", "-mcx16"]),
        ("guards.cpp", &[]),
    ] {
        Checker::of("whole", source, flags).agree(&[], "1_000");
    }
}
