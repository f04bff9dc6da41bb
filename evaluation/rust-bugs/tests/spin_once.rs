//! RUSTSEC-2023-0031: in spin 0.9.3 to 0.9.7 a failed initialisation of a `Once` lets others use it as if it were
//! initialised.

use std::sync::Arc;
use std::thread;

use spin::Once;

#[test]
fn an_initialisation_fails_while_another_thread_waits() {
    let once = Arc::new(Once::<u64>::new());
    let other = once.clone();
    let thread = thread::spawn(move || {
        let _ = other.try_call_once(|| Err::<u64, ()>(()));
    });
    assert_eq!(*once.call_once(|| 42), 42);
    thread.join().unwrap();
}
