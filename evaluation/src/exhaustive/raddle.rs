//! raddle's searches, called as its users call it.

use raddle::{Config, Finding, Report, Strategy, Verdict};

use super::programs;
use super::search::{End, Prepared, Searched};

programs::bodies!(raddle);

/// Prepares a search by any strategy word.
pub(crate) fn prepare(word: &str, program: &str) -> Result<Prepared, String> {
    let body = programs::find(BODIES, program)?;
    let Ok(strategy) = word.parse::<Strategy>() else {
        return Ok(Prepared::Cannot(format!("no {word} in this build")));
    };
    let program = program.to_owned();
    Ok(Prepared::Ready(Box::new(move |limit| {
        let config = Config::new()
            .explain(raddle::Explain::Off)
            .name(program.clone())
            .hidden_state(false)
            .strategy(strategy)
            .runs(u64::MAX)
            .time(limit);
        searched(&config.run(body))
    })))
}

fn searched(report: &Report) -> Result<Searched, String> {
    let end = match report.failure().map(|failure| &failure.finding) {
        Some(Finding::Deadlock(_)) => End::Failed,
        Some(finding) => return Err(format!("raddle found a failure: {finding:?}")),
        None if matches!(report.verdict, Verdict::Sampled) => End::Cut,
        None => End::Complete,
    };
    let classes = report.classes_exact.then_some(report.classes);
    Ok(Searched { runs: report.executions, end, classes, seen: None })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::exhaustive::programs::{Classes, PROGRAMS, Role};

    /// Searches a program to the end, or to its failure.
    fn search(strategy: &str, program: &str) -> Searched {
        match prepare(strategy, program).unwrap() {
            Prepared::Ready(mut search) => search(Duration::from_secs(60)).unwrap(),
            Prepared::Cannot(reason) => panic!("{strategy} {program}: {reason}"),
        }
    }

    #[test]
    fn every_program_has_a_body() {
        let names: Vec<_> = PROGRAMS.iter().map(|program| program.name).collect();
        let bodies: Vec<_> = BODIES.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, bodies);
    }

    /// Where depth-first search is done soon, it meets as many classes as were counted.
    #[test]
    fn depth_first_search_meets_the_classes() {
        let small = ["add-2x1", "add-2x2", "add-3x1", "add-2x3-checked", "mutex-2x2", "mp-checked"];
        for name in small.into_iter().chain(["sb-checked"]) {
            let program = PROGRAMS.iter().find(|program| program.name == name).unwrap();
            assert_eq!(program.role, Role::Compared);
            assert_ne!(program.classes, Classes::Searched);
            let searched = search("dfs", name);
            assert_eq!((searched.end, searched.classes), (End::Complete, program.classes.known()));
        }
        assert_eq!(search("dfs", "ab-ba").end, End::Failed);
    }

    /// As soon as there is an optimal explorer, it makes as many runs as there are classes.
    #[test]
    fn optimal_search_makes_a_run_for_each_class() {
        if "dpor".parse::<Strategy>().is_err() {
            return;
        }
        for program in PROGRAMS.iter().filter(|program| program.role != Role::Million) {
            let searched = search("dpor", program.name);
            // What depth-first search counts for the Treiber stack, which takes it too long here.
            let classes = program.classes.known().unwrap_or(46);
            match searched.end {
                End::Complete => assert_eq!(searched.runs, classes, "{}", program.name),
                End::Failed => assert_eq!(program.name, "ab-ba"),
                End::Cut => panic!("{} takes too long", program.name),
            }
        }
    }

    #[test]
    fn unknown_words_are_told() {
        assert!(matches!(prepare("nothing", "ab-ba"), Ok(Prepared::Cannot(_))));
        assert!(prepare("dfs", "nothing").is_err());
    }
}
