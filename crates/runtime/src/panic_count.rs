//! The standard library's count of panics, kept for each coroutine.
//!
//! `std` counts the panics under way for an OS thread: [`std::thread::panicking`] and the poison of its locks follow from
//! the count. All threads of a run share an OS thread. So a thread that unwinds takes its panics out of the count before
//! another thread runs, and puts them back when it continues. At every other moment the count is that of the running
//! thread.
//!
//! Stable Rust changes the count only where a panic begins or is caught. A [`Token`] is a small coroutine in the middle of
//! a panic of its own. Beginning one on an OS thread adds 1 to the count of that OS thread, ending one subtracts 1. The
//! first tokens begin on a helper OS thread, so that more can end here than began here.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// The panics that were taken out of the count of the OS thread.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[must_use = "the thread they were taken from has to put them back"]
pub(crate) struct TakenPanics(usize);

/// Takes the panics of coroutines out of the count of an OS thread.
#[derive(Default)]
pub(crate) struct PanicCounts(RefCell<Tokens>);

#[derive(Default)]
struct Tokens {
    /// In the middle of a panic.
    begun: Vec<Token>,
    idle: Vec<Token>,
    helper: Option<Helper>,
}

impl PanicCounts {
    /// Takes all panics out of the count of this OS thread, so that it is not panicking.
    #[cold]
    pub(crate) fn take(&self) -> TakenPanics {
        let mut tokens = self.0.borrow_mut();
        let mut taken = 0;
        while std::thread::panicking() {
            let mut token = tokens.take_begun();
            token.end();
            tokens.idle.push(token);
            taken += 1;
        }
        TakenPanics(taken)
    }

    /// Puts panics back into the count.
    #[cold]
    pub(crate) fn put_back(&self, panics: TakenPanics) {
        let mut tokens = self.0.borrow_mut();
        for _ in 0..panics.0 {
            let mut token = tokens.idle.pop().unwrap_or_else(Token::new);
            token.begin();
            tokens.begun.push(token);
        }
    }

    /// Ends all tokens, after a check: a count that is not zero makes `std::thread::panicking` slower everywhere.
    pub(crate) fn clear(&mut self) {
        let Tokens { begun, idle, helper } = self.0.take();
        for token in idle {
            token.stop();
        }
        match helper {
            Some(helper) => helper.end(begun),
            // Only a helper makes more of them than there are panics to put back.
            None => debug_assert!(begun.is_empty()),
        }
    }
}

impl Drop for PanicCounts {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Tokens {
    fn take_begun(&mut self) -> Token {
        if let Some(token) = self.begun.pop() {
            return token;
        }
        self.helper.get_or_insert_with(Helper::new).begin_token()
    }
}

/// An OS thread on which tokens begin, and those that are left end.
struct Helper {
    orders: Sender<Order>,
    begun: Receiver<Token>,
    thread: JoinHandle<()>,
}

enum Order {
    Begin,
    End(Vec<Token>),
}

impl Helper {
    fn new() -> Helper {
        let (orders, received) = channel();
        let (sender, begun) = channel();
        let serve = move || {
            for order in received {
                match order {
                    Order::Begin => {
                        let mut token = Token::new();
                        token.begin();
                        let _ = sender.send(token);
                    }
                    Order::End(tokens) => {
                        for mut token in tokens {
                            token.end();
                            token.stop();
                        }
                    }
                }
            }
        };
        let thread = std::thread::Builder::new().name("raddle panic count".to_owned()).spawn(serve);
        let thread = thread.expect("raddle: no OS thread to keep the panic counts of threads");
        Helper { orders, begun, thread }
    }

    fn begin_token(&self) -> Token {
        let ordered = self.orders.send(Order::Begin).ok();
        ordered
            .and_then(|()| self.begun.recv().ok())
            .expect("raddle invariant broken: the helper for panic counts has ended")
    }

    /// Ends these tokens, and the OS thread.
    fn end(self, tokens: Vec<Token>) {
        let Helper { orders, begun, thread } = self;
        let _ = orders.send(Order::End(tokens));
        drop((orders, begun));
        let _ = thread.join();
    }
}

/// A coroutine that begins a panic and is suspended in a destructor, or is idle.
struct Token(Coroutine<bool, (), ()>);

// SAFETY: between two calls the coroutine is suspended, and its stack holds nothing that belongs to an OS thread: the
// count of panics is accessed by functions of `std` that begin and end within one call.
unsafe impl Send for Token {}

/// The stack of a token. A panic without a hook needs about a fifth of it.
const STACK_SIZE: usize = 64 * 1024;

impl Token {
    fn new() -> Token {
        let stack = DefaultStack::new(STACK_SIZE).expect("raddle: no stack to keep a panic count");
        Token(Coroutine::with_stack(stack, |yielder, mut goes_on| {
            while goes_on {
                let _ = catch_unwind(AssertUnwindSafe(|| {
                    let _suspended = SuspendOnDrop(yielder);
                    resume_unwind(Box::new(()))
                }));
                goes_on = yielder.suspend(());
            }
        }))
    }

    /// Adds 1 to the count of this OS thread.
    fn begin(&mut self) {
        self.resume();
    }

    /// Subtracts 1 from the count of this OS thread.
    fn end(&mut self) {
        self.resume();
    }

    fn resume(&mut self) {
        match self.0.resume(true) {
            CoroutineResult::Yield(()) => {}
            CoroutineResult::Return(()) => {
                unreachable!("raddle invariant broken: a token has stopped")
            }
        }
    }

    /// Ends an idle token, so that its stack can be freed.
    fn stop(mut self) {
        self.0.resume(false);
    }
}

struct SuspendOnDrop<'a>(&'a Yielder<bool, ()>);

impl Drop for SuspendOnDrop<'_> {
    fn drop(&mut self) {
        self.0.suspend(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls a function when it is dropped.
    struct OnDrop<F: FnMut()>(F);

    impl<F: FnMut()> Drop for OnDrop<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }

    fn panic_quietly() -> ! {
        resume_unwind(Box::new("caught"))
    }

    #[test]
    fn panics_are_taken_and_put_back() {
        let counts = PanicCounts::default();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _outer = OnDrop(|| {
                let nested = catch_unwind(AssertUnwindSafe(|| {
                    let _inner = OnDrop(|| {
                        let taken = counts.take();
                        assert_eq!(taken, TakenPanics(2));
                        assert!(!std::thread::panicking());
                        counts.put_back(taken);
                        assert!(std::thread::panicking());
                    });
                    panic_quietly();
                }));
                assert!(nested.is_err());
                assert_eq!(counts.take(), TakenPanics(1));
                counts.put_back(TakenPanics(1));
            });
            panic_quietly();
        }));
        assert!(caught.is_err());
        assert!(!std::thread::panicking());
        assert_eq!(counts.take(), TakenPanics(0));
    }

    #[test]
    fn a_lock_of_std_is_poisoned_by_the_panic_of_its_holder_alone() {
        let mut counts = PanicCounts::default();
        let (mine, other) = (std::sync::Mutex::new(()), std::sync::Mutex::new(()));
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let _held = mine.lock();
            let _switch = OnDrop(|| {
                let taken = counts.take();
                drop(other.lock());
                counts.put_back(taken);
            });
            panic_quietly();
        }));
        assert!(caught.is_err());
        assert!(mine.is_poisoned() && !other.is_poisoned());
        counts.clear();
        assert!(!std::thread::panicking());
    }
}
