//! RUSTSEC-2019-0013: the orderings of `RwLock` in spin 0.5.1 are too weak for mutual exclusion.

use std::sync::Arc;
use std::thread;

use spin::RwLock;

#[test]
fn a_writer_follows_a_reader() {
    let lock = Arc::new(RwLock::new(0));
    let other = lock.clone();
    let thread = thread::spawn(move || *other.read());
    *lock.write() = 1;
    let seen = thread.join().unwrap();
    assert!(seen == 0 || seen == 1);
}
