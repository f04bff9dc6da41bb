//! Source lines, which callers provide.

/// Returns a line of a source file, counted from one, if it can be read.
pub type Source<'a> = &'a dyn Fn(&str, u32) -> Option<String>;
