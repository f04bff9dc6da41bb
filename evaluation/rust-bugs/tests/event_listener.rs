//! event-listener 5.3.0: optimisations can lose a notification, so that a listener waits forever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use event_listener::{Event, Listener};

#[test]
fn a_flag_is_set_while_a_thread_begins_to_listen() {
    let shared = Arc::new((AtomicBool::new(false), Event::new()));
    let other = shared.clone();
    let thread = thread::spawn(move || {
        other.0.store(true, Ordering::SeqCst);
        other.1.notify(1);
    });
    let (flag, event) = &*shared;
    while !flag.load(Ordering::SeqCst) {
        let listener = event.listen();
        if flag.load(Ordering::SeqCst) {
            break;
        }
        listener.wait();
    }
    thread.join().unwrap();
}
