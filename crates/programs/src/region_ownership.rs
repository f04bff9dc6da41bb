//! RegOwn: a region of memory is passed from thread to thread. Each thread spins, with a yield, until it owns the region,
//! writes its part and passes the region on. The last thread frees it.
//!
//! In the bugged form the first thread accesses the region again after it passed it on. This fails if all other threads
//! have finished with the region.

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::thread;

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all};

pub(super) const PROGRAM: Program = Program {
    name: "regown",
    origin: Origin::Bpor,
    about: "a region is passed on by an owner field that threads spin on; used after that",
    failure: Failure::Assertion,
    class: Class::Lifetime,
    granularity: Granularity::All,
    space: Space::Cyclic,
    size: Size { counts: "threads", least: 2, usual: 3, most: 16 },
    threads: |threads| threads + 1,
    body,
};

struct Region {
    owner: AtomicU32,
    freed: Shared<bool>,
    total: Shared<u32>,
}

fn body(form: Form, threads: u32) {
    let region = Arc::new(Region {
        owner: AtomicU32::new(0),
        freed: Shared::new(false),
        total: Shared::new(0),
    });
    let handles = (0..threads)
        .map(|me| {
            let region = region.clone();
            thread::spawn(move || {
                region.acquire(me);
                region.add(me);
                match (me, form) {
                    (0, Form::Bugged) => {
                        region.owner.store(me + 1, SeqCst);
                        region.add(0);
                    }
                    (0, Form::Fixed) => {
                        region.add(0);
                        region.owner.store(me + 1, SeqCst);
                    }
                    (last, _) if last + 1 == threads => region.freed.set(true),
                    _ => region.owner.store(me + 1, SeqCst),
                }
            })
        })
        .collect();
    join_all(handles);
}

impl Region {
    fn acquire(&self, me: u32) {
        while self.owner.load(SeqCst) != me {
            thread::yield_now();
        }
    }

    fn add(&self, part: u32) {
        assert!(!self.freed.get(), "use of a freed region");
        self.total.set(self.total.get() + part);
    }
}
