//! What the drop-ins for Loom and Shuttle need beyond the public API. Not for other users, and not stable.

mod lazy;
mod one_os_thread;
mod tracked;

pub use lazy::{Lazy, drop_statics};
pub use one_os_thread::OneOsThread;
pub use raddle_core::ThreadId;
pub use tracked::Tracked;

use std::panic::Location;

use raddle_core::Site;
use raddle_results::Token;
use raddle_results::token::name_hash;
use raddle_runtime::{SpawnHook, port};

use crate::future::{Order, Spurious, block_on_at, choose_spurious};
use crate::sync::Notify;
use crate::{Config, Report, SettingError};

/// Runs the check for `caller` and prints the result, as [`Config::check`]. Returns the report if no execution fails.
///
/// # Errors
/// Returns an error if a setting cannot be used.
pub fn check(
    config: Config,
    caller: &'static Location<'static>,
    program: impl Fn() + Send + Sync + 'static,
) -> Result<Report, SettingError> {
    config.check_at(caller, program)
}

/// Returns whether the caller is part of an execution of a check.
pub fn is_in_execution() -> bool {
    port::active() && !port::is_over()
}

/// [`block_on`](crate::future::block_on), with one poll without a wake-up in some executions. The order of polls does not
/// matter.
#[track_caller]
pub fn block_on_spuriously<F: Future>(future: F) -> F::Output {
    block_on_at(future, Spurious::Once, Order::Free, Site::caller())
}

/// Waits for a notification. Returns without one in some executions, and then returns true.
#[track_caller]
pub fn wait_spuriously(notify: &Notify) -> bool {
    let site = Site::caller();
    let is_spurious = choose_spurious(site);
    notify.wait_at(is_spurious, site);
    is_spurious
}

/// Tells `hook` of every spawn of a thread or task.
pub fn on_spawn(mut config: Config, hook: SpawnHook) -> Config {
    config.on_spawn = Some(hook);
    config
}

/// Returns the token of any check as a token of the check called `name`. Returns other words as they are.
pub fn token_for(name: &str, token: &str) -> String {
    match Token::parse(token) {
        Ok(parsed) => Token { check: name_hash(name), ..parsed }.to_string(),
        Err(_) => token.to_owned(),
    }
}

/// Returns the number of the calling thread in its execution. Main is 0. Returns `None` outside of executions.
pub fn thread_index() -> Option<usize> {
    port::active().then(|| port::thread().index())
}

/// Returns the number of steps of the execution so far. Returns 0 outside of executions.
pub fn steps() -> usize {
    if port::active() { port::step_count() } else { 0 }
}

/// Returns the number of the execution, or 0 outside of executions. Different executions have different numbers.
pub fn execution_number() -> u64 {
    port::run_number()
}

/// Names the calling thread in reports. Does nothing outside of executions.
pub fn name_thread(name: &str) {
    if port::active() {
        port::name_thread(name);
    }
}
