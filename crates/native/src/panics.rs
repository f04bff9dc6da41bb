//! Panics in what a test of Rust's test harness has written.

/// A panic that was reported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reported {
    pub(crate) message: String,
    /// File, line and column.
    pub(crate) place: Option<String>,
}

/// What a thread panics with that joins one that has panicked.
const OF_ANOTHER: &str = "Any { .. }";

/// Returns why a test has failed, by what it has written: the last panic, or the one that it passes on.
pub(crate) fn find(output: &str) -> Option<Reported> {
    let panics = reported(output);
    let own = panics.iter().rposition(|panic| !panic.message.contains(OF_ANOTHER));
    if let Some(index) = own {
        return Some(panics[index].clone());
    }
    let others = ["Error: ", "note: "];
    let line = output.lines().find(|line| others.iter().any(|start| line.starts_with(start)))?;
    Some(Reported { message: line.to_owned(), place: None })
}

/// Returns all panics that were reported.
fn reported(output: &str) -> Vec<Reported> {
    let mut panics = Vec::new();
    let mut lines = output.lines().peekable();
    while let Some(line) = lines.next() {
        let is_report = line.starts_with("thread '");
        let Some((_, place)) = line.split_once(" panicked at ").filter(|_| is_report) else {
            continue;
        };
        let mut message = Vec::new();
        // The message ends before a note on backtraces, or the report of another panic.
        while let Some(next) = lines.peek() {
            if next.starts_with("note: ") || next.starts_with("thread '") {
                break;
            }
            message.push(next.trim_end());
            lines.next();
        }
        let message = message.join("\n").trim().to_owned();
        let place = Some(place.trim_end_matches(':').to_owned());
        panics.push(Reported { message, place });
    }
    panics
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place_and_message(output: &str) -> Option<(String, String)> {
        find(output).map(|panic| (panic.place.unwrap_or_default(), panic.message))
    }

    #[test]
    fn the_panic_that_was_passed_on_is_found() {
        let output = "test a ... \nthread '<unnamed>' (4244) panicked at src/a.rs:4:5:\nassertion failed\n  left: 1\n\
                      note: run with `RUST_BACKTRACE=1`\n\nthread 'a' (4243) panicked at src/a.rs:9:14:\n\
                      called `Result::unwrap()` on an `Err` value: Any { .. }\nFAILED\n";
        let expected = ("src/a.rs:4:5".to_owned(), "assertion failed\n  left: 1".to_owned());
        assert_eq!(place_and_message(output), Some(expected));
    }

    #[test]
    fn other_failures_have_a_line() {
        let output = "test a - should panic ... FAILED\n\nnote: test did not panic as expected at a.rs:3:4\n";
        let expected = "note: test did not panic as expected at a.rs:3:4";
        assert_eq!(place_and_message(output), Some((String::new(), expected.to_owned())));
        assert_eq!(find("test a ... ok\n"), None);
    }
}
