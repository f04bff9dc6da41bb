//! Threads with a name.

use std::ffi::CString;
use std::io;
use std::sync::Arc;

use raddle_core::Site;
use raddle_runtime::port;

use super::handle::More;
use super::scope::{Scope, ScopedJoinHandle};
use super::{JoinHandle, belongings};

/// Makes a thread with settings, as [`std::thread::Builder`].
///
/// Inside a check the size of a stack is that of [`Config::stack_size`](crate::Config::stack_size).
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
    /// No settings.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// The name of the thread, which must not contain null bytes.
    pub fn name(mut self, name: String) -> Builder {
        self.name = Some(name);
        self
    }

    /// How many bytes of stack it has.
    pub fn stack_size(mut self, size: usize) -> Builder {
        self.stack_size = Some(size);
        self
    }

    /// Starts a thread, as [`std::thread::Builder::spawn`].
    ///
    /// # Errors
    /// Outside a check, if the system cannot start one.
    ///
    /// # Panics
    /// If the name contains a null byte.
    #[track_caller]
    pub fn spawn<F, T>(self, f: F) -> io::Result<JoinHandle<T>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let Some(inside) = port::inside() else {
            return self.outside().spawn(f).map(JoinHandle::outside);
        };
        let (name, f) = self.named(f);
        Ok(JoinHandle::in_run(inside, f, name, Site::caller()))
    }

    /// Starts a thread in a scope, as [`std::thread::Builder::spawn_scoped`].
    ///
    /// # Errors
    /// Outside a check, if the system cannot start one.
    ///
    /// # Panics
    /// If the name contains a null byte.
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

    /// The name as threads of a run have it, and `f` for a thread of that name.
    pub(super) fn named<T, F: FnOnce() -> T>(
        self,
        f: F,
    ) -> (Option<Arc<More>>, impl FnOnce() -> T + use<T, F>) {
        let name = self.name.map(|name| {
            let checked = CString::new(name.as_str());
            checked.expect("thread name may not contain interior null bytes");
            Arc::new(More::Named(name.into_boxed_str()))
        });
        let own = name.clone();
        let f = move || {
            if let Some(name) = own {
                belongings::set_name(name);
            }
            f()
        };
        (name, f)
    }
}
