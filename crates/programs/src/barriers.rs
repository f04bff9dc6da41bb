//! Parallel phases with a missing barrier: PARSEC's streamcluster in three versions, and SPLASH-2's Barnes, FFT and LU,
//! whose macro that waits for the end of all threads expands to nothing.

use std::sync::atomic::{AtomicBool as Quiet, AtomicU32 as QuietCount, Ordering::Relaxed};

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::sync::{Arc, Barrier, Mutex};
use raddle::thread;

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all, start};

pub(super) const STREAMCLUSTER: Program = Program {
    name: "streamcluster",
    origin: Origin::SctBench,
    about: "the master closes a round before all workers have tested whether it is open",
    failure: Failure::Assertion,
    class: Class::Order,
    granularity: Granularity::All,
    space: Space::Acyclic,
    size: Size::FIXED,
    threads: |_| 5,
    body: |form, _| run(form, Missing::AfterRound),
};

pub(super) const STREAMCLUSTER_2: Program = Program {
    name: "streamcluster2",
    about: "workers use the table of costs before the master has created it",
    body: |form, _| run(form, Missing::AfterAllocation),
    ..STREAMCLUSTER
};

pub(super) const STREAMCLUSTER_3: Program = Program {
    name: "streamcluster3",
    about: "all threads sum up a table; the master drops it while others read it",
    class: Class::Lifetime,
    body: |form, _| run(form, Missing::BeforeDrop),
    ..STREAMCLUSTER
};

pub(super) const BARNES: Program = Program {
    name: "barnes",
    about: "main does not wait for the other thread before it tests whether it has finished",
    granularity: Granularity::Sync,
    space: Space::Cyclic,
    threads: |_| 2,
    body: |form, _| wait_for_end(form, 60, Meeting::Spinning),
    ..STREAMCLUSTER
};

pub(super) const FFT: Program = Program {
    name: "splash-fft",
    body: |form, _| wait_for_end(form, 20, Meeting::Spinning),
    ..BARNES
};

pub(super) const LU: Program = Program {
    name: "splash-lu",
    body: |form, _| wait_for_end(form, 40, Meeting::Spinning),
    ..BARNES
};

pub(super) const PCT_SPLASH: Program = Program {
    name: "pct-splash",
    origin: Origin::Pct,
    about: "two threads work; main does not wait for the other (FFT, LU and Barnes, by size)",
    space: Space::Acyclic,
    size: Size { counts: "critical sections each", least: 1, usual: 20, most: 5_000 },
    body: |form, work| wait_for_end(form, work, Meeting::None),
    ..BARNES
};

/// The barrier that is missing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    AfterRound,
    AfterAllocation,
    BeforeDrop,
}

const WORKERS: usize = 4;

struct Cluster {
    /// The missing barrier of the bugged form. `None` in the fixed form.
    missing: Option<Missing>,
    barrier: Barrier,
    table: Quiet,
    costs: Shared<bool>,
    is_open: Shared<bool>,
    sum: Mutex<u32>,
}

fn run(form: Form, missing: Missing) {
    let cluster = Arc::new(Cluster {
        missing: (form == Form::Bugged).then_some(missing),
        barrier: Barrier::new(WORKERS),
        table: Quiet::new(true),
        costs: Shared::new(false),
        is_open: Shared::new(true),
        sum: Mutex::new(0),
    });
    let bodies: [fn(&Cluster); WORKERS] = [
        |cluster| cluster.work(0),
        |cluster| cluster.work(1),
        |cluster| cluster.work(2),
        |cluster| {
            cluster.work(3);
        },
    ];
    join_all(start(&cluster, &bodies));
}

impl Cluster {
    fn work(&self, me: usize) {
        let is_master = me == 0;
        if is_master {
            self.costs.set(true);
        }
        self.wait_unless(Missing::AfterAllocation);
        assert!(self.costs.get(), "the table of costs does not exist yet");

        *self.sum.lock().unwrap() += 1;
        self.barrier.wait();
        assert!(self.is_open.get(), "the round was closed too early");
        self.wait_unless(Missing::AfterRound);
        if is_master {
            self.is_open.set(false);
        }

        *self.sum.lock().unwrap() += 1;
        self.barrier.wait();
        let sum = self.sum.lock().unwrap();
        assert!(self.table.load(Relaxed), "the table was dropped");
        drop(sum);
        self.wait_unless(Missing::BeforeDrop);
        if is_master {
            self.table.store(false, Relaxed);
        }
    }

    fn wait_unless(&self, missing: Missing) {
        if self.missing != Some(missing) {
            self.barrier.wait();
        }
    }
}

/// Whether the threads wait for each other before they finish.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meeting {
    None,
    /// They spin at a barrier.
    Spinning,
}

/// Main and another thread work and finish. Main does not wait for the other thread.
fn wait_for_end(form: Form, work: u32, meeting: Meeting) {
    struct Splash {
        work: u32,
        meeting: Meeting,
        lock: Mutex<u32>,
        arrived: AtomicU32,
        finished: QuietCount,
    }
    impl Splash {
        fn phase(&self) {
            for _ in 0..self.work {
                *self.lock.lock().unwrap() += 1;
            }
            if self.meeting == Meeting::Spinning {
                self.arrived.fetch_add(1, SeqCst);
                while self.arrived.load(SeqCst) < 2 {
                    thread::yield_now();
                }
            }
            *self.lock.lock().unwrap() += 1;
            self.finished.fetch_add(1, Relaxed);
        }
    }
    let splash = Arc::new(Splash {
        work,
        meeting,
        lock: Mutex::new(0),
        arrived: AtomicU32::new(0),
        finished: QuietCount::new(0),
    });
    let mut other = start(&splash, &[Splash::phase]);
    splash.phase();
    if form == Form::Fixed {
        join_all(std::mem::take(&mut other));
    }
    assert_eq!(splash.finished.load(Relaxed), 2, "threads that have finished");
    join_all(other);
}
