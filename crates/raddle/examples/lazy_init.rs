//! A value that is initialised on first use. Bug: two threads see that there is no value, and both initialise it. Fixed
//! with a compare-exchange: the second thread uses the value of the first.
//!
//! ```sh
//! cargo run -p raddle --example lazy_init
//! ```

mod support;

use raddle::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use raddle::thread;

/// A connection that is opened once. It is identified by a number, which is 0 while there is none.
#[derive(Default)]
struct Lazy {
    connection: AtomicU32,
    opened: AtomicUsize,
}

/// How the value is initialised.
#[derive(Copy, Clone)]
enum Init {
    /// With a load and a store.
    Store,
    /// With a compare-exchange.
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

fn two_uses(init: Init) {
    let lazy = Lazy::default();
    let (one, other) = thread::scope(|scope| {
        let other = scope.spawn(|| lazy.get(7, init));
        (lazy.get(8, init), other.join().unwrap())
    });
    assert_eq!(one, other, "two connections");
    assert_eq!(lazy.opened.into_inner(), 1, "opened twice");
}

fn bugged() {
    two_uses(Init::Store);
}

fn fixed() {
    two_uses(Init::CompareExchange);
}

fn main() {
    support::show("lazy init", bugged, fixed);
}

#[test]
fn the_bug_is_found_and_fixed() {
    support::assert_panic(bugged, "two connections");
    support::assert_clean(fixed);
}
