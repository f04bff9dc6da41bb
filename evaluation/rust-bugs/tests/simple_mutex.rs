//! simple-mutex 1.1.2: a thread that waits for the lock may not be woken ("Fix a deadlock" in 1.1.3).

use std::sync::Arc;
use std::thread;

use simple_mutex::Mutex;

#[test]
fn three_threads_take_the_lock() {
    let mutex = Arc::new(Mutex::new(0));
    let add = |mutex: Arc<Mutex<i32>>| {
        thread::spawn(move || {
            *mutex.lock() += 1;
        })
    };
    let (one, two) = (add(mutex.clone()), add(mutex.clone()));
    *mutex.lock() += 1;
    one.join().unwrap();
    two.join().unwrap();
    assert_eq!(*mutex.lock(), 3);
}
