//! Runs a future on the calling thread.

use std::any::type_name;
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use raddle_core::{Action, Effect, ObjectId, Op, Question, Site};
use raddle_runtime::port::{self, Kind};

use crate::naming::Named;
use crate::sync::Notify;

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
    block_on_at(future, Spurious::AsConfigured, Site::caller())
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
pub(crate) fn block_on_at<F: Future>(future: F, spurious: Spurious, site: Site) -> F::Output {
    let mut future = pin!(future);
    let signal = Signal::new(&future_name::<F>(), size_of::<F>(), site);
    let waker = Waker::from(signal.clone());
    let mut context = Context::from_waker(&waker);
    let mut may_be_spurious = true;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        let is_spurious = match spurious {
            Spurious::AsConfigured => port::spurious(site),
            Spurious::Once => may_be_spurious && choose_spurious(site),
        };
        may_be_spurious &= !is_spurious;
        signal.notify.wait_at(is_spurious, site);
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
fn future_name<F>() -> String {
    let name = type_name::<F>();
    let name = name.split('<').next().unwrap_or(name);
    let name = name.trim_end_matches("::{{closure}}");
    format!("future {name}")
}

/// What the wakers of a future signal.
pub(crate) struct Signal {
    run: u64,
    /// An object of raddle's own, whose end is no end of memory that the program uses.
    notify: ManuallyDrop<Notify>,
}

impl Signal {
    fn new(name: &str, bytes: usize, site: Site) -> Arc<Signal> {
        let notify = ManuallyDrop::new(Notify::new());
        notify.call(name, site);
        notify.own(bytes, site);
        Arc::new(Signal { run: port::run_number(), notify })
    }
}

impl Wake for Signal {
    #[track_caller]
    fn wake(self: Arc<Signal>) {
        self.wake_by_ref();
    }

    #[track_caller]
    fn wake_by_ref(self: &Arc<Signal>) {
        if self.run == port::run_number() {
            return self.notify.notify_at(Site::caller());
        }
        assert!(
            !port::active(),
            "raddle: a waker was used in another execution than the one that made it. A static or a \
             thread-local has kept it; let each execution make its own."
        );
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        if self.run == port::run_number() {
            self.notify.disown();
        }
    }
}
