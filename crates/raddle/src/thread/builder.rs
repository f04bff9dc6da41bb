//! Threads with a name.

use std::ffi::CString;
use std::io;
use std::sync::Arc;

use raddle_core::Site;
use raddle_runtime::port;

use super::handle::Details;
use super::scope::{Scope, ScopedJoinHandle};
use super::{JoinHandle, state};

/// Spawns threads with settings, as [`std::thread::Builder`].
///
/// Inside a check [`Config::stack_size`](crate::Config::stack_size) sets the size of stacks.
///
/// ```
/// let builder = raddle::thread::Builder::new().name("worker".to_owned()).stack_size(64 * 1024);
/// let thread = builder.spawn(|| 1).unwrap();
/// assert_eq!(thread.thread().name(), Some("worker"));
/// assert_eq!(thread.join().unwrap(), 1);
/// ```
#[derive(Debug, Default)]
#[must_use = "must eventually spawn the thread"]
pub struct Builder {
    name: Option<String>,
    stack_size: Option<usize>,
}

impl Builder {
    /// Returns a builder without settings.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// Sets the name of the thread, which must not contain null bytes.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// Sets the size of the thread's stack, in bytes.
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.stack_size = Some(size);
        self
    }

    /// Starts a thread, as [`std::thread::Builder::spawn`].
    ///
    /// # Errors
    /// Returns an error outside a check if the system cannot start a thread.
    ///
    /// # Panics
    /// Panics if the name contains a null byte.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        if !port::active() {
            return self.outside().spawn(f).map(JoinHandle::outside);
        }
        let (name, f) = self.named(f);
        Ok(JoinHandle::in_run(f, name, Site::caller()))
    }

    /// Starts a thread in a scope, as [`std::thread::Builder::spawn_scoped`].
    ///
    /// # Errors
    /// Returns an error outside a check if the system cannot start a thread.
    ///
    /// # Panics
    /// Panics if the name contains a null byte.
    #[track_caller]
    pub fn spawn_scoped<'scope, 'env, F, T>(
        self,
        scope: &'scope Scope<'scope, 'env>,
        f: F,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        scope.spawn_with(self, f, Site::caller())
    }

    pub(super) fn outside(self) -> std::thread::Builder {
        let mut builder = std::thread::Builder::new();
        if let Some(name) = self.name {
            builder = builder.name(name);
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder
    }

    /// Returns the name for a thread of a run, and `f` wrapped to set this name.
    pub(super) fn named<T, F: FnOnce() -> T>(
        self,
        f: F,
    ) -> (Option<Arc<Details>>, impl FnOnce() -> T + use<T, F>) {
        let name = self.name.map(|name| {
            let checked = CString::new(name.as_str());
            checked.expect("thread name may not contain interior null bytes");
            Arc::new(Details::Named(name.into_boxed_str()))
        });
        let own = name.clone();
        let f = move || {
            if let Some(name) = own {
                state::set_name(name);
            }
            f()
        };
        (name, f)
    }
}
