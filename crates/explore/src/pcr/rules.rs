//! The six filter rules (Table 2 of the paper): candidates that need no solver.
//!
//! Rules 3 to 6 filter only candidates that are impossible or would lead to a state that is reached
//! without them. Rule 2 may filter more: two executions can exhibit the same patterns and differ.

use raddle_analysis::MapCoverage;
use raddle_core::Access;

use super::candidates::{Candidate, Shared, SharedAccess};
use super::layout::Layout;

/// The rules that are applied. The first always is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Rules {
    /// By number; the first two are not used.
    on: [bool; 7],
}

impl Default for Rules {
    fn default() -> Rules {
        Rules::ALL
    }
}

impl Rules {
    /// All rules.
    pub const ALL: Rules = Rules { on: [true; 7] };

    /// Returns all rules but this one, from 2 to 6.
    pub fn without(mut self, rule: usize) -> Rules {
        self.on[rule] = false;
        self
    }

    /// Returns whether the rule with this number is applied.
    pub(crate) fn has(self, rule: usize) -> bool {
        rule == 1 || self.on[rule]
    }

    /// Returns the first rule that filters `candidate`, if one does.
    pub(crate) fn first_against(
        self,
        candidate: &Candidate,
        shared: &Shared,
        layout: &Layout,
        coverage: &MapCoverage,
    ) -> Option<usize> {
        let against = |rule: usize| match rule {
            1 => not_defined(candidate),
            2 => covered(candidate, coverage),
            3 => against_program_order(candidate),
            4 => old_state(candidate, layout),
            5 => interrupted(candidate, shared),
            _ => redundant(candidate, layout),
        };
        (1..=6).find(|&rule| self.has(rule) && against(rule))
    }
}

/// Rule 1: it is none of the 17 patterns.
pub(crate) fn not_defined(candidate: &Candidate) -> bool {
    candidate.pattern.is_none()
}

/// Rule 2: this run or an earlier one exhibited it.
pub(crate) fn covered(candidate: &Candidate, coverage: &MapCoverage) -> bool {
    let mut numbers = [0; 4];
    let steps = candidate.steps();
    for (number, step) in numbers.iter_mut().zip(steps) {
        *number = step.number;
    }
    steps.windows(2).all(|pair| pair[0].position < pair[1].position)
        || candidate.pattern.is_some_and(|pattern| coverage.has(pattern, &numbers[..steps.len()]))
}

/// Rule 3: accesses of one thread do not come in its order.
pub(crate) fn against_program_order(candidate: &Candidate) -> bool {
    let steps = candidate.steps();
    let is_reversed = |(index, first): (usize, &SharedAccess)| {
        let later = steps[index + 1..].iter().find(|later| later.thread == first.thread);
        later.is_some_and(|later| later.position <= first.position)
    };
    steps.iter().enumerate().any(is_reversed)
}

/// Rule 4, for one variable: no read would read another value, and no writes would change places.
pub(crate) fn old_state(candidate: &Candidate, layout: &Layout) -> bool {
    candidate.steps().len() < 4 && !changes_anything(candidate, layout)
}

/// Rule 5: the thread of the first access and the last accesses the variable between them.
pub(crate) fn interrupted(candidate: &Candidate, shared: &Shared) -> bool {
    match candidate.steps() {
        [first, _, last] => shared.next(*first) != Some(*last),
        _ => false,
    }
}

/// Rule 6, for two variables: the order of accesses to neither of them would change visibly.
pub(crate) fn redundant(candidate: &Candidate, layout: &Layout) -> bool {
    candidate.steps().len() == 4 && !changes_anything(candidate, layout)
}

/// Returns whether two accesses of different threads to one variable would change places visibly.
fn changes_anything(candidate: &Candidate, layout: &Layout) -> bool {
    let steps = candidate.steps();
    steps.iter().enumerate().any(|(index, first)| {
        let later = &steps[index + 1..];
        let second =
            later.iter().find(|later| later.object == first.object && later.thread != first.thread);
        second.is_some_and(|second| changes(first, second, layout))
    })
}

/// Returns whether it is visible that `first` comes before `second`.
fn changes(first: &SharedAccess, second: &SharedAccess, layout: &Layout) -> bool {
    if !layout.is_variable[first.object as usize] {
        // Events on the object between accesses are not part of patterns, and can make a difference.
        return true;
    }
    if first.position < second.position {
        return false;
    }
    let (write, read) = (first.position as usize, second.position as usize);
    let is_known = second.access == Access::Read && layout.reads[write].is_none();
    // A read that finds the same content at its new place is not affected.
    !(is_known && layout.writes[write].is_some() && layout.writes[write] == layout.reads[read])
}

#[cfg(test)]
mod tests {
    use raddle_core::{Action, AtomicOp, Choice, Choices, Order, Scalar, ThreadId, Trace};
    use raddle_engine::Initial;
    use raddle_results::Accesses;
    use raddle_testkit::{Interpreter, Program, Step, run_once};

    use super::*;
    use crate::Stop;

    const LOAD: AtomicOp = AtomicOp::Load { order: Order::SeqCst };

    const fn store(value: u64) -> AtomicOp {
        AtomicOp::Store { order: Order::SeqCst, value }
    }

    /// A run of two threads, with what the rules look at.
    struct Run {
        shared: Shared,
        layout: Layout,
        coverage: MapCoverage,
    }

    impl Run {
        /// The threads do these operations on variables, in this order.
        fn new(scripts: [&[(usize, AtomicOp)]; 2], order: &[u32]) -> Run {
            let script = |steps: &[(usize, AtomicOp)]| {
                steps.iter().map(|&(object, op)| Step::On(object, Action::Atomic(op))).collect()
            };
            let main = vec![Step::Spawn(1), Step::Spawn(2)];
            let program = Program {
                objects: vec![Initial::Atomic(Scalar::U8, 0); 2],
                scripts: vec![main, script(scripts[0]), script(scripts[1])],
            };
            let threads =
                [0, 0].iter().chain(order).map(|&thread| Choice::Thread(ThreadId(thread)));
            let trace: Trace = run_once(
                &mut Interpreter,
                &program,
                threads.collect(),
                Choices::Chooser(&mut Stop::default()),
            );
            let mut coverage = MapCoverage::new(Accesses::ByEvent);
            let shared = Shared::new(&trace, &mut coverage);
            Run { shared, layout: Layout::new(&trace), coverage }
        }

        /// These accesses, in this order: each by its thread and its place among the accesses of it.
        fn candidate(&self, accesses: &[(u32, usize)]) -> Candidate {
            let access = |&(thread, place): &(u32, usize)| {
                let mut mine = self.shared.accesses.iter().filter(|access| access.thread == thread);
                *mine.nth(place).unwrap()
            };
            Candidate::new(&accesses.iter().map(access).collect::<Vec<_>>())
        }
    }

    #[test]
    fn rule_1_leaves_out_what_is_no_pattern() {
        let run = Run::new([&[(0, LOAD)], &[(0, LOAD), (0, store(1))]], &[1, 2, 2]);
        assert!(not_defined(&run.candidate(&[(1, 0), (2, 0)])));
        assert!(!not_defined(&run.candidate(&[(2, 1), (1, 0)])));
    }

    #[test]
    fn rule_2_leaves_out_what_a_run_exhibited() {
        let scripts: [&[_]; 2] = [&[(0, LOAD)], &[(0, store(1))]];
        let mut run = Run::new(scripts, &[1, 2]);
        let (here, other) = (run.candidate(&[(1, 0), (2, 0)]), run.candidate(&[(2, 0), (1, 0)]));
        assert!(covered(&here, &run.coverage), "this run");
        assert!(!covered(&other, &run.coverage));
        let program = Program {
            objects: vec![Initial::Atomic(Scalar::U8, 0)],
            scripts: vec![
                vec![Step::Spawn(1), Step::Spawn(2)],
                vec![Step::On(0, Action::Atomic(LOAD))],
                vec![Step::On(0, Action::Atomic(store(1)))],
            ],
        };
        let threads = [0, 0, 2, 1].map(|thread| Choice::Thread(ThreadId(thread)));
        run.coverage.learn(&run_once(
            &mut Interpreter,
            &program,
            threads.to_vec(),
            Choices::Chooser(&mut Stop::default()),
        ));
        assert!(covered(&other, &run.coverage), "another run");
    }

    #[test]
    fn rule_3_leaves_out_what_is_against_the_order_of_a_thread() {
        let run = Run::new([&[(0, LOAD), (0, LOAD)], &[(0, store(1))]], &[1, 1, 2]);
        assert!(against_program_order(&run.candidate(&[(1, 1), (2, 0), (1, 0)])));
        assert!(!against_program_order(&run.candidate(&[(1, 0), (2, 0), (1, 1)])));
    }

    #[test]
    fn rule_4_filters_what_no_thread_would_notice() {
        let same = Run::new([&[(0, LOAD)], &[(0, store(0))]], &[1, 2]);
        assert!(old_state(&same.candidate(&[(2, 0), (1, 0)]), &same.layout), "zero in any case");
        let other = Run::new([&[(0, LOAD)], &[(0, store(1))]], &[1, 2]);
        assert!(!old_state(&other.candidate(&[(2, 0), (1, 0)]), &other.layout));
        let writes = Run::new([&[(0, store(1))], &[(0, store(1))]], &[1, 2]);
        assert!(
            !old_state(&writes.candidate(&[(2, 0), (1, 0)]), &writes.layout),
            "writes change places"
        );
    }

    #[test]
    fn rule_5_leaves_out_what_is_interrupted() {
        let run =
            Run::new([&[(0, store(1)), (0, store(2)), (0, LOAD)], &[(0, store(3))]], &[1, 1, 1, 2]);
        assert!(interrupted(&run.candidate(&[(1, 0), (2, 0), (1, 2)]), &run.shared));
        assert!(!interrupted(&run.candidate(&[(1, 1), (2, 0), (1, 2)]), &run.shared));
        assert!(!interrupted(&run.candidate(&[(2, 0), (1, 0)]), &run.shared));
    }

    #[test]
    fn rule_6_leaves_out_an_exchange_between_variables_that_changes_neither() {
        // Fig. 5(d): y is read before it is written and x after, wherever the accesses to the other are.
        let run =
            Run::new([&[(1, LOAD), (0, LOAD)], &[(0, store(1)), (1, store(1))]], &[1, 2, 2, 1]);
        let exchanged = run.candidate(&[(2, 0), (1, 0), (2, 1), (1, 1)]);
        assert_eq!(exchanged.pattern, Some(17));
        assert!(redundant(&exchanged, &run.layout));
        let other =
            Run::new([&[(1, LOAD), (0, LOAD)], &[(0, store(1)), (1, store(1))]], &[1, 1, 2, 2]);
        assert!(!redundant(&other.candidate(&[(2, 0), (1, 0), (2, 1), (1, 1)]), &other.layout));
    }
}
