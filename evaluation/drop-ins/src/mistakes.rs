//! Known bugs and wrong orderings, put into the sources of the crates: do their Loom tests find them?

use std::fs;
use std::path::Path;

use crate::build::{self, Tool};
use crate::crates::{CRATES, Crate};
use crate::run::{self, Outcome};

/// A change of a few words that makes a crate wrong.
struct Mistake {
    /// The crate.
    of: &'static str,
    /// What is wrong then, and where the mistake is known from.
    about: &'static str,
    file: &'static str,
    /// The change is made at the first place of `old` behind the first place of this.
    after: &'static str,
    old: &'static str,
    new: &'static str,
    /// Which tests run: those whose names contain this.
    filter: &'static str,
}

static MISTAKES: &[Mistake] = &[
    Mistake {
        of: "tokio",
        about: "`oneshot`: a value is sent after the channel was closed (fixed in 1.13.1)",
        file: "src/sync/oneshot.rs",
        after: "fn set_complete",
        old: "is_closed()",
        new: "is_closed() && false",
        filter: "sync::tests::loom_oneshot",
    },
    Mistake {
        of: "tokio",
        about: "`mpsc`: `is_empty` looks at the first block only (fixed in 1.38.0)",
        file: "src/sync/mpsc/list.rs",
        after: "pub(crate) fn is_empty",
        old: "self.len(tx) == 0",
        new: "true",
        filter: "sync::tests::loom_mpsc::nonempty",
    },
    Mistake {
        of: "tokio",
        about: "`mpsc`: `len` counts the mark of a closed channel",
        file: "src/sync/mpsc/list.rs",
        after: "pub(crate) fn len",
        old: "self.is_maybe_closed(",
        new: "false && self.is_maybe_closed(",
        filter: "sync::tests::loom_mpsc::len_during",
    },
    Mistake {
        of: "tokio",
        about: "`AtomicWaker`: a waker that panics leaves the lock taken (fixed in 1.14.0)",
        file: "src/sync/task/atomic_waker.rs",
        after: "let new_waker_or_panic",
        old: "catch_unwind(move || waker.into_waker())",
        new: "std::thread::Result::Ok(waker.into_waker())",
        filter: "sync::tests::loom_atomic_waker",
    },
    Mistake {
        of: "diatomic-waker",
        about: "a new waker is made visible without `Release`",
        file: "src/waker.rs",
        after: "UPDATE | REGISTERED, ",
        old: "Ordering::AcqRel",
        new: "Ordering::Acquire",
        filter: "",
    },
    Mistake {
        of: "async-event",
        about: "a notification without its `SeqCst` fence",
        file: "src/lib.rs",
        after: "pub fn notify(",
        old: "fence(Ordering::SeqCst)",
        new: "fence(Ordering::AcqRel)",
        filter: "",
    },
    Mistake {
        of: "st3",
        about: "a push without `Release`",
        file: "src/fifo.rs",
        after: "pub fn push(",
        old: "wrapping_add(1), Release",
        new: "wrapping_add(1), Relaxed",
        filter: "fifo",
    },
    Mistake {
        of: "sharded-slab",
        about: "a slot is given back to its shard without `Release`",
        file: "src/page/stack.rs",
        after: "fn push(",
        old: "Ordering::Release",
        new: "Ordering::Relaxed",
        filter: "",
    },
];

const HEAD: &str = "\
| crate | mistake | raddle: found by | time | Loom: found by | time |
| --- | --- | --- | ---: | --- | ---: |";

/// Puts each mistake into a copy of its crate, runs the tests until one fails, and prints a table. Returns the number
/// of mistakes that raddle has not found.
pub(crate) fn measure(here: &Path, target: &Path, wanted: &[String]) -> Result<usize, String> {
    let mut missed = 0;
    println!("{HEAD}");
    for mistake in MISTAKES {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == mistake.of) {
            continue;
        }
        let of = CRATES.iter().find(|known| known.name == mistake.of);
        let of = of.ok_or_else(|| format!("{} is no crate of the table", mistake.of))?;
        // The text is read elsewhere: a run that was interrupted leaves its mistake behind.
        let right = build::source(of, target)?.join(mistake.file);
        let text = fs::read_to_string(&right)
            .map_err(|error| format!("cannot read {}: {error}", right.display()))?;
        let source = build::source(of, &target.join("mistakes"))?;
        let path = source.join(mistake.file);
        write(&path, &mistake.change(&text)?)?;
        let repository = here.join("../..");
        let raddle = mistake.find(of, &source, target, Tool::Raddle { repository: &repository });
        let loom = mistake.find(of, &source, target, Tool::Loom);
        write(&path, &text)?;
        let (raddle, loom) = (raddle?, loom?);
        missed += usize::from(raddle.is_none());
        println!(
            "| {} {} | {} | {} | {} |",
            of.name,
            of.version,
            mistake.about,
            cell(raddle.as_ref()),
            cell(loom.as_ref())
        );
    }
    Ok(missed)
}

impl Mistake {
    /// Returns the text of the file with the mistake.
    fn change(&self, text: &str) -> Result<String, String> {
        let place = text.find(self.after).and_then(|start| {
            let start = start + self.after.len();
            Some(start + text[start..].find(self.old)?)
        });
        let place = place
            .ok_or_else(|| format!("{}: {} has changed: no `{}`", self.of, self.file, self.old))?;
        Ok(format!("{}{}{}", &text[..place], self.new, &text[place + self.old.len()..]))
    }

    /// Returns the first test that fails, and how.
    fn find(
        &self,
        of: &Crate,
        source: &Path,
        target: &Path,
        tool: Tool<'_>,
    ) -> Result<Option<(String, Outcome)>, String> {
        let program = build::tests(of, source, target, tool)?;
        for test in run::list(&program, source, self.filter)? {
            let outcome = run::test(&program, source, &test, of)?;
            eprintln!("{} {test}: {outcome:?}", of.name);
            if !outcome.passes && !outcome.is_cut_off && !outcome.is_known_bug {
                return Ok(Some((test, outcome)));
            }
        }
        Ok(None)
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn cell(found: Option<&(String, Outcome)>) -> String {
    match found {
        Some((test, outcome)) => format!("`{test}` | {:.2} s", outcome.time.as_secs_f64()),
        None => "– | –".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::MISTAKES;

    #[test]
    fn the_place_behind_the_anchor_is_changed() {
        let mistake = &MISTAKES[0];
        let text = "is_closed() fn set_complete { is_closed() is_closed() }";
        let changed = "is_closed() fn set_complete { is_closed() && false is_closed() }";
        assert_eq!(mistake.change(text).as_deref(), Ok(changed));
        assert!(mistake.change("is_closed() fn set_complete").is_err());
    }
}
