//! A cache that one thread fills while others wait. Bug: a thread tests whether there is a value, unlocks, and then waits. A
//! notification in between is lost. Fixed by testing and waiting under the same lock.
//!
//! ```sh
//! cargo run -p raddle --example cache_wakeup
//! ```

mod support;

use raddle::sync::{Condvar, Mutex};
use raddle::thread;

#[derive(Default)]
struct Cache {
    value: Mutex<Option<u32>>,
    filled: Condvar,
}

impl Cache {
    fn fill(&self, value: u32) {
        *self.value.lock().unwrap() = Some(value);
        self.filled.notify_all();
    }

    /// Tests and waits in two critical sections.
    fn get_bugged(&self) -> u32 {
        let there = *self.value.lock().unwrap();
        match there {
            Some(value) => value,
            None => {
                let value = self.value.lock().unwrap();
                let value = self.filled.wait(value).unwrap();
                value.expect("notified after the value was set")
            }
        }
    }

    fn get_fixed(&self) -> u32 {
        let mut value = self.value.lock().unwrap();
        loop {
            match *value {
                Some(value) => return value,
                None => value = self.filled.wait(value).unwrap(),
            }
        }
    }
}

fn fill_and_wait(get: fn(&Cache) -> u32) {
    let cache = Cache::default();
    thread::scope(|scope| {
        thread::Builder::new()
            .name("filler".to_owned())
            .spawn_scoped(scope, || cache.fill(42))
            .unwrap();
        assert_eq!(get(&cache), 42);
    });
}

fn bugged() {
    fill_and_wait(Cache::get_bugged);
}

fn fixed() {
    fill_and_wait(Cache::get_fixed);
}

fn main() {
    support::show("cache with a lost wake-up", bugged, fixed);
}

#[test]
fn the_bug_is_found_and_fixed() {
    support::assert_deadlock(bugged);
    support::assert_clean(fixed);
}
