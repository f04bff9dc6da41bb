//! Engines between checks. Each OS thread keeps a few, because making an engine takes longer than a short
//! check.

use std::cell::RefCell;

use raddle_core::MemoryModel;
use raddle_engine::ThreadIds;

use crate::executor::AnyEngine;

/// The engines that an OS thread keeps: for each memory model one that explores and one that replays.
const MAX_CACHED: usize = 4;

thread_local! {
    static CACHE: RefCell<Vec<AnyEngine>> = const { RefCell::new(Vec::new()) };
}

/// Returns an engine as [`AnyEngine::new`] makes it.
pub(crate) fn take(memory: MemoryModel, thread_ids: ThreadIds, max_steps: usize) -> AnyEngine {
    let cached = |cache: &RefCell<Vec<AnyEngine>>| {
        let mut cache = cache.borrow_mut();
        let found = cache.iter().position(|engine| engine.memory() == memory)?;
        Some(cache.swap_remove(found))
    };
    // The cache is gone at the end of the OS thread.
    match CACHE.try_with(cached).ok().flatten() {
        Some(mut engine) => {
            engine.renew(thread_ids, max_steps);
            engine
        }
        None => AnyEngine::new(memory, thread_ids, max_steps),
    }
}

/// Keeps an engine whose runs have all ended, unless it is large.
pub(crate) fn put(engine: AnyEngine) {
    if !engine.is_small() {
        return;
    }
    let _ = CACHE.try_with(|cache| {
        let mut cache = cache.borrow_mut();
        if cache.len() == MAX_CACHED {
            cache.remove(0);
        }
        cache.push(engine);
    });
}
