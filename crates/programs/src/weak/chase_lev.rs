//! The work-stealing deque of Chase and Lev, with the orderings of Lê, Pop, Cohen and Zappa Nardelli (PPoPP 2013): an owner
//! pushes and takes at the bottom, and thieves steal at the top. Sizes and slots are relaxed atomics in memory that is
//! cleared by plain writes when the array is created, as in the benchmark in C (`calloc`).
//!
//! `cldeque`, as in the PCTWM paper: the owner pushes 1, 2 and 4, which needs a larger array, and takes twice. A thief
//! steals once. The first push is performed before the threads start, so there is always something to steal. In the bugged
//! form the array is published by a relaxed store and loaded relaxed by the thief. If the thief reads the new array and an
//! older bottom, nothing synchronises. It races with the clearing of the array, and its load of the size or of the slot may
//! return the initial 0.
//!
//! `chase-lev`: two items. The owner takes one, and a thief steals both. In the bugged form the owner's fence between the
//! store to the bottom and the load of the top is not sequentially consistent. This is store buffering: the owner may read
//! the initial top although the thief has stolen the first item, and takes the second without a compare-exchange. The thief
//! may read the initial bottom, and steals the second item too.

use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{
    AtomicI32, AtomicU32, AtomicUsize,
    Ordering::{self, AcqRel, Acquire, Relaxed, Release, SeqCst},
    fence,
};

use super::{Failure, Instance, Model, ONCE, Origin, Program, Published, Space, join};

pub(super) const RESIZED: Program = Program {
    name: "cldeque",
    origin: Origin::Pctwm(Published {
        events: 86,
        communication: 56,
        depth: 1,
        by_depth: [(55.7, 3), (100.0, 1), (100.0, 1)],
        by_history: (1, [100.0; 4]),
    }),
    about: "work-stealing deque; the larger array is published and loaded relaxed",
    failure: Failure::Either,
    model: Model::Sc,
    space: Space::Small,
    threads: 3,
    tries: ONCE,
    body: resized,
};

pub(super) const LAST_ITEM: Program = Program {
    name: "chase-lev",
    origin: Origin::Classic,
    about: "work-stealing deque; the owner's fence in taking is not sequentially consistent",
    failure: Failure::Assertion,
    model: Model::Rc11,
    space: Space::Small,
    threads: 3,
    tries: ONCE,
    body: last_item,
};

/// The orderings that differ between the forms.
struct Orders {
    /// The owner's store of a new array.
    publish: Ordering,
    /// The thief's load of the array.
    array: Ordering,
    /// The owner's fence in taking.
    take: Ordering,
}

struct Deque {
    orders: Orders,
    top: AtomicI32,
    bottom: AtomicI32,
    /// The number of the current array.
    array: AtomicUsize,
    /// The first array and its replacement.
    arrays: [Array; 2],
}

#[derive(Default)]
struct Array {
    /// Represents the memory of the array: written when the array is cleared, and read with every access.
    memory: Shared<u32>,
    /// Zero until it is set.
    size: AtomicUsize,
    slots: [AtomicU32; LARGE],
}

const SMALL: usize = 2;
const LARGE: usize = 4;

fn resized(instance: Instance) {
    let (publish, array) = (instance.order(Relaxed, Release), instance.order(Relaxed, Acquire));
    let deque = Arc::new(Deque::new(Orders { publish, array, take: SeqCst }));
    deque.push(1);
    let owner = {
        let deque = deque.clone();
        instance.spawn(move || {
            deque.push(2);
            deque.push(4);
            vec![deque.take(), deque.take()]
        })
    };
    let thief = instance.spawn(move || vec![deque.steal()]);
    let items = join(vec![owner, thief]).concat();
    for item in items.iter().flatten() {
        assert!([1, 2, 4].contains(item), "{item} was never pushed");
    }
    let all: Option<Vec<u32>> = items.into_iter().collect();
    if let Some(all) = all {
        assert_eq!(all.iter().sum::<u32>(), 7, "{all:?} were taken and stolen");
    }
}

fn last_item(instance: Instance) {
    let take = instance.order(AcqRel, SeqCst);
    let deque = Arc::new(Deque::new(Orders { publish: Release, array: Acquire, take }));
    deque.push(1);
    deque.push(2);
    let owner = {
        let deque = deque.clone();
        instance.spawn(move || vec![deque.take()])
    };
    let thief = instance.spawn(move || vec![deque.steal(), deque.steal()]);
    let mut items = join(vec![owner, thief]).concat();
    items.retain(Option::is_some);
    let number = items.len();
    items.sort_unstable();
    items.dedup();
    assert_eq!(items.len(), number, "an item was both taken and stolen");
}

impl Deque {
    fn new(orders: Orders) -> Deque {
        Deque {
            orders,
            top: AtomicI32::new(0),
            bottom: AtomicI32::new(0),
            array: AtomicUsize::new(0),
            arrays: [Array { size: AtomicUsize::new(SMALL), ..Array::default() }, Array::default()],
        }
    }

    fn push(&self, item: u32) {
        let bottom = self.bottom.load(Relaxed);
        let top = self.top.load(Acquire);
        let mut array = self.array.load(Relaxed);
        if (bottom - top) as usize >= self.arrays[array].size() {
            let [small, large] = &self.arrays;
            large.memory.set(0);
            large.size.store(LARGE, Relaxed);
            for at in top..bottom {
                large.slot(at).store(small.slot(at).load(Relaxed), Relaxed);
            }
            array = 1;
            self.array.store(array, self.orders.publish);
        }
        self.arrays[array].slot(bottom).store(item, Relaxed);
        fence(Release);
        self.bottom.store(bottom + 1, Relaxed);
    }

    fn take(&self) -> Option<u32> {
        let bottom = self.bottom.load(Relaxed) - 1;
        let array = self.array.load(Relaxed);
        self.bottom.store(bottom, Relaxed);
        fence(self.orders.take);
        let top = self.top.load(Relaxed);
        if top < bottom {
            return Some(self.arrays[array].slot(bottom).load(Relaxed));
        }
        let mut item = None;
        if top == bottom {
            let last = self.arrays[array].slot(bottom).load(Relaxed);
            if self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).is_ok() {
                item = Some(last);
            }
        }
        self.bottom.store(bottom + 1, Relaxed);
        item
    }

    /// Steals an item. Returns `None` if there is none, or another thread was faster.
    fn steal(&self) -> Option<u32> {
        let top = self.top.load(Acquire);
        fence(SeqCst);
        let bottom = self.bottom.load(Acquire);
        if top >= bottom {
            return None;
        }
        let array = self.array.load(self.orders.array);
        let item = self.arrays[array].slot(top).load(Relaxed);
        self.top.compare_exchange(top, top + 1, SeqCst, Relaxed).ok().map(|_| item)
    }
}

impl Array {
    fn size(&self) -> usize {
        self.memory.get();
        let size = self.size.load(Relaxed);
        assert_ne!(size, 0, "the array is not ready");
        size
    }

    fn slot(&self, at: i32) -> &AtomicU32 {
        &self.slots[at as usize % self.size()]
    }
}
