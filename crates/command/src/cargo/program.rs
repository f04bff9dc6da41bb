//! `cargo raddle run`: checks a binary of the crate, from its main on.

use std::ffi::OsString;

use super::build::{Built, What, Workspace};
use super::options::Options;
use super::select::Test;
use super::{Exit, test};
use crate::Problem;

/// Builds a binary and checks it. Its arguments follow two dashes.
pub(super) fn run(words: &[OsString]) -> Result<Exit, Problem> {
    let dashes = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let mut options = Options::parse(&words[..dashes])?;
    if let Some(word) = options.filters.first() {
        return Err(Problem(format!(
            "`{word}` is not an option; arguments of the program follow `--`"
        )));
    }
    options.arguments = words[dashes..].iter().skip(1).cloned().collect();
    let workspace = Workspace::find(&options.build)?;
    let Built::Binaries(binaries) = workspace.build(What::Programs, &options.build)? else {
        return Ok(Exit::Build);
    };
    let names: Vec<String> = binaries.iter().map(|binary| binary.name.clone()).collect();
    let [binary] = &binaries[..] else {
        return Err(Problem(if names.is_empty() {
            "there is no binary to run".to_owned()
        } else {
            format!("which binary? `--bin NAME` says; there are {}", names.join(", "))
        }));
    };
    test::check_all(&workspace, &[Test { binary: binary.clone(), name: None }], 0, &options)
}
