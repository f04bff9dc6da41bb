//! Two seeded bugs, each found, printed and replayed: a lost update, and two locks acquired in opposite orders.
//!
//! ```sh
//! cargo run --release -p raddle --example lost_update
//! ```

use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::{Config, thread};

fn main() {
    demonstrate(
        "lost update",
        "Two threads add one to a counter, but with a load and a store.",
        lost_update,
    );
    println!();
    demonstrate(
        "opposite locks",
        "Two threads acquire the same two locks in opposite orders.",
        opposite_locks,
    );
}

/// Bug: the other thread's store between the load and the store is lost.
fn lost_update() {
    let counter = Arc::new(AtomicUsize::new(0));
    let other = thread::spawn({
        let counter = counter.clone();
        move || increment(&counter)
    });
    increment(&counter);
    other.join().unwrap();
    assert_eq!(counter.load(Ordering::SeqCst), 2);
}

fn increment(counter: &AtomicUsize) {
    let seen = counter.load(Ordering::SeqCst);
    counter.store(seen + 1, Ordering::SeqCst);
}

/// Bug: each thread holds the lock that the other waits for.
fn opposite_locks() {
    let checking = Arc::new(Mutex::new(100));
    let savings = Arc::new(Mutex::new(100));
    let other = thread::spawn({
        let (checking, savings) = (checking.clone(), savings.clone());
        move || {
            let mut from = savings.lock().unwrap();
            let mut to = checking.lock().unwrap();
            *from -= 10;
            *to += 10;
        }
    });
    {
        let mut from = checking.lock().unwrap();
        let mut to = savings.lock().unwrap();
        *from -= 30;
        *to += 30;
    }
    other.join().unwrap();
}

/// Finds a failing execution of `program`, prints it, and replays it from its token.
fn demonstrate(name: &'static str, what: &str, program: fn()) {
    println!("{what}\n");
    let found = match Config::new().name(name).try_run(program) {
        Ok(report) => report,
        // A token in RADDLE_REPLAY belongs to one of the two programs.
        Err(error) => return println!("raddle: {error}"),
    };
    println!("{found}\n");

    let failure = found.failure().expect("there is a bug");
    let again = Config::new().name(name).replay(&failure.token).run(program);
    let second = again.failure().expect("a replay repeats the execution");
    assert_eq!(second.finding, failure.finding);
    assert_eq!(second.trace, failure.trace);
    println!(
        "The replay of the token failed in the same way, with the same {} steps.",
        second.trace.events.len()
    );
}
