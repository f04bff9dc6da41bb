//! Lists the programs with known bugs, and runs one of them under one strategy.

use std::fmt::Write;

use raddle::{Config, Explain, Granularity, Report, Strategy};

use crate::{Form, Program, Size, all};

/// Returns the programs as aligned text.
pub fn list() -> String {
    let mut text = format!(
        "{:<19}{:<10}{:<11}{:<11}{:<6}{:<9}{:>7}  {:<38}about\n",
        "name", "origin", "failure", "bug", "points", "space", "threads", "size"
    );
    for program in all() {
        let Size { counts, least, usual, most } = program.size;
        let size = if least == most {
            String::new()
        } else {
            format!("{usual} {counts} ({least}–{most})")
        };
        let points = match program.granularity {
            Granularity::Sync => "sync",
            Granularity::Racy => "racy",
            Granularity::All => "all",
        };
        let _ = writeln!(
            text,
            "{:<19}{:<10}{:<11}{:<11}{:<6}{:<9}{:>7}  {:<38}{}",
            program.name,
            program.origin.word(),
            program.failure.word(),
            program.class.word(),
            points,
            program.space.word(),
            (program.threads)(usual),
            size,
            program.about,
        );
    }
    text
}

/// How to run a program.
#[derive(Clone, Copy)]
pub struct Request {
    /// How executions are chosen.
    pub strategy: Strategy,
    /// The largest number of executions.
    pub runs: u64,
    /// The seed of all randomness.
    pub seed: u64,
    /// Whether the program has its bug.
    pub form: Form,
    /// The size of the program.
    pub size: u32,
}

/// Runs a program, with the scheduling points that its bug needs, until it fails or all executions are done.
///
/// # Errors
/// Returns an error if the program does not have this size, or the strategy refuses it.
pub fn run(program: &'static Program, request: Request) -> Result<Report, String> {
    let Request { form, size, .. } = request;
    let size = program.admits(size)?;
    let report = config(program, request).try_run(program.closure(form, size));
    report.map_err(|error| error.to_string())
}

/// Returns the settings for a program, whose failures are not explained.
pub fn config(program: &Program, request: Request) -> Config {
    let Request { strategy, runs, seed, .. } = request;
    Config::new()
        .name(program.name)
        .strategy(strategy)
        .runs(runs)
        .unlimited_time()
        .seed(seed)
        .max_steps(Program::MAX_STEPS)
        .granularity(program.granularity)
        // Data races are the bugs of some of the programs.
        .races(false)
        // Most callers count failures and do not read them.
        .explain(Explain::Off)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Origin, PROGRAMS, Space, find};
    use raddle::{Failure, OnStepLimit, Verdict};
    use raddle_testkit::scaled;

    /// Returns a size that is small enough for debug builds.
    fn small(program: &Program) -> u32 {
        program.size.usual.min(4).max(program.size.least)
    }

    fn request(program: &Program, word: &str, runs: u64, form: Form) -> Request {
        let strategy = word.parse().unwrap();
        Request { strategy, runs, seed: 1, form, size: small(program) }
    }

    /// Asserts that the bugged form has its failure within `runs` executions.
    fn fails(name: &str, word: &str, runs: u64) {
        let program = find(name).unwrap();
        let bugged = run(program, request(program, word, runs, Form::Bugged)).unwrap();
        let failure = bugged.failure().unwrap_or_else(|| panic!("{name} does not fail"));
        assert!(program.failure.is(&failure.finding), "{name}: {:?}", failure.finding);
        assert!(failure.reproduced, "{name}: not reproduced");
    }

    /// Asserts that the fixed form does not fail. Where threads spin, executions that do not end are discarded: RAPOS and SURW
    /// are not fair and may not leave a spin loop.
    fn passes(program: &'static Program, word: &str, runs: u64) -> Report {
        let request = request(program, word, runs, Form::Fixed);
        let on_step_limit = match (program.space, word) {
            (Space::Cyclic, "rapos" | "surw" | PORTFOLIO) => OnStepLimit::Discard,
            _ => OnStepLimit::Fail,
        };
        let config = config(program, request).on_step_limit(on_step_limit);
        let fixed = config
            .try_run(program.closure(Form::Fixed, request.size))
            .unwrap_or_else(|error| panic!("{}, {word}: {error}", program.name));
        if let Some(failure) = fixed.failure() {
            let Failure { execution, finding, .. } = failure;
            panic!("{}, fixed, {word}, run {execution}: {finding:?}", program.name);
        }
        fixed
    }

    /// Bugs that a random walk does not find quickly, each with a strategy that does.
    const HARD: &[(&str, &str)] = &[
        ("reorder_10", "pos-star"),
        ("reorder_20", "pos-star"),
        ("WSQ", "pos-star"),
        ("IWSQ", "pos-star"),
        ("pct-wsq", "pos-star"),
        ("pct-wsq-items", "pos-star"),
        ("radbench-bug2", "pos-star"),
    ];

    const PORTFOLIO: &str = "portfolio:pos-star+surw+pct:3";

    /// A failing execution of SafeStack. A random walk needs about a million executions to find one.
    const SAFESTACK: &str = "r1-cCdF4gAAAggBBAEAAQwBBAEMAQgBDAIICAQCCAEEAwwJBAMIBAwCCAEMAQgFDAMIAgQEDAMEDgwBBAIMAQgCBAEMAQgHDAMIAgwDBAEMAQgBDAUIAgQJCAFc8r28";

    #[test]
    fn bugged_programs_fail() {
        for program in PROGRAMS.iter().filter(|program| program.name != "safestack") {
            let hard = HARD.iter().find(|(name, _)| *name == program.name);
            fails(program.name, hard.map_or("random", |(_, word)| word), 20_000);
        }
    }

    #[test]
    fn safestack_fails() {
        let program = find("safestack").unwrap();
        let config = Config::new().name(program.name).granularity(program.granularity).races(false);
        let config = config.max_steps(Program::MAX_STEPS).replay(SAFESTACK);
        let report = config.run(program.closure(Form::Bugged, 3));
        let finding = &report.failure().expect("the execution fails").finding;
        assert!(program.failure.is(finding), "{finding:?}");
    }

    #[test]
    fn rare_bugs_are_found_by_other_strategies() {
        for (name, word) in [
            ("mrse", "pct:6"),
            ("fft", "pct:1"),
            ("exception", "pct:3"),
            ("exception-lost", "pct:3"),
            ("WSQ", "pct:2"),
            ("stringbuffer", "pct:3"),
            ("radbench-bug1", "pct:3"),
        ] {
            fails(name, word, 30_000);
        }
    }

    /// This also tests the declared number of threads: in some execution main runs until all are alive.
    #[test]
    fn fixed_programs_pass_when_sampled() {
        for program in PROGRAMS {
            let runs = scaled(if program.space == Space::Cyclic { 3 } else { 20 });
            for word in ["random", "pct", "basic-pos", "pos", "pos-star", "rapos", "urw", "surw"] {
                passes(program, word, runs);
            }
            passes(program, "delay:2", runs);
            passes(program, PORTFOLIO, runs);
            let report =
                passes(program, "pct:1", 10 * u64::from((program.threads)(small(program))));
            assert_eq!(report.threads, (program.threads)(small(program)), "{}", program.name);
        }
    }

    /// The search is limited by the number of executions. Without fairness it does not leave a spin loop.
    #[test]
    fn fixed_programs_pass_when_searched() {
        for program in PROGRAMS {
            passes(program, "round-robin", 1);
            match program.space {
                Space::Acyclic => {
                    for word in ["dpor", "dpor-classic", "bpor:1", "dfs:2", "dfs-delay:2"] {
                        passes(program, word, scaled(20));
                    }
                    for word in ["auto", "dfs", "bpor:0-1", "bpor-plain:1", "bpor:1:fair:1"] {
                        passes(program, word, scaled(10));
                    }
                }
                Space::Cyclic => {
                    passes(program, "bpor:1:fair:1", scaled(20));
                }
            }
        }
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
        let sctbench = PROGRAMS.iter().filter(|program| program.origin == Origin::SctBench);
        // The programs of the POS paper's Table 3, and the others. The philosophers are one program with six sizes.
        assert_eq!(sctbench.count(), 32 + 15);
    }

    /// Programs whose threads share a quiet variable without a lock, each with a search that ends.
    const HIDDEN: &[(&str, &str)] = &[
        ("pct-fig2", "dpor"),
        ("radbench-bug1", "dpor"),
        ("radbench-bug4", "dpor"),
        ("dryad", "bpor:0"),
        ("pbzip2", "bpor:0"),
        ("ferret", "bpor:0"),
    ];

    #[test]
    fn hidden_state_is_found() {
        for (name, word) in HIDDEN {
            let program = find(name).unwrap();
            let report = run(program, request(program, word, 10_000, Form::Bugged)).unwrap();
            assert!(report.hidden_state.is_some(), "{name}: {:?}", report.verdict);
            if let Some(failure) = report.failure() {
                assert!(failure.reproduced && program.failure.is(&failure.finding), "{name}");
            } else {
                assert!(matches!(report.verdict, Verdict::Sampled), "{name}: {:?}", report.verdict);
            }
            // A search that proves nothing is followed by samples.
            fails(name, "auto", 10_000);
        }
    }

    #[test]
    fn hidden_state_is_not_found_where_there_is_none() {
        let mut claims = 0;
        for program in PROGRAMS.iter().filter(|program| program.space == Space::Acyclic) {
            for form in [Form::Bugged, Form::Fixed] {
                if form == Form::Bugged && HIDDEN.iter().any(|(name, _)| *name == program.name) {
                    continue;
                }
                for word in ["dpor", "bpor:0", "bpor:1"] {
                    let report = run(program, request(program, word, scaled(400), form)).unwrap();
                    assert_eq!(report.hidden_state, None, "{}, {form:?}, {word}", program.name);
                    claims += u64::from(report.equivalents > 0);
                }
            }
        }
        assert!(claims > 100, "{claims}");
    }
}
