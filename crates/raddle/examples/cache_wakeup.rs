//! A cache that one thread fills while others wait. Bug: whoever waits looks whether the value is there,
//! lets go of the lock, and then waits: the notification in between is lost. Fixed by waiting under the
//! lock that was looked under.
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

    /// Looks and waits under two different holds of the lock.
    fn get_bugged(&self) -> u32 {
        let there = *self.value.lock().unwrap();
        match there {
            Some(value) => value,
            None => {
                let value = self.value.lock().unwrap();
                let value = self.filled.wait(value).unwrap();
                value.expect("notified when it is there")
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

fn one_fills_and_one_waits(get: fn(&Cache) -> u32) {
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
    one_fills_and_one_waits(Cache::get_bugged);
}

fn fixed() {
    one_fills_and_one_waits(Cache::get_fixed);
}

fn main() {
    support::show("cache with a lost wake-up", bugged, fixed);
}

#[test]
fn the_bug_is_found_and_fixed() {
    support::assert_deadlock(bugged);
    support::assert_clean(fixed);
}
