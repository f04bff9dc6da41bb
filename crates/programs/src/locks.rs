//! SCTBench's programs that deadlock over locks.
//!
//! Its dining philosophers, 2 to 7 of them, count themselves and fail at the last one in every execution. Here
//! they take forks, and can deadlock as philosophers do.

use raddle::Granularity;
use raddle::sync::{Arc, Mutex};

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all, start};

pub(super) const DEADLOCK: Program = Program {
    name: "deadlock01",
    origin: Origin::SctBench,
    about: "two locks are taken in either order",
    failure: Failure::Deadlock,
    class: Class::Locking,
    granularity: Granularity::Sync,
    space: Space::Acyclic,
    size: Size::FIXED,
    threads: |_| 3,
    body: |form, _| deadlock(form),
};

pub(super) const CARTER: Program = Program {
    name: "carter01",
    about: "a lock is kept from one section of another lock to the next; two idle threads",
    threads: |_| 5,
    body: |form, _| carter(form),
    ..DEADLOCK
};

pub(super) const PHASE: Program = Program {
    name: "phase01",
    about: "a thread takes a lock that it has already: always a deadlock",
    class: Class::Always,
    threads: |_| 3,
    body: |form, _| phase(form),
    ..DEADLOCK
};

pub(super) const PHILOSOPHERS: Program = Program {
    name: "din_phil",
    about: "philosophers take the fork to their left, then the one to their right",
    size: Size { counts: "philosophers", least: 2, usual: 3, most: 7 },
    threads: |philosophers| philosophers + 1,
    body: philosophers,
    ..DEADLOCK
};

struct Two {
    form: Form,
    first: Mutex<()>,
    second: Mutex<()>,
}

impl Two {
    fn new(form: Form) -> Arc<Two> {
        Arc::new(Two { form, first: Mutex::new(()), second: Mutex::new(()) })
    }
}

fn deadlock(form: Form) {
    fn take_both([one, other]: [&Mutex<()>; 2]) {
        let one = one.lock().unwrap();
        let other = other.lock().unwrap();
        drop(other);
        drop(one);
    }
    join_all(start(
        &Two::new(form),
        &[
            |two| take_both([&two.first, &two.second]),
            |two| match two.form {
                Form::Bugged => take_both([&two.second, &two.first]),
                Form::Fixed => take_both([&two.first, &two.second]),
            },
        ],
    ));
}

/// Each thread counts itself in and out under the first lock; the first in of its kind takes the second
/// lock, the last out drops it. Every thread is the only one of its kind.
fn carter(form: Form) {
    fn come_and_go(two: &Two) {
        // Fixed: the lock that is kept is taken outside the other.
        let outside = (two.form == Form::Fixed).then(|| two.second.lock().unwrap());
        let count = two.first.lock().unwrap();
        let inside = (two.form == Form::Bugged).then(|| two.second.lock().unwrap());
        drop(count);
        let count = two.first.lock().unwrap();
        drop(inside);
        drop(count);
        drop(outside);
    }
    join_all(start(&Two::new(form), &[come_and_go, come_and_go, |_| {}, |_| {}]));
}

fn phase(form: Form) {
    fn twice(two: &Two) {
        let first = two.first.lock().unwrap();
        let again = match two.form {
            Form::Bugged => two.first.lock().unwrap(),
            Form::Fixed => two.second.lock().unwrap(),
        };
        drop(again);
        drop(first);
    }
    join_all(start(&Two::new(form), &[twice, |two| drop(two.second.lock().unwrap())]));
}

fn philosophers(form: Form, count: u32) {
    let count = count as usize;
    let forks: Arc<Vec<_>> = Arc::new((0..count).map(|_| Mutex::new(())).collect());
    let dine = |seat: usize| {
        let forks = forks.clone();
        raddle::thread::spawn(move || {
            let mut order = [seat, (seat + 1) % count];
            if form == Form::Fixed {
                order.sort_unstable();
            }
            let _left = forks[order[0]].lock().unwrap();
            let _right = forks[order[1]].lock().unwrap();
        })
    };
    join_all((0..count).map(dine).collect());
}
