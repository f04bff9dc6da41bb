//! The mirror has the items of `std::sync`, `std::thread` and `std::sync::atomic`.
//!
//! A table lists every item and method. It is compiled against `std` and against the mirror, so both have all of them.
//! Where the documentation of `std` is installed, every stable item must be in the table or in the list of missing items.

#[path = "surface/table.rs"]
#[macro_use]
mod table;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The items and methods that the mirror does not have, each with the reason. A name without a method is an item.
const MISSING: &[(&str, &str)] = &[
    ("sync/constant.ONCE_INIT", DEPRECATED),
    ("sync/struct.Condvar::wait_timeout_ms", DEPRECATED),
    ("sync/struct.Once::wait", NO_OPERATION),
    ("sync/struct.Once::wait_force", NO_OPERATION),
    ("sync/struct.OnceLock::wait", NO_OPERATION),
    ("sync/struct.RwLockWriteGuard::downgrade", NO_OPERATION),
    ("thread/fn.park_timeout_ms", DEPRECATED),
    ("thread/fn.sleep_ms", DEPRECATED),
    ("thread/struct.Builder::spawn_unchecked", "unsafe; `scope` does the same without"),
    ("sync/atomic/constant.ATOMIC_BOOL_INIT", DEPRECATED),
    ("sync/atomic/constant.ATOMIC_ISIZE_INIT", DEPRECATED),
    ("sync/atomic/constant.ATOMIC_USIZE_INIT", DEPRECATED),
    ("sync/atomic/fn.spin_loop_hint", DEPRECATED),
    ("sync/atomic/struct.Atomic*::as_ptr", BEHIND_THE_BACK),
    ("sync/atomic/struct.Atomic*::from_ptr", BEHIND_THE_BACK),
    ("sync/atomic/struct.Atomic*::compare_and_swap", DEPRECATED),
    ("time/constant.UNIX_EPOCH", WALL_CLOCK),
    ("time/struct.SystemTime", WALL_CLOCK),
    ("time/struct.SystemTimeError", WALL_CLOCK),
    ("hint/fn.cold_path", TOO_NEW),
    ("hint/fn.select_unpredictable", TOO_NEW),
];

/// The items of the mirror that are newer than the oldest compiler, with which the table must compile.
const NEWER: &[&str] = &[
    "sync/struct.LazyLock::get",
    "sync/struct.LazyLock::get_mut",
    "sync/struct.LazyLock::force_mut",
    "sync/atomic/struct.Atomic*::update",
    "sync/atomic/struct.Atomic*::try_update",
    "sync/atomic/struct.AtomicPtr::fetch_ptr_add",
    "sync/atomic/struct.AtomicPtr::fetch_ptr_sub",
    "sync/atomic/struct.AtomicPtr::fetch_byte_add",
    "sync/atomic/struct.AtomicPtr::fetch_byte_sub",
    "sync/atomic/struct.AtomicPtr::fetch_or",
    "sync/atomic/struct.AtomicPtr::fetch_and",
    "sync/atomic/struct.AtomicPtr::fetch_xor",
];

const DEPRECATED: &str = "deprecated";
const TOO_NEW: &str = "newer than the oldest compiler";
const NO_OPERATION: &str = "newer than the oldest compiler, and the engine has no such operation";
const BEHIND_THE_BACK: &str = "accesses through a pointer could not be seen";
const WALL_CLOCK: &str = "the time of day differs between executions";

/// The items that are re-exported from `std`, with all their methods.
const RE_EXPORTED: &[&str] = &[
    "sync/struct.Arc",
    "sync/struct.Weak",
    "sync/struct.PoisonError",
    "sync/enum.TryLockError",
    "sync/type.LockResult",
    "sync/type.TryLockResult",
    "sync/atomic/enum.Ordering",
    "sync/atomic/fn.compiler_fence",
    "sync/mpsc/enum.RecvTimeoutError",
    "sync/mpsc/enum.TryRecvError",
    "sync/mpsc/enum.TrySendError",
    "sync/mpsc/struct.RecvError",
    "sync/mpsc/struct.SendError",
    "time/struct.Duration",
    "time/struct.TryFromFloatSecsError",
];

#[test]
fn newer_items_exist() {
    use raddle::sync::LazyLock;
    use raddle::sync::atomic::{AtomicPtr, AtomicU8, Ordering::SeqCst};
    let mut lazy: LazyLock<u8> = LazyLock::new(|| 1);
    assert_eq!(LazyLock::get(&lazy), None);
    assert_eq!(LazyLock::get_mut(&mut lazy), None);
    *LazyLock::force_mut(&mut lazy) += 1;
    assert_eq!(LazyLock::get(&lazy), Some(&2));
    let number = AtomicU8::new(1);
    assert_eq!(number.update(SeqCst, SeqCst, |old| old + 1), 1);
    assert_eq!(number.try_update(SeqCst, SeqCst, |_| None), Err(2));
    let pointer = AtomicPtr::new(std::ptr::null_mut::<u8>());
    assert!(pointer.update(SeqCst, SeqCst, |old| old).is_null());
}

#[test]
fn re_exported_items_are_those_of_std() {
    fn same<T>(_: fn(T), _: fn(T)) {}
    same::<std::sync::Arc<u8>>(drop::<raddle::sync::Arc<u8>>, drop);
    same::<std::sync::Weak<u8>>(drop::<raddle::sync::Weak<u8>>, drop);
    same::<std::sync::PoisonError<u8>>(drop::<raddle::sync::PoisonError<u8>>, drop);
    same::<std::sync::TryLockError<u8>>(drop::<raddle::sync::TryLockError<u8>>, drop);
    same::<std::sync::LockResult<u8>>(drop::<raddle::sync::LockResult<u8>>, drop);
    same::<std::sync::TryLockResult<u8>>(drop::<raddle::sync::TryLockResult<u8>>, drop);
    same::<std::sync::atomic::Ordering>(drop::<raddle::sync::atomic::Ordering>, drop);
    same::<std::sync::mpsc::RecvError>(drop::<raddle::sync::mpsc::RecvError>, drop);
    same::<std::sync::mpsc::TryRecvError>(drop::<raddle::sync::mpsc::TryRecvError>, drop);
    same::<std::sync::mpsc::RecvTimeoutError>(drop::<raddle::sync::mpsc::RecvTimeoutError>, drop);
    same::<std::sync::mpsc::SendError<u8>>(drop::<raddle::sync::mpsc::SendError<u8>>, drop);
    same::<std::sync::mpsc::TrySendError<u8>>(drop::<raddle::sync::mpsc::TrySendError<u8>>, drop);
    same::<std::time::Duration>(drop::<raddle::time::Duration>, drop);
}

/// Returns the folder with the documentation of `std`, or `None` if it is not installed.
fn documentation() -> Option<PathBuf> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(compiler).args(["--print", "sysroot"]).output().ok()?;
    let root = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    let pages = root.join("share/doc/rust/html/std");
    pages.is_dir().then_some(pages)
}

/// Returns the stable methods on the page of an item, or `None` if the item is not stable.
fn stable_methods(page: &str) -> Option<Vec<String>> {
    const UNSTABLE: &str = "stab unstable";
    let declared = page.split_once("item-decl").map_or("", |parts| parts.1);
    let declared = declared.split_once("</pre>").map_or("", |parts| parts.1);
    if declared.chars().take(200).collect::<String>().contains(UNSTABLE) {
        return None;
    }
    let own = page.split_once("id=\"implementations\"").map_or("", |parts| parts.1);
    let own = own.split("id=\"trait-implementations\"").next().unwrap_or("");
    let own = own.split("id=\"deref-methods").next().unwrap_or("");
    let methods = own.split("<section id=\"method.").skip(1).filter_map(|part| {
        let summary = part.split("</summary>").next().unwrap_or("");
        let name: String =
            part.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
        (!summary.contains(UNSTABLE)).then_some(name)
    });
    Some(methods.collect())
}

#[test]
fn every_stable_item_is_in_a_table() {
    let Some(pages) = documentation() else {
        println!("the documentation of std is not installed: nothing to compare with");
        return;
    };
    let mut known: BTreeSet<String> = names().iter().map(|name| (*name).to_owned()).collect();
    known.extend(MISSING.iter().map(|(name, _)| (*name).to_owned()));
    known.extend(NEWER.iter().map(|name| (*name).to_owned()));
    let is_known = |item: &str, method: &str| {
        let any_atomic = item.starts_with("sync/atomic/struct.Atomic");
        let general = format!("sync/atomic/struct.Atomic*::{method}");
        known.contains(&format!("{item}::{method}")) || any_atomic && known.contains(&general)
    };
    let mut absent = Vec::new();
    let mut compared = 0;
    for module in ["sync", "sync/atomic", "sync/mpsc", "thread", "time", "hint"] {
        for (item, page) in items(&pages, module) {
            let Some(methods) = stable_methods(&page) else { continue };
            compared += 1 + methods.len();
            if RE_EXPORTED.contains(&item.as_str()) {
                continue;
            }
            if !known.contains(&item) {
                absent.push(item);
                continue;
            }
            let excused = MISSING.iter().any(|(name, _)| *name == item);
            let unknown = methods.iter().filter(|method| !excused && !is_known(&item, method));
            absent.extend(unknown.map(|method| format!("{item}::{method}")));
        }
    }
    assert!(absent.is_empty(), "std has what the mirror has not: {absent:#?}");
    assert!(compared > 300, "only {compared} items and methods were found in the documentation");
}

/// Returns the items of a module, with their pages.
fn items(pages: &Path, module: &str) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(pages.join(module)).expect("a module has a folder");
    let mut items: Vec<_> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?.strip_suffix(".html")?.to_owned();
            let is_item = name.contains('.') && !name.starts_with("trait.");
            is_item.then(|| (format!("{module}/{name}"), std::fs::read_to_string(&path).unwrap()))
        })
        .collect();
    items.sort();
    items
}

use table::INTEGER_METHODS;

surface_table!(declare_names);

mod real {
    use std as root;
    surface_table!(compile);
}
mod mirror {
    use raddle as root;
    surface_table!(compile);
}

#[test]
fn the_table_is_compiled_against_both() {
    assert_eq!(real::check(), mirror::check());
}
