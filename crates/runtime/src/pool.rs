//! The coroutines of a runtime, and what its runs keep beside the engine.

use std::any::Any;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use raddle_core::{Allocation, ObjectId, ThreadId};
use raddle_results::MAX_LEAKED_BY_PROCESS;

use crate::epoch::Epochs;
use crate::panic_count::PanicCounts;
use crate::port::RunFlags;
use crate::run::{Heap, JoinablePanics, SavedStatics, Teardown, UnusedEnd, WatchedPlace};
use crate::runtime::Options;
use crate::{Backend, Body, panics};

/// The number of threads of all checks that could not be cleared away.
static LEAKED_BY_PROCESS: AtomicU64 = AtomicU64::new(0);

/// The room for places of ended objects that is kept from check to check.
const MAX_KEPT_PLACES: usize = 1024;

/// A pool of coroutines, kept from run to run and, if it is small, from check to check.
pub(crate) struct CoroutinePool<B> {
    pub(crate) backend: UnsafeCell<B>,
    /// What the thread runs that is switched to for the first time.
    pub(crate) body: Cell<Option<Arc<dyn Body>>>,
    pub(crate) data: RunData,
    /// The addresses of the names of the objects that ended in the run, if freed memory may be used again in the run. `None`
    /// if the run had not used the object.
    pub(crate) ended_places: RefCell<Vec<(usize, Option<ObjectId>)>>,
    pub(crate) teardown: Teardown,
    /// The number of threads of this check that could not be cleared away.
    leaked: Cell<u64>,
    pub(crate) panic_counts: PanicCounts,
    pub(crate) flags: RunFlags,
    /// The name of the check.
    pub(crate) name: String,
    pub(crate) options: Options,
    /// The numbers of the runs.
    pub(crate) epochs: Epochs,
}

/// What a run keeps beside the engine. Most runs use nothing of it, and then there is nothing to clear.
#[derive(Default)]
pub(crate) struct RunData {
    /// Whether the run has used any of the following.
    is_used: Cell<bool>,
    used: UsedData,
}

#[derive(Default)]
pub(crate) struct UsedData {
    /// By [`ThreadId`]: what the mirror keeps for a thread. Empty after a run.
    pub(crate) thread_states: RefCell<Vec<Option<Rc<dyn Any>>>>,
    /// The names that the program gave to threads of the run.
    pub(crate) thread_names: RefCell<Vec<(ThreadId, String)>>,
    /// The names that the program gave to objects of the run, by object.
    pub(crate) object_names: RefCell<Vec<(ObjectId, String)>>,
    /// By [`ThreadId`]: the number of spurious failures.
    pub(crate) spurious_failures: RefCell<Vec<u32>>,
    pub(crate) panics: JoinablePanics,
    pub(crate) saved_statics: SavedStatics,
    pub(crate) heap: Heap,
    /// The memory that objects own, as the mirror reports it.
    pub(crate) owned: RefCell<Vec<Allocation>>,
    /// The objects that ended before the run used them.
    pub(crate) unused_ends: RefCell<Vec<UnusedEnd>>,
    pub(crate) watched: WatchedPlace,
}

impl RunData {
    /// Returns the data, to be changed by the run.
    pub(crate) fn get(&self) -> &UsedData {
        self.is_used.set(true);
        &self.used
    }

    /// Returns the data, to be read.
    pub(crate) fn look(&self) -> &UsedData {
        &self.used
    }

    /// Returns whether the run has used any of the data.
    #[inline(always)]
    pub(crate) fn is_used(&self) -> bool {
        self.is_used.get()
    }

    /// Forgets what the last run left.
    #[inline(always)]
    fn clear(&self) {
        if self.is_used.take() {
            self.used.clear();
        }
    }
}

impl UsedData {
    #[cold]
    fn clear(&self) {
        self.thread_names.borrow_mut().clear();
        self.object_names.borrow_mut().clear();
        self.spurious_failures.borrow_mut().clear();
        self.heap.clear();
        self.owned.borrow_mut().clear();
        self.unused_ends.borrow_mut().clear();
        self.watched.clear();
        panics::forget();
    }

    pub(crate) fn thread_state(&self, thread: ThreadId) -> Option<Rc<dyn Any>> {
        self.thread_states.borrow().get(thread.index()).cloned().flatten()
    }

    pub(crate) fn set_thread_state(&self, thread: ThreadId, state: Option<Rc<dyn Any>>) {
        let mut states = self.thread_states.borrow_mut();
        if states.len() <= thread.index() {
            states.resize(thread.index() + 1, None);
        }
        let before = std::mem::replace(&mut states[thread.index()], state);
        // Its destructor may use thread state.
        drop(states);
        drop(before);
    }

    pub(crate) fn name_thread(&self, thread: ThreadId, name: &str) {
        let mut names = self.thread_names.borrow_mut();
        names.retain(|known| known.0 != thread);
        names.push((thread, name.to_owned()));
    }

    pub(crate) fn name_object(&self, object: ObjectId, name: &str) {
        let mut names = self.object_names.borrow_mut();
        match names.binary_search_by_key(&object, |known| known.0) {
            Ok(place) => names[place].1 = name.to_owned(),
            Err(place) => names.insert(place, (object, name.to_owned())),
        }
    }

    /// Returns the number of spurious failures of `thread`.
    pub(crate) fn spurious_failures(&self, thread: ThreadId) -> u32 {
        self.spurious_failures.borrow().get(thread.index()).copied().unwrap_or(0)
    }

    pub(crate) fn count_spurious_failure(&self, thread: ThreadId) {
        let mut failures = self.spurious_failures.borrow_mut();
        if failures.len() <= thread.index() {
            failures.resize(thread.index() + 1, 0);
        }
        failures[thread.index()] += 1;
    }
}

impl<B: Backend> CoroutinePool<B> {
    pub(crate) fn new(backend: B, name: &str, options: &Options) -> CoroutinePool<B> {
        CoroutinePool {
            backend: UnsafeCell::new(backend),
            body: Cell::new(None),
            data: RunData::default(),
            ended_places: RefCell::default(),
            teardown: Teardown::default(),
            leaked: Cell::new(0),
            panic_counts: PanicCounts::default(),
            flags: options.flags(),
            name: name.to_owned(),
            options: options.clone(),
            epochs: Epochs::new(),
        }
    }

    /// Returns whether the pool can be used for a check with these options.
    pub(crate) fn fits(&self, options: &Options) -> bool {
        self.options.stack_size == options.stack_size
    }

    /// Prepares the pool for another check.
    pub(crate) fn begin_check(&mut self, name: &str, options: &Options) {
        self.flags = options.flags();
        self.leaked.set(0);
        name.clone_into(&mut self.name);
        self.options.clone_from(options);
        self.epochs.begin();
    }

    /// Counts threads of a run that could not be cleared away.
    pub(crate) fn count_leaked(&self, threads: u64) {
        LEAKED_BY_PROCESS.fetch_add(threads, Ordering::Relaxed);
        self.leaked.set(self.leaked.get() + threads);
    }

    /// Returns the number of threads of the check that could not be cleared away. If there are any, and all checks of the
    /// process left too many behind, returns the number of all.
    pub(crate) fn leaked(&self) -> u64 {
        match (self.leaked.get(), LEAKED_BY_PROCESS.load(Ordering::Relaxed)) {
            (1.., all @ MAX_LEAKED_BY_PROCESS..) => all,
            (mine, _) => mine,
        }
    }

    /// Prepares the first switch to `child`, which `parent` spawns.
    pub(crate) fn hand_over(&self, parent: ThreadId, child: ThreadId, body: Arc<dyn Body>) {
        if let Some(tell) = self.flags.on_spawn {
            tell(parent, child);
        }
        self.body.set(Some(body));
    }

    /// Ends the use of the pool by a check. Returns whether the pool should be kept for another one.
    pub(crate) fn end_check(&mut self) -> bool {
        self.data.clear();
        self.ended_places.get_mut().clear();
        self.ended_places.get_mut().shrink_to(MAX_KEPT_PLACES);
        self.panic_counts.clear();
        self.epochs.rest();
        self.backend.get_mut().is_worth_keeping()
    }

    /// Returns the object that ended last in the run with its name at `address`. `Some(None)` if the run had not used it.
    #[cold]
    pub(crate) fn ended_at(&self, address: usize) -> Option<Option<ObjectId>> {
        let places = self.ended_places.borrow();
        places.iter().rev().find(|place| place.0 == address).map(|place| place.1)
    }

    /// Prepares the pool for the next run, and returns the number of that.
    pub(crate) fn begin_run(&mut self) -> u64 {
        self.data.clear();
        self.ended_places.get_mut().clear();
        self.epochs.next()
    }
}
