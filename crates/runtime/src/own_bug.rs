//! Panics inside of raddle: a broken invariant of raddle never passes for a bug of the program.
//!
//! They are recognised by their place: a source file of a crate below the mirror of `std`, in which nothing panics on
//! behalf of the program but with a message that begins with [`FOR_THE_PROGRAM`]. The mirror panics as `std` does, at the
//! line of its caller or in its own files. So there a message says it ([`BROKEN`]).

use std::cell::RefCell;
use std::panic::Location;
use std::path::Path;

/// What panics of these crates begin with that tell the program what it does wrong.
const FOR_THE_PROGRAM: &str = "raddle: ";
/// What checks of raddle's invariants say, in any crate.
const BROKEN: &str = "raddle invariant broken";

/// The crates below the mirror.
const CRATES: [&str; 8] =
    ["core", "engine", "strategy", "solve", "results", "analysis", "explore", "runtime"];

thread_local! {
    /// The first panic inside of raddle in the run on this OS thread: the message and the place.
    static FOUND: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Takes note of a panic if it is one inside of raddle.
pub(crate) fn note(message: &str, place: Option<&Location<'_>>) {
    let is_inside = place.is_some_and(|place| is_source_of_raddle(Path::new(place.file())));
    if message.contains(BROKEN) || is_inside && !message.starts_with(FOR_THE_PROGRAM) {
        let place = place.map_or_else(|| "an unknown place".to_owned(), Location::to_string);
        FOUND.with(|found| {
            found.borrow_mut().get_or_insert((message.to_owned(), place));
        });
    }
}

/// Returns whether raddle has panicked in the current run.
pub(crate) fn is_noted() -> bool {
    FOUND.with(|found| found.borrow().is_some())
}

/// Returns what to say if raddle has panicked in the current run, and forgets that.
pub(crate) fn take(check: &str, token: &str) -> Option<String> {
    let (message, place) = FOUND.take()?;
    Some(format!(
        "raddle has a bug, and this check has no result: raddle panicked at {place}: {message}\n  This says \
         nothing about the program under test. Please report it, with the program if you can.\n  check: \
         {check}\n  execution: {token}"
    ))
}

/// Returns whether a source file is one of a crate below the mirror. The crates lie beside this one, in folders whose
/// names differ in the name of the crate alone.
fn is_source_of_raddle(file: &Path) -> bool {
    let this = Path::new(file!()).parent().and_then(Path::parent);
    let Some((beside, folder)) = this.and_then(|this| Some((this.parent()?, this.file_name()?)))
    else {
        return false;
    };
    let folder = folder.to_string_lossy();
    let mut sources =
        CRATES.iter().map(|name| beside.join(folder.replace("runtime", name)).join("src"));
    sources.any(|sources| file.starts_with(sources))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_raddle_are_recognised() {
        let this = Path::new(file!());
        let beside = |path: &str| this.ancestors().nth(3).expect("a crate beside").join(path);
        assert!(is_source_of_raddle(this));
        assert!(is_source_of_raddle(&beside("engine/src/engine/choose.rs")));
        assert!(!is_source_of_raddle(&beside("raddle/src/sync/mutex.rs")));
        assert!(!is_source_of_raddle(&beside("engine/tests/all/main.rs")));
        assert!(!is_source_of_raddle(Path::new("src/lib.rs")));
    }

    #[test]
    fn messages_for_the_program_are_no_bug_of_raddle() {
        note("raddle: do something else", Some(Location::caller()));
        assert!(!is_noted());
        note("anything", Some(Location::caller()));
        note("anything else", None);
        assert!(is_noted());
        let text = take("check", "r1-AAAA").expect("noted");
        assert!(text.contains("own_bug.rs") && text.contains("anything"), "{text}");
        note("raddle invariant broken: this", None);
        assert!(take("check", "r1-AAAA").is_some() && !is_noted());
    }
}
