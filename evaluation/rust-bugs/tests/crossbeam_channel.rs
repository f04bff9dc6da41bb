//! RUSTSEC-2025-0024: crossbeam-channel 0.5.12 to 0.5.14 can free a block of an unbounded channel twice, when the
//! receiver is dropped while messages are sent.

use std::thread;

#[test]
fn receiver_is_dropped_while_two_threads_send() {
    let (sender, receiver) = crossbeam_channel::unbounded::<u32>();
    let other = sender.clone();
    let one = thread::spawn(move || {
        let _ = sender.send(1);
    });
    let two = thread::spawn(move || {
        let _ = other.send(2);
    });
    drop(receiver);
    one.join().unwrap();
    two.join().unwrap();
}
