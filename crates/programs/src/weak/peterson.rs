//! Peterson's mutual exclusion: each of two threads raises its flag and gives the turn to the other. It enters if the
//! other's flag is down or it has the turn again.
//!
//! All accesses are sequentially consistent. In the bugged form thread 0 raises its flag by a release store, which is not
//! in the order of the sequentially consistent accesses. After thread 0 has entered because it read the other's flag as
//! down, thread 1 may still read the initial `false` of thread 0's flag, because nothing synchronises with thread 0. Then
//! thread 1 enters too.

use raddle::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Release, SeqCst},
};

use super::{Failure, Instance, Model, Origin, Program, Space, WAITING, exclude};

pub(super) const PROGRAM: Program = Program {
    name: "peterson",
    origin: Origin::Classic,
    about: "mutual exclusion by flags and a turn; thread 0 raises its flag by a release store",
    failure: Failure::Either,
    model: Model::Rc11,
    space: Space::Small,
    threads: 3,
    tries: WAITING,
    body,
};

fn body(instance: Instance) {
    let flags = [AtomicBool::new(false), AtomicBool::new(false)];
    let turn = AtomicUsize::new(0);
    exclude(instance, 2, move |me, section| {
        let other = 1 - me;
        flags[me].store(true, if me == 0 { instance.order(Release, SeqCst) } else { SeqCst });
        turn.store(other, SeqCst);
        if instance.wait(|| !flags[other].load(SeqCst) || turn.load(SeqCst) == me) {
            section();
            flags[me].store(false, SeqCst);
        }
    });
}
