//! Gives other tasks a chance.

use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_core::{Action, ObjectId, Op, PauseOp, Site};
use raddle_runtime::port::{self, Kind};

/// Returns a future that is pending once. Other tasks and threads run first.
///
/// ```
/// raddle::future::block_on(raddle::future::yield_now());
/// ```
#[track_caller]
pub fn yield_now() -> YieldNow {
    YieldNow { site: Site::caller(), has_yielded: false }
}

/// The future of [`yield_now`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are polled"]
pub struct YieldNow {
    site: Site,
    has_yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.has_yielded {
            return Poll::Ready(());
        }
        self.has_yielded = true;
        if port::active() {
            let op = Op::new(ObjectId::NONE, Action::Pause(PauseOp::Yield));
            port::submit(Kind::Any, op, self.site);
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
