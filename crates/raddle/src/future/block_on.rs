//! Runs a future on the calling thread.

use std::any::type_name;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use raddle_core::{Action, Effect, ObjectId, Op, Question, Site};
use raddle_runtime::port::{self, Kind};

use super::polls::{self, Order, Polls};
use super::signal::Signal;

/// Runs a future to its end on the calling thread, and returns its output. The thread is blocked while the future waits to
/// be woken.
///
/// ```
/// use raddle::future::block_on;
///
/// assert_eq!(block_on(async { 7 }), 7);
/// ```
#[track_caller]
pub fn block_on<F: Future>(future: F) -> F::Output {
    block_on_at(future, Spurious::AsConfigured, polls::order(), Site::caller())
}

/// When a thread polls a future that was not woken.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Spurious {
    /// As [`Config::spurious`](crate::Config::spurious) says.
    AsConfigured,
    /// In some executions, once for each future.
    Once,
}

/// [`block_on`] at `site`.
#[track_caller]
pub(crate) fn block_on_at<F: Future>(
    future: F,
    spurious: Spurious,
    order: Order,
    site: Site,
) -> F::Output {
    let mut future = pin!(future);
    let signal = Signal::new(|| format!("future {}", name::<F>()), size_of::<F>(), site);
    let mut driver = Driver::new(signal, spurious, order);
    loop {
        if let Poll::Ready(output) = driver.poll(future.as_mut()) {
            return output;
        }
        driver.wait();
    }
}

/// Polls one future on one thread.
pub(super) struct Driver {
    signal: Arc<Signal>,
    waker: Waker,
    spurious: Spurious,
    /// What all polls of the run access, if their order matters.
    polls: Option<Polls>,
    /// Whether the future may still be polled once without a wake-up.
    may_be_spurious: bool,
}

impl Driver {
    #[track_caller]
    pub(super) fn new(signal: Arc<Signal>, spurious: Spurious, order: Order) -> Driver {
        let waker = Waker::from(signal.clone());
        let polls = polls::shared(order, signal.site);
        Driver { signal, waker, spurious, polls, may_be_spurious: true }
    }

    /// Polls the future.
    pub(super) fn poll<F: Future>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        let _signalled = self.signal.begin_poll();
        let _poll = polls::begin(self.polls.as_ref(), self.signal.site);
        future.poll(&mut Context::from_waker(&self.waker))
    }

    /// Waits until the future is to be polled.
    pub(super) fn wait(&mut self) {
        let Driver { signal, spurious, may_be_spurious, .. } = self;
        signal.wait(|| {
            let is_spurious = match spurious {
                Spurious::AsConfigured => port::spurious(signal.site),
                Spurious::Once => *may_be_spurious && choose_spurious(signal.site),
            };
            *may_be_spurious &= !is_spurious;
            is_spurious
        });
    }
}

/// Chooses whether a wait ends without a notification. Returns false outside a run.
pub(crate) fn choose_spurious(site: Site) -> bool {
    if !port::active() {
        return false;
    }
    let op = Action::Choose { bound: 2, question: Question::Spurious };
    port::submit(Kind::Any, Op::new(ObjectId::NONE, op), site) == Effect::Value(1)
}

/// Returns the type of a future as its author would call it: the name of an `async fn`, for example.
pub(super) fn name<F>() -> &'static str {
    let name = type_name::<F>();
    let name = name.split('<').next().unwrap_or(name);
    let name = name.trim_end_matches("::{{closure}}");
    name.rsplit("::").next().unwrap_or(name)
}
