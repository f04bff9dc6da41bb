//! Which tests run.

use super::build::Binary;
use super::options::Options;

/// A test of a program.
#[derive(Clone, Debug)]
pub(super) struct Test {
    pub(super) binary: Binary,
    /// Its name. `None` if the program has a harness of its own, and is one test.
    pub(super) name: Option<String>,
}

/// The tests to run.
pub(super) struct Selected {
    pub(super) tests: Vec<Test>,
    /// The number of tests that do not run because they are ignored, or because of their names.
    pub(super) skipped: usize,
}

impl Test {
    /// Returns what reports call it.
    pub(super) fn title(&self) -> String {
        match &self.name {
            Some(name) => format!("{} {name}", self.binary.name),
            None => self.binary.name.clone(),
        }
    }
}

/// Selects the tests of these programs that are to run.
pub(super) fn select(binaries: Vec<Binary>, options: &Options) -> Selected {
    let mut selected = Selected { tests: Vec::new(), skipped: 0 };
    for binary in binaries {
        let listed = binary.list();
        let names: Vec<(Option<String>, bool)> = match &listed {
            Some(listed) => {
                let entry = |name: &String| (Some(name.clone()), listed.ignored.contains(name));
                listed.names.iter().map(entry).collect()
            }
            None => vec![(None, false)],
        };
        for (name, is_ignored) in names {
            if options.selects(name.as_deref().unwrap_or(&binary.name), is_ignored) {
                selected.tests.push(Test { binary: binary.clone(), name });
            } else {
                selected.skipped += 1;
            }
        }
    }
    selected
}
