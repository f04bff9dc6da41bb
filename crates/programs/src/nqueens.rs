//! NQueens: how many ways there are to put as many queens on a board as it has rows, by a
//! work-stealing pool; a task is the column of the first queen.
//!
//! Bugged forms: the queue's guard lets a task be overwritten; a thief misses its wake-up; the sum of
//! solutions is added to by a read and a write.

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::{Arc, Mutex};

use super::stealing::{Defect, Pool};
use super::{Class, Failure, Form, Origin, Program, Size, Space};

pub(super) const GUARD: Program = Program {
    name: "nqueens",
    about: "queens on a board, by work stealing; the queue's guard lets a task be overwritten",
    failure: Failure::Assertion,
    class: Class::Atomicity,
    body: |form, side| body(side, defect(form, Defect::Guard), Sum::Locked),
    ..WAKE
};

pub(super) const WAKE: Program = Program {
    name: "nqueens-wake",
    origin: Origin::Bpor,
    about: "queens on a board, by work stealing; a thief that lies down misses its wake-up",
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
    about: "queens on a board, by work stealing; solutions are added up without a lock",
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

/// How solutions are added up.
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

/// In how many ways the queens put so far, by row, can be completed.
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
