//! Scoped threads, as in [`std::thread::scope`].

use std::cell::Cell;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use raddle_core::Site;
use raddle_runtime::{Body, port};

use super::builder::Builder;
use super::work::{Clear, Outcome, Work};
use super::{Result, Thread};
use crate::run_cell::RunCell;

/// A scope, whose threads can borrow from outside it, as [`std::thread::Scope`].
pub struct Scope<'scope, 'env: 'scope> {
    kind: Kind<'scope, 'env>,
    /// Invariant in both lifetimes, as in `std`.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
}

enum Kind<'scope, 'env: 'scope> {
    Outside(&'scope std::thread::Scope<'scope, 'env>),
    InRun(Children),
}

/// A thread of a scope, as [`std::thread::ScopedJoinHandle`].
pub struct ScopedJoinHandle<'scope, T> {
    thread: Thread,
    handle: Handle<'scope, T>,
}

enum Handle<'scope, T> {
    Outside(std::thread::ScopedJoinHandle<'scope, T>),
    InRun { work: Arc<dyn Outcome<T> + 'scope>, child: Arc<Child> },
}

/// Calls `f`, which can spawn threads that borrow, and waits for these threads, as [`std::thread::scope`].
///
/// ```
/// let mut numbers = vec![1, 2, 3];
/// let sum = raddle::thread::scope(|s| {
///     let sum = s.spawn(|| numbers.iter().sum::<i32>());
///     sum.join().unwrap()
/// });
/// numbers.push(sum);
/// assert_eq!(numbers, [1, 2, 3, 6]);
/// ```
#[track_caller]
pub fn scope<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    if !port::active() {
        return scope_outside(f);
    }
    let site = Site::caller();
    let scope =
        Scope { kind: Kind::InRun(Children::new()), _scope: PhantomData, _env: PhantomData };
    let Kind::InRun(children) = &scope.kind else { unreachable!("just created") };
    // The scope must not be left while threads borrow from it, even if `f` or `wait` unwinds.
    let unwinding = WaitWhileUnwinding { children, site };
    let result = f(&scope);
    let panicked = children.wait(site);
    std::mem::forget(unwinding);
    assert!(!panicked, "a scoped thread panicked");
    result
}

fn scope_outside<'env, F, T>(f: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    // Dropped after the scope of `std`, whose threads may use it until they end.
    let owner = ScopeOwner(Cell::new(None));
    std::thread::scope(|real| {
        let scope = Scope { kind: Kind::Outside(real), _scope: PhantomData, _env: PhantomData };
        let scope = NonNull::from(Box::leak(Box::new(scope)));
        owner.0.set(Some(scope.cast()));
        // SAFETY: `owner` frees the scope, and it outlives the scope of `std` and with it `'scope`.
        f(unsafe { scope.as_ref() })
    })
}

/// Frees a scope when it is dropped.
struct ScopeOwner(Cell<Option<NonNull<Scope<'static, 'static>>>>);

impl Drop for ScopeOwner {
    fn drop(&mut self) {
        if let Some(scope) = self.0.take() {
            // SAFETY: the pointer was made from a box of the same type with other lifetimes. These ended with the scope of
            // `std`, and a scope outside runs has no destructor that depends on them.
            drop(unsafe { Box::from_raw(scope.as_ptr()) });
        }
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Starts a thread in the scope, as [`std::thread::Scope::spawn`].
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, f: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        match self.spawn_with(Builder::new(), f, Site::caller()) {
            Ok(handle) => handle,
            Err(error) => panic!("failed to spawn thread: {error:?}"),
        }
    }

    pub(super) fn spawn_with<F, T>(
        &'scope self,
        builder: Builder,
        f: F,
        site: Site,
    ) -> io::Result<ScopedJoinHandle<'scope, T>>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        match &self.kind {
            Kind::Outside(real) => {
                let handle = builder.outside().spawn_scoped(real, f)?;
                let thread = Thread::outside(handle.thread().clone());
                Ok(ScopedJoinHandle { thread, handle: Handle::Outside(handle) })
            }
            Kind::InRun(children) => {
                let (name, f) = builder.named(f);
                let work = Work::new(f);
                let clear: Arc<dyn Clear + 'scope> = work.clone();
                // SAFETY: the scope ends after `Children::wait`, which clears the work of every thread that has ended
                // or never starts. A cleared work borrows nothing from `'scope`, so it may be dropped at any time.
                let clear = unsafe {
                    std::mem::transmute::<Arc<dyn Clear + 'scope>, Arc<dyn Clear + 'static>>(clear)
                };
                let child = children.add(clear);
                let body: Arc<dyn Body + 'scope> = work.clone();
                // SAFETY: `body` is the same work as `clear`, and `Children::wait` clears it before the scope ends.
                let body = unsafe {
                    std::mem::transmute::<Arc<dyn Body + 'scope>, Arc<dyn Body + 'static>>(body)
                };
                let thread = Thread::in_run(port::run_number(), port::spawn(body, site), name);
                if child.thread.set(thread.clone()).is_err() {
                    unreachable!("raddle invariant broken: a thread was started twice");
                }
                Ok(ScopedJoinHandle { thread, handle: Handle::InRun { work, child } })
            }
        }
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits until the thread has ended, as [`std::thread::ScopedJoinHandle::join`].
    ///
    /// Inside a check a panic that leaves a thread is a failure and ends the execution. `join` returns `Err`
    /// only with [`Panics::Join`](crate::Panics::Join).
    #[track_caller]
    pub fn join(self) -> Result<T> {
        match self.handle {
            Handle::Outside(handle) => handle.join(),
            Handle::InRun { work, child } => {
                let thread = super::here(&self.thread);
                port::join(thread, Site::caller());
                child.joined.store(true, Ordering::Relaxed);
                work.take().ok_or_else(|| super::panicked(thread))
            }
        }
    }

    /// Returns whether the thread has ended, as [`std::thread::ScopedJoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.handle {
            Handle::Outside(handle) => handle.is_finished(),
            Handle::InRun { .. } => super::is_finished(&self.thread, Site::caller()),
        }
    }

    /// Returns the thread, as [`std::thread::ScopedJoinHandle::thread`].
    pub fn thread(&self) -> &Thread {
        &self.thread
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ScopedJoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedJoinHandle").finish_non_exhaustive()
    }
}

/// The threads of a scope in a run, each after the one that spawned it.
struct Children(RunCell<Vec<Arc<Child>>>);

struct Child {
    /// Borrows from outside the scope until it is cleared.
    work: Arc<dyn Clear>,
    /// Empty until the thread was started. If the run ended before that, the thread never starts or its body has ended.
    thread: OnceLock<Thread>,
    joined: AtomicBool,
}

impl Children {
    fn new() -> Children {
        Children(RunCell::new(Vec::new()))
    }

    fn add(&self, work: Arc<dyn Clear>) -> Arc<Child> {
        let (thread, joined) = (OnceLock::new(), AtomicBool::new(false));
        let child = Arc::new(Child { work, thread, joined });
        self.0.with(|children| children.push(child.clone()));
        child
    }

    /// Waits until all threads have ended, including those that they spawn during the wait. Such a thread is in the list
    /// before its creator ends. Returns whether a thread that was not joined panicked.
    fn wait(&self, site: Site) -> bool {
        let mut panicked = false;
        for number in 0.. {
            let child = self.0.with(|children| children.get(number).cloned());
            let Some(child) = child else { break };
            if let Some(thread) = child.thread.get() {
                if !child.joined.load(Ordering::Relaxed) {
                    let thread = super::here(thread);
                    port::join(thread, site);
                    panicked |= port::take_panic(thread).is_some();
                    child.joined.store(true, Ordering::Relaxed);
                }
            }
            // The thread has ended or never starts, see `Child::thread`.
            child.work.clear();
        }
        panicked
    }
}

/// Waits for the threads of a scope that is left by unwinding.
struct WaitWhileUnwinding<'a> {
    children: &'a Children,
    site: Site,
}

impl Drop for WaitWhileUnwinding<'_> {
    fn drop(&mut self) {
        // The panic that unwinds the scope is reported, as in `std`.
        let _ = self.children.wait(self.site);
    }
}
