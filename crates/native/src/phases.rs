//! The phases of a check: what is explored, with which plain accesses as scheduling points.
//!
//! By default plain accesses are no scheduling points. If the first phase finds a data race, a second one looks for what
//! the race leads to: the places that race become scheduling points, and races are no failures. If it finds nothing,
//! the race is the result.

use std::time::Duration;

use raddle_core::Site;
use raddle_explore::{Budget, Session, Settings, racing_lines};
use raddle_results::{Finding, Report};

use crate::alarms;
use crate::plan::{Granularity, Plan, Races};
use crate::process::Process;
use crate::run::{self, Plain};

/// The result of a check.
pub(crate) struct Checked {
    pub(crate) report: Report,
    /// The places whose accesses were scheduling points because they race.
    pub(crate) points: Vec<usize>,
    /// The number of executions with such scheduling points that do not fail, if the result is the race.
    pub(crate) harmless: Option<u64>,
}

/// Makes the check, or replays an execution. Returns an error that says what to change. The result means nothing if the
/// check was halted.
pub(crate) fn explore(
    process: &mut Process,
    plan: &Plan,
    budget: &dyn Budget,
) -> Result<Checked, String> {
    match (plan.granularity, &plan.points) {
        (_, Some(points)) => {
            look_at(plan, Plain::Racy, points);
            search(process, plan, &consequences(plan), budget)
        }
        (Granularity::All, None) => {
            look_at(plan, Plain::All, &[]);
            search(process, plan, &plan.settings, budget)
        }
        (Granularity::Racy, None) => {
            find_points(process, plan, &[]);
            search(process, plan, &plan.settings, budget)
        }
        (Granularity::Sync, None) => {
            look_at(plan, Plain::None, &[]);
            let first = search(process, plan, &plan.settings, budget);
            if plan.races == Races::AtOnce || plan.settings.keep_going || process.halt.is_some() {
                return first;
            }
            if plan.replay.is_some() {
                replay_further(process, plan, budget, first)
            } else {
                look_further(process, plan, budget, first?)
            }
        }
    }
}

/// Looks for what the race of a report leads to. Returns the report if there is no race, or if it leads to nothing.
fn look_further(
    process: &mut Process,
    plan: &Plan,
    budget: &dyn Budget,
    first: Checked,
) -> Result<Checked, String> {
    let Some(sites) = racing_sites(&first.report) else { return Ok(first) };
    find_points(process, plan, &sites);
    if process.halt.is_some() {
        return Ok(first);
    }
    let second = search(process, plan, &consequences(plan), &Half { whole: budget })?;
    if second.report.failure().is_some() {
        return Ok(second);
    }
    Ok(Checked { harmless: Some(second.report.executions), ..first })
}

/// Replays an execution of the second phase, if the token is none of the first: then the first is made again, to know
/// the scheduling points.
fn replay_further(
    process: &mut Process,
    plan: &Plan,
    budget: &dyn Budget,
    first: Result<Checked, String>,
) -> Result<Checked, String> {
    if first.as_ref().is_ok_and(|first| first.report.failure().is_some()) {
        return first;
    }
    run::state().stacks.keep(false);
    let session = Session::new(process, &(), &plan.settings, budget);
    let again = session.run().map_err(|error| error.to_string())?;
    let Some(sites) = racing_sites(&again) else { return first };
    find_points(process, plan, &sites);
    let second = search(process, plan, &consequences(plan), budget);
    if second.as_ref().is_ok_and(|second| second.report.failure().is_some()) {
        second
    } else {
        first
    }
}

/// Returns the places of the race that a report found.
fn racing_sites(report: &Report) -> Option<[usize; 2]> {
    match &report.failure()?.finding {
        Finding::Race { first, second } => Some([first.site, second.site].map(Site::key)),
        _ => None,
    }
}

/// The settings for executions in which places that race are scheduling points.
fn consequences(plan: &Plan) -> Settings {
    Settings { races: false, plain_points: true, ..plan.settings.clone() }
}

fn search(
    process: &mut Process,
    plan: &Plan,
    settings: &Settings,
    budget: &dyn Budget,
) -> Result<Checked, String> {
    let stacks = &run::state().stacks;
    stacks.keep(plan.stacks);
    let settings = &alarms::settings(settings);
    let session = Session::new(process, &(), settings, budget);
    let report = match &plan.replay {
        Some(token) => session.replay(token).map_err(|error| error.to_string()),
        None => session.run().map_err(|error| error.to_string()),
    };
    // Places that race are code addresses.
    stacks.keep(false);
    let report = report?;
    let points = run::state().racy.borrow().clone();
    Ok(Checked { report, points, harmless: None })
}

/// Decides which plain accesses are scheduling points, and whether races are looked for.
fn look_at(plan: &Plan, plain: Plain, points: &[usize]) {
    let state = run::state();
    state.plain.set(plain);
    *state.racy.borrow_mut() = points.to_vec();
    let is_asked = plan.settings.races && plain != Plain::Racy;
    state.finds_races.set(is_asked && state.foreign.borrow().is_none());
}

/// Makes the places that race scheduling points: those that are known and those that a few runs find.
fn find_points(process: &mut Process, plan: &Plan, known: &[usize]) {
    run::state().stacks.keep(false);
    let mut points = known.to_vec();
    points.sort_unstable();
    points.dedup();
    loop {
        look_at(plan, Plain::Racy, &points);
        run::state().finds_races.set(run::state().foreign.borrow().is_none());
        // With more scheduling points, more places can race.
        let found = racing_lines(process, &(), plan.settings.max_steps);
        let before = points.len();
        points.extend(found.into_iter().map(Site::key));
        points.sort_unstable();
        points.dedup();
        if points.len() == before || process.halt.is_some() {
            return look_at(plan, Plain::Racy, &points);
        }
    }
}

/// Half of the time that is left.
struct Half<'a> {
    whole: &'a dyn Budget,
}

impl Budget for Half<'_> {
    fn elapsed(&self) -> Duration {
        self.whole.elapsed()
    }

    fn limit(&self) -> Option<Duration> {
        self.whole.limit().map(|limit| limit / 2)
    }
}
