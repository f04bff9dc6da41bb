//! RUSTSEC-2026-0005: in oneshot 0.1.11 a receiver that was polled and is then dropped can free the channel while the sender uses it.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Waker};
use std::thread;

#[test]
fn a_receiver_is_polled_and_dropped_while_a_message_is_sent() {
    let (sender, receiver) = oneshot::channel::<u32>();
    let mut receiver = receiver.into_future();
    let thread = thread::spawn(move || {
        let _ = sender.send(1);
    });
    let mut context = Context::from_waker(Waker::noop());
    let _ = Pin::new(&mut receiver).poll(&mut context);
    drop(receiver);
    thread.join().unwrap();
}
