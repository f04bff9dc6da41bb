//! Backtraces without the frames of panicking itself, of raddle and of the standard library, which are the same every time.

use crate::frames::is_of_program;

/// Returns the frames of `backtrace` that belong to the program; all of them if there are none.
pub(crate) fn program_part(backtrace: &str) -> String {
    let mut frames: Vec<Vec<&str>> = Vec::new();
    for line in backtrace.lines() {
        match frames.last_mut() {
            Some(frame) if !begins_frame(line) => frame.push(line),
            Some(_) | None => frames.push(vec![line]),
        }
    }
    let is = |frame: &[&str], words: &[&str]| words.iter().any(|word| frame[0].contains(word));
    let first = frames.iter().rposition(|frame| is(frame, PANICKING)).map_or(0, |last| last + 1);
    let rest = &frames[first..];
    let end = rest.iter().position(|frame| is(frame, RUNNING)).unwrap_or(rest.len());
    let own: Vec<Vec<&str>> =
        rest[..end].iter().filter(|frame| is_of_program(function(frame[0]))).cloned().collect();
    let kept = if own.is_empty() { &frames } else { &own };
    kept.concat().join("\n")
}

/// Functions between the panic and the program.
const PANICKING: &[&str] =
    &["core::panicking::", "rust_begin_unwind", "core::result::unwrap_failed"];
/// Functions that call the program.
const RUNNING: &[&str] = &["raddle_runtime::", "__rust_begin_short_backtrace"];

/// Returns the function of the first line of a frame.
fn function(line: &str) -> &str {
    line.split_once(": ").map_or(line, |(_, function)| function)
}

/// Returns whether a line begins a frame: `  12: function`.
fn begins_frame(line: &str) -> bool {
    let number = line.trim_start();
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && number[digits..].starts_with(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_frames_of_the_program_are_kept() {
        let backtrace = "   0: std::backtrace\n             at ./backtrace.rs:1:2\n   \
            1: rust_begin_unwind\n   2: core::panicking::panic_fmt\n             at ./p.rs:3:4\n   \
            3: demo::inner\n             at ./demo.rs:5:6\n   \
            4: core::ops::function::FnOnce::call_once\n             at ./function.rs:1:1\n   \
            5: <raddle::sync::Mutex<T>>::with\n  14: demo::outer\n  15: raddle_runtime::run::work\n  16: demo::main";
        assert_eq!(
            program_part(backtrace),
            "   3: demo::inner\n             at ./demo.rs:5:6\n  14: demo::outer"
        );
    }

    #[test]
    fn a_backtrace_without_frames_of_the_program_is_kept() {
        for backtrace in
            ["", "unsupported", "   0: core::panicking::panic\n   1: raddle_runtime::a"]
        {
            assert_eq!(program_part(backtrace), backtrace);
        }
    }
}
