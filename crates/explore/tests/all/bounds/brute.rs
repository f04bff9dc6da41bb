//! Brute force: every execution of a program by the oracle, with its costs computed naively from the enabled threads.
//! Shares no code with the explorers.

use std::collections::{BTreeMap, BTreeSet};

use raddle_core::{
    Action, ChannelOp, CondvarOp, Effect, Ending, FutexOp, ParkOp, SemaphoreOp, ThreadId, Trace,
};
use raddle_explore::Bound;
use raddle_testkit::oracle::{Key, Outcome, Path, World, child};
use raddle_testkit::{Program, Request};

/// Executions with more steps count as infinite.
const MAX_STEPS: usize = 100;

/// One step of an execution.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) thread: Path,
    /// The enabled threads, this one included.
    pub(crate) enabled: Vec<Path>,
    /// Whether the step yielded to other threads.
    pub(crate) has_yielded: bool,
}

/// An equivalence class and how its executions end.
pub(crate) type Class = (Key, String);

/// Calls `visit` with every execution whose steps `allow` accepts. `allow` gets the steps up to the one in question.
/// Returns false if there are more than `limit` executions, or one is too long.
pub(crate) fn executions(
    program: &Program,
    limit: u64,
    allow: &dyn Fn(&[Moment]) -> bool,
    visit: &mut dyn FnMut(&World<'_>, &[Moment]),
) -> bool {
    let mut left = limit;
    walk(World::new(program), &mut Vec::new(), &mut left, allow, visit)
}

fn walk(
    world: World<'_>,
    moments: &mut Vec<Moment>,
    left: &mut u64,
    allow: &dyn Fn(&[Moment]) -> bool,
    visit: &mut dyn FnMut(&World<'_>, &[Moment]),
) -> bool {
    let options = world.options();
    if options.is_empty() {
        visit(&world, moments);
        *left = left.saturating_sub(1);
        return *left > 0;
    }
    if moments.len() >= MAX_STEPS {
        return false;
    }
    options.into_iter().all(|(place, value)| {
        let mut next = world.clone();
        moments.push(step(&mut next, place, value));
        let is_within = !allow(moments) || walk(next, moments, left, allow, visit);
        moments.pop();
        is_within
    })
}

fn step(world: &mut World<'_>, place: usize, value: u64) -> Moment {
    let mut enabled: Vec<Path> =
        world.options().into_iter().map(|(place, _)| world.path_of(place)).collect();
    enabled.dedup();
    let thread = world.path_of(place);
    let request = world.request(place);
    let effect = world.step(place, value);
    Moment { thread, enabled, has_yielded: yields(request, effect) }
}

fn yields(request: Request, effect: Effect) -> bool {
    let Request::Perform(_, action) = request else { return false };
    match action {
        Action::Pause(_) => true,
        Action::Condvar(CondvarOp::Consume { timed: true })
        | Action::Park(ParkOp::Park { timed: true })
        | Action::Channel(ChannelOp::Receive { timed: true })
        | Action::Semaphore(SemaphoreOp::Wait { timed: true })
        | Action::Futex(FutexOp::Consume { timed: true }) => effect == Effect::No,
        _ => false,
    }
}

/// Returns the class of a finished world.
pub(crate) fn class_of(world: &World<'_>) -> Class {
    (world.key(), format!("{:?}", world.outcome()))
}

/// Returns the classes that have executions within a bound, and the number of these executions. Returns `None` if there
/// are more than `limit`.
pub(crate) fn within(
    program: &Program,
    bound: Bound,
    limit: u64,
) -> Option<(BTreeSet<Class>, u64)> {
    let lead = bound.lead.map_or(i64::MAX, i64::from);
    let max = bound.preemptions.unwrap_or(u32::MAX);
    let (mut classes, mut count) = (BTreeSet::new(), 0);
    let allow =
        |moments: &[Moment]| unfairness(moments) <= lead && fair_preemptions(moments, lead) <= max;
    let all = executions(program, limit, &allow, &mut |world, _| {
        classes.insert(class_of(world));
        count += 1;
    });
    all.then_some((classes, count))
}

/// Replays a trace on the oracle, and returns its steps and class.
pub(crate) fn replay(program: &Program, trace: &Trace) -> (Vec<Moment>, Class) {
    let mut world = World::new(program);
    let mut moments = Vec::new();
    for event in &trace.events {
        let place =
            world.place_of(path(trace, event.id.thread)).expect("the oracle has the thread");
        assert!(world.is_enabled(place), "not enabled in the oracle: {trace:#?}");
        let value = if let Effect::Value(value) = event.effect { value } else { 0 };
        moments.push(step(&mut world, place, value));
    }
    let outcome = match &trace.ending {
        Ending::Finished => Outcome::Finished,
        Ending::Deadlock => Outcome::Deadlock,
        Ending::Panicked(_) => Outcome::Panicked,
        other => panic!("{other:?} is not an ending of the oracle"),
    };
    assert!(
        world.options().is_empty() && world.outcome() == outcome,
        "the oracle does not end in {outcome:?}"
    );
    (moments, class_of(&world))
}

/// Returns the spawn path of a thread of a trace.
pub(crate) fn path(trace: &Trace, thread: ThreadId) -> Path {
    let info =
        trace.threads.iter().find(|info| info.id == thread).expect("the thread is in the trace");
    if thread == ThreadId::MAIN { 0 } else { child(path(trace, info.parent), info.position) }
}

/// Returns the number of preemptions: switches from a thread that was enabled and had not yielded.
pub(crate) fn preemptions(moments: &[Moment]) -> u32 {
    fair_preemptions(moments, i64::MAX)
}

/// Returns the number of preemptions. A thread that the fair bound stops does not count as enabled.
fn fair_preemptions(moments: &[Moment], fair: i64) -> u32 {
    let mut count = 0;
    for position in 1..moments.len() {
        let (last, now) = (&moments[position - 1], &moments[position]);
        let stopped = lead(&moments[..position], last.thread, &now.enabled) > fair;
        let is_preempted = now.enabled.contains(&last.thread) && !last.has_yielded && !stopped;
        count += u32::from(now.thread != last.thread && is_preempted);
    }
    count
}

/// Returns by how many yields the thread of the last step was ahead of the enabled thread with the fewest.
fn unfairness(moments: &[Moment]) -> i64 {
    let Some((now, past)) = moments.split_last() else { return 0 };
    lead(past, now.thread, &now.enabled)
}

fn lead(past: &[Moment], thread: Path, enabled: &[Path]) -> i64 {
    let yields = |thread: Path| {
        past.iter().filter(|moment| moment.thread == thread && moment.has_yielded).count() as i64
    };
    enabled.iter().map(|&other| yields(thread) - yields(other)).max().unwrap_or(0)
}

/// Returns the number of delays: how often the round-robin scheduler skipped an enabled thread. Threads are ordered by
/// `numbers`.
pub(crate) fn delays(moments: &[Moment], numbers: &BTreeMap<Path, ThreadId>) -> u32 {
    let number = |path: Path| numbers.get(&path).map_or(u32::MAX, |id| id.0);
    let mut count = 0;
    for (position, now) in moments.iter().enumerate() {
        let mut order = now.enabled.clone();
        order.sort_by_key(|&path| number(path));
        if let Some(last) = position.checked_sub(1).map(|before| &moments[before]) {
            let may_continue = order.contains(&last.thread) && !last.has_yielded;
            let first = order.iter().position(|&path| {
                number(path) > number(last.thread) || may_continue && path == last.thread
            });
            order.rotate_left(first.unwrap_or(0));
        }
        count += order.iter().position(|&path| path == now.thread).expect("the thread was enabled")
            as u32;
    }
    count
}
