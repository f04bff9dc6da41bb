//! Which functions on a stack belong to the program under test.

/// Functions with these beginnings are not the program's.
const FOREIGN: [&str; 12] = [
    "std::",
    "core::",
    "alloc::",
    "<std::",
    "<core::",
    "<alloc::",
    "raddle::",
    "<raddle::",
    "raddle_runtime::",
    "<raddle_runtime::",
    "__",
    "_",
];

/// Returns whether a function belongs to the program under test.
pub(crate) fn is_of_program(function: &str) -> bool {
    let is_glue = function.contains("drop_in_place") || function.contains("drop_glue");
    !is_glue && !FOREIGN.iter().any(|foreign| function.starts_with(foreign))
}
