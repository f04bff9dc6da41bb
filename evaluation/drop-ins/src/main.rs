//! Runs the Loom tests that published crates ship, unmodified, on raddle and on Loom, and prints a table.
//!
//! The sources come from the registry, in the versions of `Cargo.toml`. They are copied to the target folder, built once
//! with Loom and once with Loom replaced by a patch on the command line, and every test runs in a process of its own.
//!
//! `cargo run --release -- [CRATE…]` runs all crates, or those that are named.

#![forbid(unsafe_code)]

mod build;
mod crates;
mod run;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use build::Tool;
use crates::CRATES;

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    match measure(&wanted) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failed) => {
            eprintln!("{failed} tests fail with raddle");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures the crates, and prints the table. Returns the number of tests that fail with raddle.
fn measure(wanted: &[String]) -> Result<usize, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(here.join("target"), PathBuf::from);
    build::fetch(here)?;
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
        for test in run::list(&raddle, &source, crate_)? {
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
    Ok(failed)
}
