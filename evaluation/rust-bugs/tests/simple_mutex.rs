//! simple-mutex 1.1.2: a thread that has waited for long may take the lock without knowing it, and wait for itself ("Fix a
//! deadlock" in 1.1.3).

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use simple_mutex::Mutex;

#[test]
fn a_thread_waits_long_while_others_take_the_lock() {
    let mutex = Arc::new(Mutex::new(0));
    let add = |mutex: Arc<Mutex<i32>>| {
        thread::spawn(move || {
            *mutex.lock() += 1;
        })
    };
    let (one, two) = (add(mutex.clone()), add(mutex.clone()));
    let mut held = mutex.lock();
    // Threads that have waited for half a millisecond are preferred.
    thread::sleep(Duration::from_millis(1));
    *held += 1;
    drop(held);
    *mutex.lock() += 1;
    one.join().unwrap();
    two.join().unwrap();
    assert_eq!(*mutex.lock(), 4);
}
