//! Threads that borrow, as in [`std::thread::scope`].

use std::cell::Cell;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use raddle_core::Site;
use raddle_runtime::{Body, port};

use super::builder::Builder;
use super::work::{Clear, Outcome, Work};
use super::{Result, Thread};

/// Where threads can be spawned that borrow from outside, as [`std::thread::Scope`].
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

/// Lets `f` spawn threads that borrow, and waits for them, as [`std::thread::scope`].
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
        Scope { kind: Kind::InRun(Children::default()), _scope: PhantomData, _env: PhantomData };
    let Kind::InRun(children) = &scope.kind else { unreachable!("it was just made") };
    // However `f` and the waiting end, the scope is not left while threads borrow from it.
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
    // Freed after the real scope, in which threads may use it to the end.
    let place = Place(Cell::new(None));
    std::thread::scope(|real| {
        let scope = Scope { kind: Kind::Outside(real), _scope: PhantomData, _env: PhantomData };
        let scope = NonNull::from(Box::leak(Box::new(scope)));
        place.0.set(Some(scope.cast()));
        // SAFETY: it is freed by `place`, which outlives the real scope, and with it `'scope`.
        f(unsafe { scope.as_ref() })
    })
}

/// A scope to be freed.
struct Place(Cell<Option<NonNull<Scope<'static, 'static>>>>);

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(scope) = self.0.take() {
            // SAFETY: it was made from a box of the same type but for the lifetimes, which have
            // ended with the real scope, and it has no destructor that could notice.
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
                // SAFETY: the scope does not end before `Children::wait` has, and that clears the
                // work when its thread has ended or never starts. What is left then has nothing of
                // `'scope` in it, so that it may be dropped at any time.
                let clear = unsafe {
                    std::mem::transmute::<Arc<dyn Clear + 'scope>, Arc<dyn Clear + 'static>>(clear)
                };
                let child = children.add(clear);
                let body: Arc<dyn Body + 'scope> = work.clone();
                // SAFETY: likewise.
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
    /// Inside a check a panic that leaves a thread ends the execution as a failure, so that this
    /// does not return `Err`, unless [`Panics::Join`](crate::Panics::Join) asks for it.
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

    /// Whether the thread has ended, as [`std::thread::ScopedJoinHandle::is_finished`].
    #[track_caller]
    pub fn is_finished(&self) -> bool {
        match &self.handle {
            Handle::Outside(handle) => handle.is_finished(),
            Handle::InRun { .. } => super::is_finished(&self.thread, Site::caller()),
        }
    }

    /// The thread, as [`std::thread::ScopedJoinHandle::thread`].
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
#[derive(Default)]
struct Children(Mutex<Vec<Arc<Child>>>);

struct Child {
    /// Borrows from outside of the scope until it is cleared.
    work: Arc<dyn Clear>,
    /// Empty until it was started. If it stays so, because the run ended before, the thread never
    /// starts, or its body has ended.
    thread: OnceLock<Thread>,
    joined: AtomicBool,
}

impl Children {
    fn add(&self, work: Arc<dyn Clear>) -> Arc<Child> {
        let (thread, joined) = (OnceLock::new(), AtomicBool::new(false));
        let child = Arc::new(Child { work, thread, joined });
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(child.clone());
        child
    }

    /// Waits until all threads have ended, also those that they spawn meanwhile: a thread is in the list before its creator
    /// ends. Returns whether one of them panicked that was not joined.
    fn wait(&self, site: Site) -> bool {
        let mut panicked = false;
        for number in 0.. {
            let children = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(child) = children.get(number).cloned() else { break };
            // Others may add to the list while this thread waits.
            drop(children);
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
        // The panic that is under way is reported, as in `std`.
        let _ = self.children.wait(self.site);
    }
}
