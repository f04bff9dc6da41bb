//! SCTBench's programs that deadlock over locks.
//!
//! Its 2 to 7 dining philosophers only count themselves, and fail at the last one in every execution. Here they take forks
//! and can deadlock.

use raddle::Granularity;
use raddle::sync::{Arc, Mutex};

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all, start};

pub(super) const DEADLOCK: Program = Program {
    name: "deadlock01",
    origin: Origin::SctBench,
    about: "two locks are acquired in opposite orders",
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
    about: "a lock is held from one section of another lock to the next; two idle threads",
    threads: |_| 5,
    body: |form, _| carter(form),
    ..DEADLOCK
};

pub(super) const PHASE: Program = Program {
    name: "phase01",
    about: "a thread acquires a lock that it holds: always a deadlock",
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
    fn lock_both([one, other]: [&Mutex<()>; 2]) {
        let one = one.lock().unwrap();
        let other = other.lock().unwrap();
        drop(other);
        drop(one);
    }
    join_all(start(
        &Two::new(form),
        &[
            |two| lock_both([&two.first, &two.second]),
            |two| match two.form {
                Form::Bugged => lock_both([&two.second, &two.first]),
                Form::Fixed => lock_both([&two.first, &two.second]),
            },
        ],
    ));
}

/// Each thread counts itself in and out under the first lock. The first of a group acquires the second lock, and the last
/// releases it. Each group has one thread.
fn carter(form: Form) {
    fn enter_and_leave(two: &Two) {
        // Fixed: the lock that is held longer is acquired first.
        let outside = (two.form == Form::Fixed).then(|| two.second.lock().unwrap());
        let count = two.first.lock().unwrap();
        let inside = (two.form == Form::Bugged).then(|| two.second.lock().unwrap());
        drop(count);
        let count = two.first.lock().unwrap();
        drop(inside);
        drop(count);
        drop(outside);
    }
    join_all(start(&Two::new(form), &[enter_and_leave, enter_and_leave, |_| {}, |_| {}]));
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
