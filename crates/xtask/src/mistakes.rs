//! Mutation tests: known mistakes, inserted into a copy of the tree, that tests must catch.
//!
//! `cargo run -p xtask -- mistakes` takes minutes, because every mistake is built and tested by itself. An
//! ordinary test checks that each mistake still applies to the source.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::violation::Violation;
use crate::{cargo, output};

/// A change of the source that makes a test fail.
struct Mistake {
    /// What the mistake is.
    name: &'static str,
    file: &'static str,
    /// The text to replace, which occurs once in the file.
    right: &'static str,
    /// The replacement.
    wrong: &'static str,
    /// The arguments of `cargo test`.
    tests: &'static [&'static str],
}

/// Tests that take longer than this fail.
const TIMEOUT: Duration = Duration::from_secs(120);

const DPOR: &[&str] = &["-p", "raddle-explore", "--test", "all", "dpor"];
const CLASSES: &[&str] = &["-p", "raddle-explore", "--test", "all", "classes"];

const TRUST: &[&str] = &["-p", "raddle-explore", "--test", "all", "trust"];
const PARALLEL: &[&str] = &["-p", "raddle-explore", "--test", "all", "parallel"];

const GIVEN_UP: &[&str] = &["-p", "raddle-explore", "--test", "all", "given_up"];
const ENDS: &[&str] = &["-p", "raddle", "--test", "all", "ends"];
const FREES: &[&str] = &["-p", "raddle", "--test", "frees"];
const HIDDEN_STATE: &[&str] = &["-p", "raddle", "--test", "all", "hidden_state"];
const STRESS: &[&str] = &["-p", "raddle", "--test", "all", "stress"];
const RANDOM_ENDS: &[&str] = &["-p", "raddle", "--test", "random_ends"];
const UNROLLED: &[&str] = &["-p", "raddle-explore", "--test", "all", "unrolled"];
const WAITING: &[&str] = &["-p", "raddle", "--test", "all", "waiting"];
const OWN_BUGS: &[&str] = &["-p", "raddle", "--test", "all", "own_bugs"];

const MISTAKES: &[Mistake] = &[
    Mistake {
        name: "a store does not revisit reads",
        file: "crates/explore/src/trust/revisit.rs",
        right: "if !is_independent && !new.leads_to_store(read) {",
        wrong: "if !is_independent && new.leads_to_store(read) && read != node {",
        tests: TRUST,
    },
    Mistake {
        name: "graphs lead to another by deleting anything",
        file: "crates/explore/src/trust/revisit.rs",
        right: "!after.clone().all(|place| !self.is_gone(place) || self.is_maximal(place))",
        wrong: "false",
        tests: TRUST,
    },
    Mistake {
        name: "an update may be deleted although an operation waits for it",
        file: "crates/explore/src/trust/revisit.rs",
        right: "|| waits.iter().any(waits_for_it)",
        wrong: "|| waits.is_empty() && waits.iter().any(waits_for_it)",
        tests: TRUST,
    },
    Mistake {
        name: "an operation forgets what disabled it",
        file: "crates/explore/src/trust/revisit.rs",
        right: "added[place].part = Part::Wait(self.store.id);",
        wrong: "added.remove(place);",
        tests: TRUST,
    },
    Mistake {
        name: "a wait is deleted only if its update is the newest",
        file: "crates/explore/src/trust/revisit.rs",
        right: "Part::Wait(_) => return is_present(number),",
        wrong: "Part::Wait(_) => Some(node.id),",
        tests: TRUST,
    },
    Mistake {
        name: "operations that are blocked to the end are forgotten",
        file: "crates/explore/src/trust/graph.rs",
        right: "if (!pending.enabled || all_wait) && is_ordered(&pending.op, ends) {",
        wrong: "if pending.enabled && is_ordered(&pending.op, ends) {",
        tests: TRUST,
    },
    Mistake {
        name: "an operation finds states from before what leads to it",
        file: "crates/explore/src/trust/graph.rs",
        right: "self.earlier.join_node(node.id, read);",
        wrong: "",
        tests: TRUST,
    },
    Mistake {
        name: "readers do not lead to the writer after them",
        file: "crates/explore/src/trust/graph.rs",
        right: "self.prefixes.join_node(node.id, share);",
        wrong: "",
        tests: TRUST,
    },
    Mistake {
        name: "either of two readers revisits a writer",
        file: "crates/explore/src/trust/follow.rs",
        right: "&& thread < awaited.reader.thread",
        wrong: "&& thread > awaited.reader.thread",
        tests: TRUST,
    },
    Mistake {
        name: "a bounded search leaves out graphs that lead to some within the bound",
        file: "crates/explore/src/trust.rs",
        right: "saturating_sub(1)",
        wrong: "saturating_sub(3)",
        tests: TRUST,
    },
    Mistake {
        name: "attempts that failed may come after later readers",
        file: "crates/explore/src/trust/graph.rs",
        right: "self.earlier.join_node(node.id, attempt);",
        wrong: "",
        tests: TRUST,
    },
    Mistake {
        name: "a writer comes after all readers or none",
        file: "crates/explore/src/trust/readers.rs",
        right: "let is_less = |&thread: &usize| counts[thread] < threads[thread].len();",
        wrong: "let is_less = |_: &usize| false;",
        tests: TRUST,
    },
    Mistake {
        name: "a loop is cut off although a graph has further rounds",
        file: "crates/explore/src/trust/follow.rs",
        right: "is_some_and(|answers| !answers.is_empty())",
        wrong: "is_some_and(Vec::is_empty) && false",
        tests: TRUST,
    },
    Mistake {
        name: "graphs that a worker gives away are lost",
        file: "crates/explore/src/trust/workers.rs",
        right: "common.items.extend(items.drain(..items.len() / 2));",
        wrong: "items.drain(..items.len() / 2);",
        tests: TRUST,
    },
    Mistake {
        name: "the panics of a thread count for all threads",
        file: "crates/runtime/src/run.rs",
        right: "if std::thread::panicking() {\n            return self.switch_stacks_unwinding(me, to);",
        wrong: "if false {\n            return self.switch_stacks_unwinding(me, to);",
        tests: RANDOM_ENDS,
    },
    Mistake {
        name: "only one of several panics is taken out of the count",
        file: "crates/runtime/src/panic_count.rs",
        right: "for _ in 0..panics.0 {",
        wrong: "for _ in 0..panics.0.min(1) {",
        tests: RANDOM_ENDS,
    },
    Mistake {
        name: "detached threads in a cycle end well",
        file: "crates/engine/src/engine/choose.rs",
        right: "!main_ended && !is_stopped || self.has_cycle()",
        wrong: "!main_ended && !is_stopped",
        tests: RANDOM_ENDS,
    },
    Mistake {
        name: "where threads were cut off in loops is the end of an execution",
        file: "crates/explore/src/session/verdicts.rs",
        right: "trace.ending == Ending::Stopped && whole.is_some()",
        wrong: "trace.ending == Ending::Stopped && whole.is_none()",
        tests: RANDOM_ENDS,
    },
    Mistake {
        name: "a wait that timed out says that it was notified",
        file: "crates/raddle/src/sync/condvar.rs",
        right: "timed_out = effect == Some(Effect::No);",
        wrong: "timed_out = effect == Some(Effect::Yes);",
        tests: RANDOM_ENDS,
    },
    Mistake {
        name: "threads wait forever in loops whatever they have read",
        file: "crates/engine/src/engine/idle.rs",
        right: "return again == effect && written.is_none_or(|written| written == newest);",
        wrong: "return again == effect || written.is_none_or(|written| written == newest);",
        tests: UNROLLED,
    },
    Mistake {
        name: "rounds that other threads disturb are idle whatever is known",
        file: "crates/engine/src/engine/idle.rs",
        right: "Rule::Cut => !(is_disturbed && self.idle.loops.is_unclear(by, looks)),",
        wrong: "Rule::Cut => !(is_disturbed && self.idle.loops.is_unclear(by, &looks[..0])),",
        tests: WAITING,
    },
    Mistake {
        name: "a panic inside of raddle is one of the program",
        file: "crates/runtime/src/run.rs",
        right: "fail_for_own_bug(&run);",
        wrong: "let _ = || fail_for_own_bug(&run);",
        tests: OWN_BUGS,
    },
    Mistake {
        name: "a thread keeps its turn in the tail of a run",
        file: "crates/engine/src/engine/tail.rs",
        right: "self.tail.quantum -= 1;",
        wrong: "",
        tests: GIVEN_UP,
    },
    Mistake {
        name: "failures in the tail of a run do not count",
        file: "crates/explore/src/session/verdicts.rs",
        right: "if matches!(whole.ending, Ending::StepLimit | Ending::TimeLimit) {",
        wrong: "if whole.ending != Ending::Finished {",
        tests: GIVEN_UP,
    },
    Mistake {
        name: "threads of failing runs are unwound",
        file: "crates/runtime/src/run/teardown.rs",
        right: "if ended_well || self.pool",
        wrong: "if ended_well || !self.pool",
        tests: ENDS,
    },
    Mistake {
        name: "threads that are unwound after a run poison locks",
        file: "crates/raddle/src/sync/poison.rs",
        right: "if !port::is_over() {",
        wrong: "if port::active() {",
        tests: ENDS,
    },
    Mistake {
        name: "a value that was moved out of an Arc is one that others may use",
        file: "crates/runtime/src/run/ends.rs",
        right: "watched.was_in_arc.set(has_counts);",
        wrong: "watched.was_in_arc.set(has_counts && block == 0);",
        tests: FREES,
    },
    Mistake {
        name: "a value that was moved out of a Box is not used later",
        file: "crates/runtime/src/run/ends.rs",
        right: "data.watched.was_in_arc.get() || !self.pool.flags.heap",
        wrong: "data.watched.was_in_arc.get() || self.pool.flags.heap",
        tests: FREES,
    },
    Mistake {
        name: "equivalent executions have any number of steps",
        file: "crates/explore/src/session/hidden_state.rs",
        right: "if steps_left == 0",
        wrong: "if steps_left == u64::MAX",
        tests: HIDDEN_STATE,
    },
    Mistake {
        name: "executions that show nothing new are repeated",
        file: "crates/explore/src/session/gaps.rs",
        right: "is_new |= seen.insert(",
        wrong: "is_new |= !seen.is_empty() | seen.insert(",
        tests: HIDDEN_STATE,
    },
    Mistake {
        name: "the explanations of a process leave twice as many threads behind, and more",
        file: "crates/explore/src/session/explain.rs",
        right: "by_all >= MAX_LEAKED_BY_EXPLANATIONS",
        wrong: "by_all == MAX_LEAKED_BY_PROCESS",
        tests: STRESS,
    },
    Mistake {
        name: "a process leaves any number of threads behind",
        file: "crates/runtime/src/pool.rs",
        right: "(1.., all @ MAX_LEAKED_BY_PROCESS..) => all",
        wrong: "(1.., all @ MAX_LEAKED_BY_PROCESS..) if all == 0 => all",
        tests: STRESS,
    },
    Mistake {
        name: "a sequence continues into a subtree that another worker searches",
        file: "crates/explore/src/parallel/commons.rs",
        right: "Below::Point(below) if !child.is_end && !steps.is_empty() => below",
        wrong: "Below::Point(below) if !steps.is_empty() => below",
        tests: PARALLEL,
    },
    Mistake {
        name: "objects have the same ids in the runs of all workers",
        file: "crates/explore/src/parallel/commons.rs",
        right: "let mut branch = Branch::new(step, past, trace, origin);",
        wrong: "let mut branch = Branch::new(step, past, trace, origin.max(usize::MAX));",
        tests: PARALLEL,
    },
    Mistake {
        name: "subtrees of other workers are not in the sleep set",
        file: "crates/explore/src/parallel/commons.rs",
        right: ".filter(|child| child.step.value.is_none())",
        wrong: ".filter(|child| child.step.value.is_some())",
        tests: PARALLEL,
    },
    Mistake {
        name: "every worker has its own names for threads",
        file: "crates/explore/src/parallel.rs",
        right: "ThreadIds::registered(self.all.names.clone())",
        wrong: "ThreadIds::registered(Arc::new(Names::default()))",
        tests: PARALLEL,
    },
    Mistake {
        name: "races with pending operations are missed",
        file: "crates/explore/src/past/races.rs",
        right: "for pending in &trace.pending {\n            let (op, thread)",
        wrong: "for pending in trace.pending.iter().take(0) {\n            let (op, thread)",
        tests: DPOR,
    },
    Mistake {
        name: "every operation counts as enabled in every state",
        file: "crates/explore/src/past/races.rs",
        right: "if op.may_block() && !state().enabled(op, by) {",
        wrong: "if op.may_block() && !state().enabled(op, by) && state().enabled(op, by) {",
        tests: DPOR,
    },
    Mistake {
        name: "reads do not race",
        file: "crates/explore/src/past/races.rs",
        right: "if footprint.access.conflicts(access) {",
        wrong: "if footprint.access == Access::Update && access == Access::Update {",
        tests: DPOR,
    },
    Mistake {
        name: "a writer comes after the readers that wait for another reader",
        file: "crates/explore/src/past/races.rs",
        right: "if present.is_empty() || !present.iter().all(can_wait) {",
        wrong: "if !present.is_empty() || !present.iter().all(can_wait) {",
        tests: DPOR,
    },
    Mistake {
        name: "readers of a lock change nothing",
        file: "crates/explore/src/past.rs",
        right: "if found != NONE && footprint.access.changes() {",
        wrong: "if found != NONE && footprint.access == Access::Update {",
        tests: DPOR,
    },
    Mistake {
        name: "a reversal contains only events before the second event of the race",
        file: "crates/explore/src/past/races.rs",
        right: "let later = at + 1..self.len();",
        wrong: "let EventId { thread, index } = last.event;\n        \
                let second = self.threads[thread.index()].events.get(index as usize);\n        \
                let later = at + 1..second.map_or(self.len(), |&second| second as usize);",
        tests: DPOR,
    },
    Mistake {
        name: "a reversal that was explored once is never explored again",
        file: "crates/explore/src/past/races.rs",
        right: "race.seen as usize <= shared && self.is_known_to_fronts(race.first as usize)",
        wrong: "race.seen != NONE && (race.seen as usize <= shared || shared > 0)",
        tests: DPOR,
    },
    Mistake {
        name: "a child's events do not depend on its spawn",
        file: "crates/explore/src/past.rs",
        right: "self.events.last().copied().unwrap_or(self.spawn)",
        wrong: "self.events.last().copied().unwrap_or(NONE)",
        tests: DPOR,
    },
    Mistake {
        name: "threads stay in the sleep set forever",
        file: "crates/explore/src/dpor.rs",
        right: "self.sleep.retain(|asleep| !asleep.depends(&event));",
        wrong: "self.sleep.retain(|asleep| asleep.thread != event.thread);",
        tests: DPOR,
    },
    Mistake {
        name: "no thread is ever in the sleep set",
        file: "crates/explore/src/dpor.rs",
        right: "node.sleep.push(done);",
        wrong: "let _ = done;",
        tests: DPOR,
    },
    Mistake {
        name: "the first planned child represents all others",
        file: "crates/explore/src/wakeup.rs",
        right: "&& steps[..mine].iter().all(|step| !step.footprint.depends(&own.footprint));",
        wrong: ";",
        tests: DPOR,
    },
    Mistake {
        name: "a sequence that may not run represents others",
        file: "crates/explore/src/wakeup.rs",
        right: "branch.children.is_empty() && !branch.doubtful;",
        wrong: "branch.children.is_empty();",
        tests: DPOR,
    },
    Mistake {
        name: "only one number is chosen",
        file: "crates/explore/src/dpor.rs",
        right: "for value in 0..bound {",
        wrong: "for value in 0..bound.min(1) {",
        tests: DPOR,
    },
    Mistake {
        name: "an unpark counts as a read",
        file: "crates/core/src/dependence.rs",
        right: "            | Action::Barrier(BarrierOp::Leave { .. })\n",
        wrong: "            | Action::Barrier(BarrierOp::Leave { .. })\n            \
                | Action::Park(ParkOp::Unpark)\n",
        tests: CLASSES,
    },
];

/// Inserts each mistake into a copy of the tree and runs the tests that should catch it.
pub(crate) fn check(root: &Path) -> Result<Vec<Violation>, String> {
    let place = root.join("target/mistakes");
    let tree = place.join("tree");
    copy(root, &tree)?;
    let mut missed = Vec::new();
    for mistake in MISTAKES {
        let file = tree.join(mistake.file);
        let right = read(&file)?;
        write(&file, &mistake.make(&right)?)?;
        let caught = !passes(&tree, &place.join("build"), mistake.tests)?;
        write(&file, &right)?;
        println!("{}: {}", if caught { "caught" } else { "NOT caught" }, mistake.name);
        if !caught {
            missed.push(Violation {
                file: mistake.file.to_owned(),
                line: None,
                message: format!("no test catches this mistake: {}", mistake.name),
            });
        }
    }
    Ok(missed)
}

impl Mistake {
    /// Returns `text`, the content of the file, with the mistake. Returns an error if it does not apply.
    fn make(&self, text: &str) -> Result<String, String> {
        match text.matches(self.right).count() {
            1 => Ok(text.replace(self.right, self.wrong)),
            count => Err(format!(
                "the mistake \"{}\" applies to {count} places of {}; it must apply to one",
                self.name, self.file
            )),
        }
    }
}

/// Returns whether the tests pass, or an error if they do not build.
fn passes(tree: &Path, build: &Path, tests: &[&str]) -> Result<bool, String> {
    let test = || {
        let mut command = cargo();
        command.current_dir(tree).env("CARGO_TARGET_DIR", build);
        command.args(["test", "--release", "--locked"]).args(tests);
        command
    };
    output(test().arg("--no-run"))?;
    let child = test().stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.map_err(|error| format!("cannot run cargo: {error}"))?;
    let start = Instant::now();
    loop {
        match child.try_wait().map_err(|error| format!("cannot wait for cargo: {error}"))? {
            Some(status) => return Ok(status.success()),
            // A search that does not end is caught too.
            None if start.elapsed() > TIMEOUT => {
                child.kill().map_err(|error| format!("cannot stop cargo: {error}"))?;
                return Ok(false);
            }
            None => sleep(Duration::from_millis(50)),
        }
    }
}

/// Copies the tracked files.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let files = output(std::process::Command::new("git").current_dir(from).arg("ls-files"))?;
    for file in files.lines() {
        let (source, target) = (from.join(file), to.join(file));
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        // Files that are equal are not written, so that cargo does not rebuild them.
        let bytes = fs::read(&source).map_err(|error| format!("{file}: {error}"))?;
        if fs::read(&target).ok().as_ref() != Some(&bytes) {
            fs::write(&target, bytes).map_err(|error| format!("{}: {error}", target.display()))?;
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_applies() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for mistake in MISTAKES {
            let text = read(&root.join(mistake.file)).unwrap();
            assert_ne!(mistake.make(&text).unwrap(), text, "{}", mistake.name);
        }
    }
}
