//! The running example of the POS paper (Fig. 2): two threads with ten events, which fail in one total order. Main is
//! thread A.
//!
//! A random walk finds the failure with probability 1/128, BasicPOS with 1/120, POS with 1/48.

use raddle::Granularity;
use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::thread;

use super::{Class, Failure, Form, Origin, Program, Size, Space};

pub(super) const PROGRAM: Program = Program {
    name: "pos-fig2",
    origin: Origin::Pos,
    about: "the running example of the POS paper: one order of ten events fails",
    failure: Failure::Assertion,
    class: Class::Atomicity,
    granularity: Granularity::Sync,
    space: Space::Acyclic,
    size: Size::FIXED,
    threads: |_| 2,
    body,
};

#[derive(Default)]
struct Variables {
    x: AtomicU32,
    y: AtomicU32,
    z: AtomicU32,
}

fn body(form: Form, _size: u32) {
    let variables = Arc::new(Variables::default());
    let shared = variables.clone();
    let b = thread::spawn(move || {
        let Variables { x, y, z } = &*shared;
        x.store(1, SeqCst);
        let a = x.load(SeqCst);
        y.store(a, SeqCst);
        thread::park();
        let b = y.load(SeqCst);
        z.store(a + b, SeqCst);
    });
    let Variables { x, y, z } = &*variables;
    x.fetch_add(1, SeqCst);
    y.fetch_add(1, SeqCst);
    b.thread().unpark();
    // This is the largest possible sum: `a` is at most 2, and `b` at most 3.
    let bound = match form {
        Form::Bugged => 5,
        Form::Fixed => 6,
    };
    assert!(z.load(SeqCst) < bound, "the one order in which z is 5");
}
