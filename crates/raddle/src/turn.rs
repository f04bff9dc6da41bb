//! Checks that run at the same time and use the same static.
//!
//! A static can be used by one check at a time. A check that meets one in use gives up what it has done, waits until
//! no other check runs, and begins again, alone. It holds nothing while it waits, so two checks never wait for each
//! other.

use std::cell::Cell;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Held shared by every check that runs beside others, and exclusively by a check that runs alone.
static CHECKS: RwLock<()> = RwLock::new(());

thread_local! {
    /// Whether this OS thread runs a check.
    static IS_IN_CHECK: Cell<bool> = const { Cell::new(false) };
}

/// The permission to run a check on this OS thread.
pub(crate) struct Turn {
    _beside_others: Option<RwLockReadGuard<'static, ()>>,
    _alone: Option<RwLockWriteGuard<'static, ()>>,
    /// Whether this check runs inside another one, which has the permission.
    is_nested: bool,
}

impl Turn {
    /// Waits for checks that run alone.
    pub(crate) fn beside_others() -> Turn {
        let is_nested = IS_IN_CHECK.replace(true);
        let guard = || CHECKS.read().unwrap_or_else(PoisonError::into_inner);
        Turn { _beside_others: (!is_nested).then(guard), _alone: None, is_nested }
    }

    /// Waits for all other checks.
    pub(crate) fn alone() -> Turn {
        let is_nested = IS_IN_CHECK.replace(true);
        let guard = || CHECKS.write().unwrap_or_else(PoisonError::into_inner);
        Turn { _beside_others: None, _alone: (!is_nested).then(guard), is_nested }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        IS_IN_CHECK.set(self.is_nested);
    }
}
