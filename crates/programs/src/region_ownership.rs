//! RegOwn: a region of memory is handed from thread to thread; each spins, with a yield, until it owns
//! it, writes its part and hands it on. The last one frees it.
//!
//! In the bugged form the first thread touches the region once more after it handed it on, which fails
//! if all the others were done with it by then.

use raddle::Granularity;
use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::thread;

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all};

pub(super) const PROGRAM: Program = Program {
    name: "regown",
    origin: Origin::Bpor,
    about: "a region is handed over by an owner field that threads spin on; used after that",
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
        assert!(!self.freed.get(), "a freed region is used");
        self.total.set(self.total.get() + part);
    }
}
