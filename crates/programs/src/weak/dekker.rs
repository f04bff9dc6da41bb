//! Dekker's mutual exclusion: each of two threads raises its flag and reads the other's. The thread whose turn it is not
//! lowers its flag again and waits for its turn.
//!
//! `dekker`, as in the PCTWM paper: relaxed accesses and fences. The bugged form lacks thread 0's first
//! sequentially consistent fence. This is store buffering: with a fence on one side only, each thread's
//! load of the other's flag may read the initial `false`, both enter, and their accesses race. One
//! fence in each thread forbids it (psc: a load that reads from before the other's store orders the
//! fences).
//!
//! `dekker-accesses`: no fences, all accesses sequentially consistent. In the bugged form thread 0
//! raises its flag by a release store. That store has no place in the order of the sequentially
//! consistent accesses, so thread 1 may read `false` although thread 0 has read `false` before: both
//! enter.

use raddle::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{self, Acquire, Relaxed, Release, SeqCst},
    fence,
};

use super::super::Form;
use super::{Failure, Instance, Model, Origin, Program, Published, Space, WAITING, exclude};

pub(super) const FENCES: Program = Program {
    name: "dekker",
    origin: Origin::Pctwm(Published {
        events: 20,
        communication: 14,
        depth: 0,
        by_depth: [(100.0, 1), (77.1, 1), (75.7, 1)],
        by_history: (1, [77.1, 69.7, 67.4, 65.3]),
    }),
    about: "mutual exclusion by relaxed flags and fences; thread 0's first fence is missing",
    failure: Failure::Either,
    model: Model::Rc11,
    space: Space::Small,
    threads: 3,
    tries: WAITING,
    body: fences,
};

pub(super) const ACCESSES: Program = Program {
    name: "dekker-accesses",
    origin: Origin::Classic,
    about: "mutual exclusion by sequentially consistent flags; thread 0 raises its flag by a release",
    failure: Failure::Either,
    model: Model::Rc11,
    space: Space::Small,
    threads: 3,
    tries: WAITING,
    body: accesses,
};

struct Dekker {
    flags: [AtomicBool; 2],
    turn: AtomicUsize,
}

impl Dekker {
    fn new() -> Dekker {
        Dekker {
            flags: [AtomicBool::new(false), AtomicBool::new(false)],
            turn: AtomicUsize::new(0),
        }
    }
}

fn fences(instance: Instance) {
    let Dekker { flags, turn } = Dekker::new();
    exclude(instance, 2, move |me, section| {
        let other = 1 - me;
        flags[me].store(true, Relaxed);
        if me == 1 || instance.form == Form::Fixed {
            fence(SeqCst);
        }
        let entered = instance.retry(|| {
            if !flags[other].load(Relaxed) {
                return Some(true);
            }
            if turn.load(Relaxed) != me {
                flags[me].store(false, Relaxed);
                if !instance.wait(|| turn.load(Relaxed) == me) {
                    return Some(false);
                }
                flags[me].store(true, Relaxed);
                fence(SeqCst);
            }
            None
        });
        if entered == Some(true) {
            fence(Acquire);
            section();
            turn.store(other, Relaxed);
        }
        fence(Release);
        flags[me].store(false, Relaxed);
    });
}

fn accesses(instance: Instance) {
    let Dekker { flags, turn } = Dekker::new();
    exclude(instance, 2, move |me, section| {
        let other = 1 - me;
        let raise: Ordering = if me == 0 { instance.order(Release, SeqCst) } else { SeqCst };
        flags[me].store(true, raise);
        let entered = instance.retry(|| {
            if !flags[other].load(SeqCst) {
                return Some(true);
            }
            if turn.load(SeqCst) != me {
                flags[me].store(false, SeqCst);
                if !instance.wait(|| turn.load(SeqCst) == me) {
                    return Some(false);
                }
                flags[me].store(true, SeqCst);
            }
            None
        });
        if entered == Some(true) {
            section();
            turn.store(other, SeqCst);
        }
        flags[me].store(false, SeqCst);
    });
}
