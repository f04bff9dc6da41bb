//! Names of threads and objects, and what the objects are.

use std::collections::BTreeSet;

use raddle_analysis::printable;
use raddle_results::document::{Object, Place, Trace};

/// Returns the name of a thread: `thread 1`, or `thread 1 (worker)`.
pub(crate) fn thread_name(trace: &Trace, id: u32) -> String {
    let plain = if id == 0 { "main".to_owned() } else { format!("thread {id}") };
    match trace.thread(id).and_then(|thread| thread.name.as_ref()) {
        Some(name) => format!("{plain} ({})", printable(name)),
        None => plain,
    }
}

/// Returns the name of an object: `mutex 1`.
pub(crate) fn object_name(trace: &Trace, id: u32) -> &str {
    trace.object(id).map_or("nothing", |object| &object.name)
}

/// Returns a line for each of the `used` objects that a reader does not recognise by its name: what it is,
/// and where the program made it, or first used it.
pub(crate) fn legend(trace: &Trace, used: &BTreeSet<u32>) -> Vec<String> {
    let is_listed = |object: &&Object| {
        used.contains(&object.id) && object.kind != "thread" && object.kind != "parker"
    };
    let listed: Vec<&Object> = trace.objects.iter().filter(is_listed).collect();
    let width = listed.iter().map(|object| object.name.len()).max().unwrap_or(0);
    let line = |object: &&Object| {
        let what = match (&object.scalar, &object.type_name) {
            (Some(scalar), _) => format!("{scalar}, "),
            (None, Some(name)) => format!("{name}, "),
            (None, None) if object.named => format!("{}, ", object.kind),
            (None, None) => String::new(),
        };
        match &object.made {
            Place::Unknown => {
                format!("{:width$}  {what}first used at {}", object.name, object.site)
            }
            made => format!("{:width$}  {what}made at {made}", object.name),
        }
    };
    listed.iter().map(line).collect()
}
