//! The commands `list` and `run`: the programs with known bugs, and one of them under one strategy.

use std::fmt::Write;

use raddle::{Config, Granularity, Report, Strategy};

use crate::programs::{Form, Program, Size, all};

/// The programs as aligned text.
pub(crate) fn list() -> String {
    let mut text = format!(
        "{:<19}{:<8}{:<11}{:<9}{:>7}  {:<28}about\n",
        "name", "origin", "failure", "space", "threads", "size"
    );
    for program in all() {
        let Size { counts, least, usual, most } = program.size;
        let _ = writeln!(
            text,
            "{:<19}{:<8}{:<11}{:<9}{:>7}  {:<28}{}",
            program.name,
            program.origin.word(),
            program.failure.word(),
            program.space.word(),
            (program.threads)(usual),
            format!("{usual} {counts} ({least}–{most})"),
            program.about,
        );
    }
    text
}

/// How to run a program.
#[derive(Clone, Copy)]
pub(crate) struct Request {
    pub(crate) strategy: Strategy,
    pub(crate) runs: u64,
    pub(crate) seed: u64,
    pub(crate) form: Form,
    pub(crate) size: u32,
}

/// Runs a program, every access to shared memory being a point, until it fails or the runs are made.
pub(crate) fn run(program: &'static Program, request: Request) -> Result<Report, String> {
    let Request { strategy, runs, seed, form, size } = request;
    let size = program.admits(size)?;
    Config::new()
        .name(program.name)
        .strategy(strategy)
        .runs(runs)
        .unlimited_time()
        .seed(seed)
        .max_steps(Program::MAX_STEPS)
        .granularity(Granularity::All)
        // They are what some of the programs are about.
        .races(false)
        .try_run(program.closure(form, size))
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::{PROGRAMS, find};

    /// The bugged form fails as it should within so many runs, the fixed one does not fail.
    fn check(name: &str, strategy: &str, runs: u64) {
        let program = find(name).unwrap();
        let strategy = strategy.parse().unwrap();
        let size = program.size.usual.min(4);
        let request = Request { strategy, runs, seed: 1, form: Form::Bugged, size };

        let bugged = run(program, request).unwrap();
        let failure = bugged.failure().unwrap_or_else(|| panic!("{name} does not fail"));
        assert!(program.failure.is(&failure.finding), "{name}: {:?}", failure.finding);
        assert!(failure.reproduced, "{name}: not reproduced");
        assert_eq!(bugged.threads, (program.threads)(size), "{name}: threads");

        let fixed = run(program, Request { form: Form::Fixed, ..request }).unwrap();
        if let Some(failure) = fixed.failure() {
            panic!("{name}, fixed, run {}: {:?}", failure.execution, failure.finding);
        }
    }

    #[test]
    fn bugged_programs_fail_and_fixed_ones_do_not() {
        for program in PROGRAMS {
            check(program.name, "random", 10_000);
        }
    }

    /// Only programs that do not spin: nothing keeps a spinning thread of the highest priority from
    /// using up the steps of a run.
    #[test]
    fn by_priorities_as_well() {
        check("mrse", "pct:6", 30_000);
        check("fft", "pct:1", 100);
        check("exception", "pct:3", 10_000);
        check("exception-lost", "pct:3", 10_000);
    }

    #[test]
    fn names_are_unique_and_sizes_are_checked() {
        let mut names: Vec<_> = all().map(|program| program.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().count());
        assert!(find("ffft").err().is_some_and(|error| error.contains("fft")));
        let fair = find("fair").unwrap();
        assert_eq!(fair.admits(3), Ok(3));
        assert_eq!(fair.admits(1), Err("fair: the size counts threads, from 2 to 8".to_owned()));
        for program in all() {
            assert_eq!(program.admits(program.size.usual), Ok(program.size.usual));
        }
        assert_eq!(list().lines().count(), all().count() + 1);
    }
}
