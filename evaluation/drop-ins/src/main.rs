//! Runs the Loom tests that published crates ship, unmodified, on raddle and on Loom, and prints a table.
//!
//! The sources come from the registry, in the versions of `Cargo.toml`. They are copied to the target folder, built once
//! with Loom and once with Loom replaced by a patch on the command line, and every test runs in a process of its own.
//!
//! `cargo run --release -- [CRATE…]` runs all crates, or those that are named. `cargo run --release -- mistakes [CRATE…]`
//! puts known bugs and wrong orderings into the sources, and tells which are found.

#![forbid(unsafe_code)]

mod build;
mod crates;
mod mistakes;
mod run;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use build::Tool;
use crates::CRATES;

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let has_mistakes = words.first().is_some_and(|word| word == "mistakes");
    let outcome = if has_mistakes { mistakes(&words.split_off(1)) } else { measure(&words) };
    match outcome {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(problem)) | Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the folder of this program, where the sources have been fetched, and the target folder.
fn folders() -> Result<(&'static Path, PathBuf), String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(here.join("target"), PathBuf::from);
    build::fetch(here)?;
    Ok((here, target))
}

/// Looks for mistakes. Returns what is wrong if some are missed.
fn mistakes(wanted: &[String]) -> Result<Option<String>, String> {
    let (here, target) = folders()?;
    let missed = mistakes::measure(here, &target, wanted)?;
    Ok((missed > 0).then(|| format!("{missed} mistakes are not found")))
}

/// Measures the crates, and prints the table. Returns what is wrong if tests fail with raddle.
fn measure(wanted: &[String]) -> Result<Option<String>, String> {
    let (here, target) = folders()?;
    let mut failed = 0;
    println!("{}", table::HEAD);
    for crate_ in CRATES {
        if !wanted.is_empty() && !wanted.iter().any(|name| name == crate_.name) {
            continue;
        }
        let source = build::source(crate_, &target)?;
        let raddle = build::tests(
            crate_,
            &source,
            &target,
            Tool::Raddle { repository: &here.join("../..") },
        )?;
        let loom = build::tests(crate_, &source, &target, Tool::Loom)?;
        let mut results = Vec::new();
        for test in run::list(&raddle, &source, crate_.filter)? {
            let on_raddle = run::test(&raddle, &source, &test, crate_)?;
            let on_loom = run::test(&loom, &source, &test, crate_)?;
            eprintln!("{} {test}: {on_raddle:?} | {on_loom:?}", crate_.name);
            // A test that never calls `loom::model` says nothing about either tool.
            if on_raddle.executions.is_some() || !on_raddle.passes {
                results.push((on_raddle, on_loom));
            }
        }
        failed +=
            results.iter().filter(|(raddle, _)| !raddle.passes && !raddle.is_known_bug).count();
        println!("{}", table::row(crate_, &results));
    }
    Ok((failed > 0).then(|| format!("{failed} tests fail with raddle")))
}
