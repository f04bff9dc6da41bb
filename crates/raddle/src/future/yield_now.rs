//! Gives other tasks a chance.

use std::pin::Pin;
use std::task::{Context, Poll};

/// Returns a future that is pending once: it wakes itself, so that other tasks and threads may run before it is polled
/// again.
///
/// ```
/// raddle::future::block_on(raddle::future::yield_now());
/// ```
pub fn yield_now() -> YieldNow {
    YieldNow { has_yielded: false }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct YieldNow {
    has_yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.has_yielded {
            return Poll::Ready(());
        }
        self.has_yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
