//! Constraints as plain data, stated to whoever is to answer.

use raddle_solve::{Literal, Node, OrderSolver};
use raddle_strategy::Rng;

/// What is or is not so.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Term {
    /// The first node comes before the second.
    Before(usize, usize),
    /// A truth value is as said.
    Truth(usize, bool),
}

/// Nodes, edges, clauses, and sets of assumptions to ask for one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) nodes: usize,
    pub(crate) truths: usize,
    pub(crate) always: Vec<(usize, usize)>,
    pub(crate) clauses: Vec<Vec<Term>>,
    pub(crate) questions: Vec<Vec<Term>>,
}

pub(crate) struct Size {
    pub(crate) nodes: usize,
    pub(crate) clauses: usize,
    pub(crate) truths: usize,
}

impl Problem {
    pub(crate) fn random(size: Size, rng: &mut Rng) -> Problem {
        let Size { nodes, clauses, truths } = size;
        let term = |rng: &mut Rng| match rng.below(4) {
            0 => Term::Truth(rng.below(truths), rng.below(2) == 0),
            _ => {
                let first = rng.below(nodes);
                Term::Before(first, (first + 1 + rng.below(nodes - 1)) % nodes)
            }
        };
        let terms =
            |most: usize, rng: &mut Rng| (0..1 + rng.below(most)).map(|_| term(rng)).collect();
        // Chains, as threads are.
        let always = (0..nodes - 1).filter(|_| rng.below(3) == 0).map(|n| (n, n + 1)).collect();
        let clauses = (0..1 + rng.below(clauses))
            .map(|_| {
                let mut clause: Vec<Term> = terms(2, rng);
                // Single literals leave nothing to ask for.
                clause.push(term(rng));
                clause
            })
            .collect();
        let questions = (0..4).map(|_| terms(5, rng)).collect();
        Problem { nodes, truths, always, clauses, questions }
    }

    /// Tells `solver` everything but the questions.
    pub(crate) fn state(&self, solver: &mut impl OrderSolver) -> Names {
        let nodes = (0..self.nodes).map(|_| solver.node()).collect();
        let truths = (0..self.truths).map(|truth| solver.fresh(truth % 2 == 0)).collect();
        let names = Names { nodes, truths };
        for &(first, second) in &self.always {
            solver.always(names.nodes[first], names.nodes[second]);
        }
        for clause in &self.clauses {
            let clause: Vec<Literal> =
                clause.iter().map(|&term| names.literal(solver, term)).collect();
            solver.clause(&clause);
        }
        names
    }

    /// Whether the answer is one.
    pub(crate) fn check(&self, question: &[Term], solver: &impl OrderSolver, names: &Names) {
        let position = |node: usize| solver.position(names.nodes[node]);
        let holds = |term: &Term| match *term {
            Term::Before(first, second) => position(first) < position(second),
            Term::Truth(truth, value) => solver.is_true(names.truths[truth]) == value,
        };
        let mut positions: Vec<u32> = (0..self.nodes).map(position).collect();
        positions.sort_unstable();
        positions.dedup();
        assert_eq!(positions.len(), self.nodes, "two nodes in one place");
        assert!(self.always.iter().all(|&(first, second)| holds(&Term::Before(first, second))));
        assert!(self.clauses.iter().all(|clause| clause.iter().any(holds)));
        assert!(question.iter().all(holds));
    }
}

/// What the solver calls nodes and truth values.
pub(crate) struct Names {
    nodes: Vec<Node>,
    truths: Vec<Literal>,
}

impl Names {
    pub(crate) fn literal(&self, solver: &mut impl OrderSolver, term: Term) -> Literal {
        match term {
            Term::Before(first, second) => solver.before(self.nodes[first], self.nodes[second]),
            Term::Truth(truth, true) => self.truths[truth],
            Term::Truth(truth, false) => !self.truths[truth],
        }
    }
}
