//! A mailbox between tasks. Bug: the receiver looks for a letter first and registers its waker then. A letter in between
//! wakes no task. Fixed by registering first.
//!
//! ```sh
//! cargo run -p raddle --example async_mailbox
//! ```

mod support;

use std::future::poll_fn;
use std::task::{Poll, Waker};

use raddle::future::{block_on, spawn};
use raddle::sync::{Arc, Mutex};

#[derive(Default)]
struct Mailbox {
    letter: Mutex<Option<u32>>,
    waker: Mutex<Option<Waker>>,
}

impl Mailbox {
    fn send(&self, letter: u32) {
        *self.letter.lock().unwrap() = Some(letter);
        let waker = self.waker.lock().unwrap().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Looks, and registers the waker if there is no letter.
    async fn receive_bugged(&self) -> u32 {
        poll_fn(|context| {
            if let Some(letter) = self.letter.lock().unwrap().take() {
                return Poll::Ready(letter);
            }
            *self.waker.lock().unwrap() = Some(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    async fn receive_fixed(&self) -> u32 {
        poll_fn(|context| {
            *self.waker.lock().unwrap() = Some(context.waker().clone());
            match self.letter.lock().unwrap().take() {
                Some(letter) => Poll::Ready(letter),
                None => Poll::Pending,
            }
        })
        .await
    }
}

async fn reader_bugged(mailbox: Arc<Mailbox>) -> u32 {
    mailbox.receive_bugged().await
}

async fn reader_fixed(mailbox: Arc<Mailbox>) -> u32 {
    mailbox.receive_fixed().await
}

fn send_and_receive<F>(reader: fn(Arc<Mailbox>) -> F)
where
    F: Future<Output = u32> + Send + 'static,
{
    let mailbox = Arc::new(Mailbox::default());
    let reader = spawn(reader(mailbox.clone()));
    mailbox.send(42);
    assert_eq!(block_on(reader).unwrap(), 42);
}

fn bugged() {
    send_and_receive(reader_bugged);
}

fn fixed() {
    send_and_receive(reader_fixed);
}

fn main() {
    support::show("mailbox with a lost wake-up", bugged, fixed);
}

#[test]
fn the_bug_is_found_and_fixed() {
    support::assert_deadlock(bugged);
    support::assert_clean(fixed);
}
