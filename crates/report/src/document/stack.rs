//! The part of a stack that belongs to the program under test.

use raddle_analysis::Words;
use raddle_core::locks::{Change, change};
use raddle_core::{Event, EventId, Moment, ObjectId, Trace};
use raddle_results::document::{Place, Stack};

use crate::frames;

/// Returns the stacks that were recorded at what the parties of a failure did, but not where locks are released.
pub(super) fn stacks(run: &Trace, words: &Words<'_>) -> Vec<Stack> {
    let stack = |recorded: &raddle_core::Stack| {
        let raddle_core::Stack { thread, after, moment, object, .. } = *recorded;
        let (text, waits, after) = match moment {
            Moment::Announcement(index) => {
                let id = EventId { thread, index };
                match run.events.iter().position(|event| event.id == id) {
                    Some(at) if change(&run.events[at]) == Some(Change::Released) => return None,
                    // Others may have made steps between its announcement and the step.
                    Some(at) => (words.performed(at), false, at),
                    None => {
                        let pending = run.pending.iter().find(|one| one.thread == thread)?;
                        (words.announced(pending.op), true, after)
                    }
                }
            }
            Moment::Access if object != ObjectId::NONE => {
                (format!("access to {}", words.names.name(object)), false, after)
            }
            Moment::Access | Moment::End => return None,
        };
        let frames: Vec<String> =
            program_frames(&recorded.text).lines().map(str::to_owned).collect();
        Some(Stack { thread: thread.0, after: after as u64, text, waits, frames })
    };
    run.stacks().iter().filter_map(stack).filter(|stack| !stack.frames.is_empty()).collect()
}

/// Returns where the program releases a lock, if that is known better than by the place where the guard was made.
pub(super) fn released_at(run: &Trace, event: &Event) -> Option<Place> {
    if change(event) != Some(Change::Released) {
        return None;
    }
    let moment = Moment::Announcement(event.id.index);
    let recorded = run
        .stacks()
        .iter()
        .find(|stack| stack.thread == event.id.thread && stack.moment == moment)?;
    let frame = frames(&recorded.text).into_iter().find(is_of_program)?;
    let mut parts = frame.line?.rsplitn(3, ':');
    let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    // Cargo compiles in the workspace and tests in the package, so that one file may have two paths.
    let known = event.site.location().map(|known| known.file());
    let file = known.filter(|known| known.ends_with(file) || file.ends_with(known)).unwrap_or(file);
    Some(Place::Line {
        file: file.to_owned(),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
    })
}

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
    frames::is_of_program(frame.function)
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
            // On the portable back end the stack of who runs the check follows.
            if function.starts_with("corosensei::") {
                break;
            }
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
