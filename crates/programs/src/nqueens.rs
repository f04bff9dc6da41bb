//! NQueens: the number of solutions of the n-queens problem, by a work-stealing pool. A task is the column of the first
//! queen.
//!
//! Bugged forms: the queue's guard allows a task to be overwritten; a thief misses its wakeup; the number of solutions is
//! incremented by a read and a write.

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::{Arc, Mutex};

use super::stealing::{Defect, Pool};
use super::{Class, Failure, Form, Origin, Program, Size, Space};

pub(super) const GUARD: Program = Program {
    name: "nqueens",
    about: "n-queens by work stealing; the queue's guard allows a task to be overwritten",
    failure: Failure::Assertion,
    class: Class::Atomicity,
    body: |form, side| body(side, defect(form, Defect::Guard), Sum::Locked),
    ..WAKE
};

pub(super) const WAKE: Program = Program {
    name: "nqueens-wake",
    origin: Origin::Bpor,
    about: "n-queens by work stealing; a thief that goes to sleep misses its wakeup",
    failure: Failure::Livelock,
    class: Class::Wakeup,
    granularity: Granularity::All,
    space: Space::Cyclic,
    size: Size { counts: "rows of the board", least: 4, usual: 4, most: 8 },
    threads: |_| 3,
    body: |form, side| body(side, defect(form, Defect::Wake), Sum::Locked),
};

pub(super) const SUM: Program = Program {
    name: "nqueens-sum",
    about: "n-queens by work stealing; solutions are counted without a lock",
    body: |form, side| {
        let sum = match form {
            Form::Bugged => Sum::Plain,
            Form::Fixed => Sum::Locked,
        };
        body(side, Defect::None, sum);
    },
    failure: Failure::Assertion,
    class: Class::Atomicity,
    ..WAKE
};

/// How solutions are counted.
#[derive(Clone, Copy)]
enum Sum {
    Locked,
    Plain,
}

fn defect(form: Form, bugged: Defect) -> Defect {
    match form {
        Form::Bugged => bugged,
        Form::Fixed => Defect::None,
    }
}

fn body(side: u32, defect: Defect, sum: Sum) {
    let solutions = Arc::new((Mutex::new(()), Shared::new(0)));
    let total = solutions.clone();
    Pool::run(side, defect, move |_, column| {
        let (lock, total) = &*total;
        let found = complete(side, &mut vec![column]);
        let _guard = match sum {
            Sum::Locked => Some(lock.lock().unwrap()),
            Sum::Plain => None,
        };
        total.set(total.get() + found);
    });
    let expected: u32 = (0..side).map(|column| complete(side, &mut vec![column])).sum();
    assert_eq!(solutions.1.get(), expected, "solutions");
}

/// Returns the number of ways to complete the placed queens, given by row.
fn complete(side: u32, columns: &mut Vec<u32>) -> u32 {
    let row = columns.len() as u32;
    if row == side {
        return 1;
    }
    let mut found = 0;
    for column in 0..side {
        let attacked = columns
            .iter()
            .zip(0..)
            .any(|(&other, at)| other == column || other.abs_diff(column) == row - at);
        if !attacked {
            columns.push(column);
            found += complete(side, columns);
            columns.pop();
        }
    }
    found
}
