//! The cause of a failure: its kind, place and message without numbers.
//!
//! Threads and values are left out: they differ between runs that fail for the same reason.

use raddle_results::{Finding, Leak};

/// Returns a text that is equal for failures of the same cause.
pub fn cause(finding: &Finding) -> String {
    match finding {
        Finding::Panic(panic) => {
            let place = panic.place.as_deref().unwrap_or("somewhere");
            format!("panic at {place}: {}", without_numbers(&panic.message))
        }
        Finding::Deadlock(waits) => {
            // Threads outside the cycle only wait for it; their number varies between runs.
            let is_cyclic = waits.iter().any(|wait| wait.in_cycle);
            let waits = waits.iter().filter(|wait| wait.in_cycle || !is_cyclic);
            let mut sites: Vec<String> = waits.map(|wait| wait.site.to_string()).collect();
            sites.sort_unstable();
            sites.dedup();
            format!("deadlock at {}", sites.join(", "))
        }
        Finding::WaitsForever { loops, .. } => {
            let looks = loops.iter().flat_map(|one| &one.looks);
            let mut sites: Vec<String> = looks.map(|looked| looked.site.to_string()).collect();
            sites.sort_unstable();
            sites.dedup();
            format!("waits forever at {}", sites.join(", "))
        }
        Finding::Race { first, second } => {
            let mut sites = [first.site.to_string(), second.site.to_string()];
            sites.sort_unstable();
            format!("race at {}", sites.join(" and "))
        }
        Finding::UseAfterFree { access, .. } => format!("use after free at {}", access.site),
        Finding::FreedTwice { .. } => "freed twice".to_owned(),
        Finding::ReadTwice { second, .. } => format!("read twice at {second}"),
        Finding::Leak(leak) => match leak {
            Leak::Thread { site, .. } => format!("a thread left at {site}"),
            Leak::Lock { site, .. } => format!("a lock taken at {site} left"),
            Leak::Memory { site, .. } => format!("memory used at {site} left"),
            _ => raddle_results::new_variant(),
        },
        Finding::StepLimit { .. } => "step limit".to_owned(),
        Finding::Nondeterminism { .. } => "nondeterminism".to_owned(),
        _ => raddle_results::new_variant(),
    }
}

/// Replaces every number of a message, decimal or hexadecimal, signed or fractional, with `#`.
fn without_numbers(message: &str) -> String {
    let mut text = String::new();
    let mut rest = message;
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let is_word = before.chars().next_back().is_some_and(|c| c.is_alphabetic() || c == '_');
        let before = if is_word { before } else { before.strip_suffix('-').unwrap_or(before) };
        text += before;
        text.push('#');
        let digits = match number.strip_prefix("0x") {
            Some(hexadecimal) => {
                let is_digit = |c: char| c.is_ascii_hexdigit() || c == '_';
                2 + hexadecimal.find(|c| !is_digit(c)).unwrap_or(hexadecimal.len())
            }
            None => {
                let is_digit = |c: char| c.is_ascii_digit() || c == '_';
                number.find(|c| !is_digit(c)).unwrap_or(number.len())
            }
        };
        rest = &number[digits..];
        // The digits after a point belong to the number.
        if let Some(fraction) = rest.strip_prefix('.') {
            let end = fraction.find(|c: char| !c.is_ascii_digit()).unwrap_or(fraction.len());
            if end > 0 {
                rest = &fraction[end..];
            }
        }
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::{ObjectId, Panic, Site, ThreadId};
    use raddle_results::Wait;

    #[test]
    fn numbers_are_replaced() {
        for (message, expected) in [
            ("", ""),
            ("no number", "no number"),
            ("left: 1, right: -23", "left: #, right: #"),
            ("at 0x7f_ff12 of 1_000", "at # of #"),
            ("0.25 or 3.", "# or #."),
            ("thread3 x-1", "thread# x#"),
            ("größe 7€", "größe #€"),
        ] {
            assert_eq!(without_numbers(message), expected);
        }
    }

    fn panic(thread: u32, message: &str, place: &str) -> Finding {
        Finding::Panic(Panic {
            thread: ThreadId(thread),
            message: message.to_owned(),
            place: Some(place.to_owned()),
            backtrace: None,
        })
    }

    #[test]
    fn panics_are_distinguished_by_place_and_message() {
        let one = cause(&panic(1, "left: 1", "a.rs:1:1"));
        assert_eq!(one, cause(&panic(2, "left: 2", "a.rs:1:1")));
        assert_ne!(one, cause(&panic(1, "left: 1", "a.rs:2:1")));
        assert_ne!(one, cause(&panic(1, "right: 1", "a.rs:1:1")));
    }

    #[test]
    fn deadlocks_are_distinguished_by_the_sites_of_their_cycle() {
        let here = Site::caller();
        let there = Site::caller();
        let wait = |thread, site, in_cycle| Wait {
            thread: ThreadId(thread),
            object: ObjectId(0),
            site,
            holders: Vec::new(),
            in_cycle,
        };
        let cycle = vec![wait(1, here, true), wait(2, there, true)];
        let turned = vec![wait(1, there, true), wait(2, here, true), wait(3, here, false)];
        let other = vec![wait(1, here, true), wait(2, here, true)];
        let [cycle, turned, other] =
            [cycle, turned, other].map(|waits| cause(&Finding::Deadlock(waits)));
        assert_eq!(cycle, turned);
        assert_ne!(cycle, other);
        assert_ne!(cycle, cause(&Finding::StepLimit { steps: 1 }));
    }
}
