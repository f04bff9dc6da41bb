//! The programs under sequential consistency and under RC11.

use raddle::{Granularity, Memory, Verdict};

use super::*;
use crate::weak::{Model, Space, find};
use crate::{self as programs, Form};

const SEARCH: u64 = 2_000_000;

fn instance(form: Form, tries: u32) -> Instance {
    Instance { form, tries, extra_stores: 0 }
}

fn known(word: &str) -> Strategy {
    word.parse().unwrap()
}

fn small() -> impl Iterator<Item = &'static Program> {
    PROGRAMS.iter().filter(|program| program.space == Space::Small)
}

/// Explores all executions of a small program. Races are failures.
fn search(program: &'static Program, form: Form) -> Report {
    let (runs, seed, instance) = (SEARCH, 0, instance(form, program.tries.least));
    run(program, Request { strategy: known("dpor"), runs, seed, instance }).unwrap()
}

fn sample(program: &'static Program, form: Form, strategy: &str, runs: u64) -> Report {
    let strategy = strategy.parse().unwrap();
    let instance = instance(form, program.tries.usual);
    run(program, Request { strategy, runs, seed: 1, instance }).unwrap()
}

fn assert_clean(report: &Report) {
    assert!(report.failure().is_none(), "{}", raddle::text(report));
}

fn assert_found(program: &Program, report: &Report) {
    let failure = report.failure().unwrap_or_else(|| panic!("{} does not fail", program.name));
    assert!(program.failure.is(&failure.finding), "{}", raddle::text(report));
    assert!(failure.reproduced, "{}: not reproduced", program.name);
}

#[test]
fn fixed_programs_have_no_failing_interleaving() {
    for program in small() {
        let report = search(program, Form::Fixed);
        assert_clean(&report);
        assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
        assert_eq!(report.threads, program.threads, "{}: threads", program.name);
    }
}

#[test]
fn fixed_programs_do_not_fail_with_many_tries() {
    for program in PROGRAMS {
        for strategy in ["random", "pct:3"] {
            let report = sample(program, Form::Fixed, strategy, 500);
            assert_clean(&report);
            assert_eq!(report.threads, program.threads, "{}: threads", program.name);
        }
    }
}

#[test]
fn bugs_under_sc_are_found() {
    for program in PROGRAMS {
        match (program.model, program.space) {
            (Model::Sc, Space::Small) => {
                assert_found(program, &search(program, Form::Bugged));
                assert_found(program, &sample(program, Form::Bugged, "random", 2_000));
            }
            (Model::Sc, Space::Large) => {
                assert_found(program, &sample(program, Form::Bugged, "random", 2_000));
            }
            (Model::Rc11, Space::Small) => {
                let report = search(program, Form::Bugged);
                assert_clean(&report);
                assert!(matches!(report.verdict, Verdict::Exhausted), "{}", raddle::text(&report));
            }
            (Model::Rc11, Space::Large) => {
                assert_clean(&sample(program, Form::Bugged, "random", 500));
                assert_clean(&sample(program, Form::Bugged, "pct:3", 500));
            }
        }
    }
}

/// The number of classes of interleavings of each small program with the least number of tries.
const CLASSES: &[(&str, u64)] = &[
    ("dekker", 12),
    ("msqueue", 86),
    ("barrier", 192),
    ("cldeque", 23),
    ("mcslock", 180),
    ("mpmcqueue", 20_282),
    ("linuxrwlocks", 308),
    ("seqlock", 140),
    ("arc-drop", 6),
    ("chase-lev", 13),
    ("dekker-accesses", 12),
    ("hazard", 9),
    ("mcs-unlock", 12),
    ("mpmc-ring", 66),
    ("ms-queue", 86),
    ("peterson", 10),
    ("publication", 2),
    ("publication-atomic", 2),
    ("rwlock-small", 906),
    ("seqlock-fence", 11),
    ("spsc-ring", 20),
    ("ticket-lock", 30),
    ("treiber", 40),
];

/// The bugged programs differ only in orderings: if races are ignored, both forms have the same classes.
#[test]
fn both_forms_have_the_same_classes() {
    for form in [Form::Bugged, Form::Fixed] {
        let classes = small().map(|program| {
            let config = config(program.name, known("dpor"), SEARCH).races(false);
            let report = config.run(program.closure(instance(form, program.tries.least)));
            assert_clean(&report);
            (program.name, report.executions)
        });
        assert_eq!(classes.collect::<Vec<_>>(), CLASSES, "{form:?}");
    }
}

/// The verdicts are the same if plain accesses are scheduling points.
#[test]
fn verdicts_do_not_depend_on_granularity() {
    for program in PROGRAMS {
        let config = config(program.name, known("random"), 200).granularity(Granularity::All);
        let report = config.run(program.closure(instance(Form::Fixed, program.tries.usual)));
        assert_clean(&report);
    }
}

/// Each thread except main makes the stores, which do not change the verdicts.
#[test]
fn extra_stores_only_add_events() {
    const EXTRA: u64 = 3;
    for program in small().filter(|program| matches!(program.origin, Origin::Pctwm(_))) {
        let [without, with] = [0, EXTRA as u32].map(|extra_stores| {
            let instance = Instance { extra_stores, ..instance(Form::Fixed, program.tries.least) };
            config(program.name, known("dpor"), SEARCH).run(program.closure(instance))
        });
        assert_eq!(with.executions, without.executions, "{}", program.name);
        let more = without.executions * u64::from(program.threads - 1) * EXTRA;
        assert_eq!(with.steps, without.steps + more, "{}", program.name);
    }
}

#[test]
fn names_are_unique_and_tries_are_checked() {
    let ours = PROGRAMS.iter().map(|program| program.name);
    let mut names: Vec<_> = programs::all().map(|program| program.name).chain(ours).collect();
    let number = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), number);
    assert!(find("treibr").is_none());
    let treiber = find("treiber").unwrap();
    let request =
        Request { strategy: known("random"), runs: 1, seed: 0, instance: instance(Form::Fixed, 0) };
    let error = run(treiber, request).err();
    assert_eq!(error.as_deref(), Some("treiber: the size counts tries, from 2 to 1000"));
    let nine = PROGRAMS.iter().filter(|program| matches!(program.origin, Origin::Pctwm(_)));
    assert_eq!(nine.count(), 9);
    assert_eq!(list().lines().count(), PROGRAMS.len() + 9 + 4);
}

/// Runs a program under RC11.
fn under_rc11(program: &'static Program, form: Form, strategy: &str, runs: u64) -> Report {
    let strategy: Strategy = strategy.parse().unwrap();
    let tries = if strategy == known("dfs") { program.tries.least } else { program.tries.usual };
    let config = config(program.name, strategy, runs).memory(Memory::Rc11);
    config.run(program.closure(instance(form, tries)))
}

/// Explores every execution of the small programs, except `mpmcqueue`, which has too many.
#[test]
fn fixed_programs_do_not_fail_under_rc11() {
    for program in small() {
        let report = under_rc11(program, Form::Fixed, "dfs", 5_000);
        assert_clean(&report);
        let is_exhausted = matches!(report.verdict, Verdict::Exhausted);
        assert_eq!(is_exhausted, program.name != "mpmcqueue", "{}", raddle::text(&report));
    }
    for program in PROGRAMS {
        assert_clean(&under_rc11(program, Form::Fixed, "c11-random", 200));
        assert_clean(&under_rc11(program, Form::Fixed, "pctwm:2:2", 200));
    }
}

#[test]
fn all_bugs_are_found_under_rc11() {
    for program in PROGRAMS {
        let (strategy, runs) = match program.space {
            Space::Small => ("dfs", 5_000),
            Space::Large => ("c11-random", 200),
        };
        assert_found(program, &under_rc11(program, Form::Bugged, strategy, runs));
    }
}
