//! RUSTSEC-2022-0006: in thread_local 1.1.3 the iterators race with threads that add their value.

use std::sync::Arc;
use std::thread;

use thread_local::ThreadLocal;

#[test]
fn values_are_iterated_while_a_thread_adds_its_own() {
    let values = Arc::new(ThreadLocal::<Box<u32>>::new());
    values.get_or(|| Box::new(1));
    // There is room for two values, and a third needs more.
    let add = |value: u32| {
        let values = values.clone();
        thread::spawn(move || {
            values.get_or(|| Box::new(value));
        })
    };
    let threads = [add(2), add(4)];
    let sum: u32 = values.iter().map(|value| **value).sum();
    assert_eq!(sum & !6, 1);
    for thread in threads {
        thread.join().unwrap();
    }
}
