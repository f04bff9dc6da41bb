//! The part of a stack that belongs to the program under test.

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

/// A frame: its function, and its line if that is known.
struct Frame<'a> {
    function: &'a str,
    line: Option<&'a str>,
}

/// Returns the frames of the program, innermost first, as lines of text.
pub(super) fn program_frames(stack: &str) -> String {
    let frames = frames(stack).into_iter().filter(is_of_program);
    let text = |frame: Frame<'_>| match frame.line {
        Some(line) => format!("{} at {line}", frame.function),
        None => frame.function.to_owned(),
    };
    frames.map(text).collect::<Vec<_>>().join("\n")
}

/// Returns the innermost frame of the program: its function, and its line if that is known.
pub(super) fn program_place(stack: &str) -> Option<String> {
    let frame = frames(stack).into_iter().find(is_of_program)?;
    Some(match frame.line {
        Some(line) => format!("in `{}` at {line}", frame.function),
        None => format!("in `{}`", frame.function),
    })
}

fn is_of_program(frame: &Frame<'_>) -> bool {
    let is_glue = frame.function.contains("drop_in_place") || frame.function.contains("drop_glue");
    !is_glue && !FOREIGN.iter().any(|foreign| frame.function.starts_with(foreign))
}

/// Returns the frames of a stack as `std::backtrace` writes it: numbered functions, each followed by its line.
fn frames(stack: &str) -> Vec<Frame<'_>> {
    let mut frames: Vec<Frame<'_>> = Vec::new();
    for line in stack.lines().map(str::trim) {
        if let Some(place) = line.strip_prefix("at ") {
            if let Some(frame) = frames.last_mut() {
                frame.line = Some(place.strip_prefix("./").unwrap_or(place));
            }
        } else if let Some((number, function)) = line.split_once(": ") {
            if number.bytes().all(|byte| byte.is_ascii_digit()) {
                frames.push(Frame { function, line: None });
            }
        }
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACK: &str = "   0: <raddle_runtime::port::name::Name as core::ops::drop::Drop>::drop\n   1: \
        core::ptr::drop_in_place<alloc::boxed::Box<queue::Node>>\n             at /rustc/abc/mod.rs:1:1\n   2: \
        queue::pop\n             at ./src/queue.rs:12:9\n   3: queue::main\n   4: std::rt::lang_start";

    #[test]
    fn the_program_is_what_is_left() {
        assert_eq!(program_place(STACK).unwrap(), "in `queue::pop` at src/queue.rs:12:9");
        assert_eq!(program_frames(STACK), "queue::pop at src/queue.rs:12:9\nqueue::main");
        assert_eq!(program_place("no frames"), None);
    }
}
