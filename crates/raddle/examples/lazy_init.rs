//! A value that is made when it is first needed. Bug: two threads see that it is not there yet, and both
//! make it. Fixed with a compare-exchange: the second one takes what the first one made.
//!
//! ```sh
//! cargo run -p raddle --example lazy_init
//! ```

mod support;

use raddle::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use raddle::thread;

/// A connection that is opened once and told by its number; 0 while there is none.
#[derive(Default)]
struct Lazy {
    connection: AtomicU32,
    opened: AtomicUsize,
}

/// What is done if the value is not there.
#[derive(Copy, Clone)]
enum Init {
    /// Look, then write.
    Store,
    /// Write if it is still not there.
    CompareExchange,
}

impl Lazy {
    fn get(&self, mine: u32, init: Init) -> u32 {
        let there = self.connection.load(Ordering::Acquire);
        if there != 0 {
            return there;
        }
        match init {
            Init::Store => {
                self.opened.fetch_add(1, Ordering::Relaxed);
                self.connection.store(mine, Ordering::Release);
                mine
            }
            Init::CompareExchange => {
                let (ok, failed) = (Ordering::AcqRel, Ordering::Acquire);
                match self.connection.compare_exchange(0, mine, ok, failed) {
                    Ok(_) => {
                        self.opened.fetch_add(1, Ordering::Relaxed);
                        mine
                    }
                    Err(other) => other,
                }
            }
        }
    }
}

fn both_need_it(init: Init) {
    let lazy = Lazy::default();
    let (one, other) = thread::scope(|scope| {
        let other = scope.spawn(|| lazy.get(7, init));
        (lazy.get(8, init), other.join().unwrap())
    });
    assert_eq!(one, other, "two connections");
    assert_eq!(lazy.opened.into_inner(), 1, "opened twice");
}

fn bugged() {
    both_need_it(Init::Store);
}

fn fixed() {
    both_need_it(Init::CompareExchange);
}

fn main() {
    support::show("lazy init", bugged, fixed);
}

#[test]
fn the_bug_is_found_and_fixed() {
    support::assert_panic(bugged, "two connections");
    support::assert_clean(fixed);
}
