//! Threads, as in [`std::thread`]. What they share need not be `Send`, because raddle runs all threads of an execution
//! on one OS thread.

use std::{fmt, io};

use raddle::drop_in::OneOsThread;

pub use raddle::thread::{
    AccessError, LocalKey, Thread, ThreadId, current, panicking, park, yield_now,
};

/// The handle of a thread.
pub struct JoinHandle<T>(raddle::thread::JoinHandle<OneOsThread<T>>);

/// Starts a thread.
///
/// ```
/// loom::model(|| {
///     let number = std::rc::Rc::new(7);
///     assert_eq!(loom::thread::spawn(move || *number).join().unwrap(), 7);
/// });
/// ```
///
/// # Panics
/// Panics outside of [`model`](crate::model()).
#[track_caller]
pub fn spawn<F, T>(f: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    JoinHandle(raddle::thread::spawn(on_one_os_thread(f)))
}

fn on_one_os_thread<F, T>(f: F) -> impl FnOnce() -> OneOsThread<T> + Send + 'static
where
    F: FnOnce() -> T + 'static,
    T: 'static,
{
    let f = OneOsThread::new(f);
    move || OneOsThread::new(f.into_inner()())
}

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended, and returns its result.
    #[track_caller]
    pub fn join(self) -> std::thread::Result<T> {
        self.0.join().map(OneOsThread::into_inner)
    }

    /// Returns the thread.
    pub fn thread(&self) -> &Thread {
        self.0.thread()
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").finish_non_exhaustive()
    }
}

/// A thread to be started, with a name.
#[derive(Debug)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder(raddle::thread::Builder);

#[expect(clippy::new_without_default, reason = "as in `std`")]
impl Builder {
    /// Returns a thread without a name.
    pub fn new() -> Builder {
        Builder(raddle::thread::Builder::new())
    }

    /// Names the thread.
    pub fn name(self, name: String) -> Builder {
        Builder(self.0.name(name))
    }

    /// Sets the size of the stack. Inside an execution all stacks have the size that the settings say.
    pub fn stack_size(self, size: usize) -> Builder {
        Builder(self.0.stack_size(size))
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// None.
    ///
    /// # Panics
    /// Panics outside of [`model`](crate::model()).
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.0.spawn(on_one_os_thread(f)).map(JoinHandle)
    }
}
