//! Random constraints on orders, as data for any solver.

use raddle_solve::{Answer, Literal, Node, OrderSolver, shrink_core};
use raddle_strategy::Rng;

/// A constraint that holds or does not hold in an order.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Term {
    /// The first node comes before the second.
    Before(usize, usize),
    /// A boolean variable has this value.
    Truth(usize, bool),
}

/// Nodes, edges, clauses, and sets of assumptions to solve under, one after the other.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The number of nodes.
    pub nodes: usize,
    /// The number of boolean variables.
    pub truths: usize,
    /// Pairs of nodes of which the first always comes before the second.
    pub always: Vec<(usize, usize)>,
    /// Clauses, in each of which at least one term holds.
    pub clauses: Vec<Vec<Term>>,
    /// Sets of assumptions, each of which asks for an order.
    pub questions: Vec<Vec<Term>>,
}

/// The size of a random problem.
pub struct Size {
    /// The number of nodes.
    pub nodes: usize,
    /// The maximal number of clauses.
    pub clauses: usize,
    /// The number of boolean variables.
    pub truths: usize,
}

impl Problem {
    /// Returns a random problem.
    pub fn random(size: Size, rng: &mut Rng) -> Problem {
        let Size { nodes, clauses, truths } = size;
        let term = |rng: &mut Rng| match rng.below(4) {
            0 => Term::Truth(rng.below(truths), rng.below(2) == 0),
            _ => {
                let first = rng.below(nodes);
                Term::Before(first, (first + 1 + rng.below(nodes - 1)) % nodes)
            }
        };
        let terms =
            |max: usize, rng: &mut Rng| (0..1 + rng.below(max)).map(|_| term(rng)).collect();
        // Chains, like the events of threads.
        let always = (0..nodes - 1).filter(|_| rng.below(3) == 0).map(|n| (n, n + 1)).collect();
        let clauses = (0..1 + rng.below(clauses))
            .map(|_| {
                let mut clause: Vec<Term> = terms(2, rng);
                // Clauses of one literal would determine most orders.
                clause.push(term(rng));
                clause
            })
            .collect();
        let questions = (0..4).map(|_| terms(5, rng)).collect();
        Problem { nodes, truths, always, clauses, questions }
    }

    /// Solves under all sets of assumptions, checks the orders and cores, and returns whether there are orders.
    ///
    /// # Panics
    /// If an order does not satisfy the constraints, or a core is not among the assumptions or has an order.
    pub fn ask<S: OrderSolver>(&self) -> Vec<bool> {
        let mut solver = S::default();
        let names = self.add_to(&mut solver);
        self.questions
            .iter()
            .map(|question| {
                let assumptions: Vec<Literal> =
                    question.iter().map(|term| names.literal(&mut solver, *term)).collect();
                match solver.solve(&assumptions) {
                    Answer::Order => {
                        self.check(question, &solver, &names);
                        true
                    }
                    Answer::Impossible(core) => {
                        check_core(&mut solver, &assumptions, &core);
                        false
                    }
                }
            })
            .collect()
    }

    /// Adds everything but the assumptions to `solver`.
    fn add_to(&self, solver: &mut impl OrderSolver) -> Names {
        let nodes = (0..self.nodes).map(|_| solver.add_node()).collect();
        let truths = (0..self.truths).map(|truth| solver.new_literal(truth % 2 == 0)).collect();
        let names = Names { nodes, truths };
        for &(first, second) in &self.always {
            solver.add_edge(names.nodes[first], names.nodes[second]);
        }
        for clause in &self.clauses {
            let clause: Vec<Literal> =
                clause.iter().map(|&term| names.literal(solver, term)).collect();
            solver.add_clause(&clause);
        }
        names
    }

    /// Checks that the order found by `solver` satisfies the problem and the question.
    fn check(&self, question: &[Term], solver: &impl OrderSolver, names: &Names) {
        let position = |node: usize| solver.position(names.nodes[node]);
        let holds = |term: &Term| match *term {
            Term::Before(first, second) => position(first) < position(second),
            Term::Truth(truth, value) => solver.is_true(names.truths[truth]) == value,
        };
        let mut positions: Vec<u32> = (0..self.nodes).map(position).collect();
        positions.sort_unstable();
        positions.dedup();
        assert_eq!(positions.len(), self.nodes, "two nodes have one position");
        assert!(self.always.iter().all(|&(first, second)| holds(&Term::Before(first, second))));
        assert!(self.clauses.iter().all(|clause| clause.iter().any(holds)));
        assert!(question.iter().all(holds));
    }
}

/// Checks that a core is among the assumptions, and that the shrunk core is minimal.
fn check_core(solver: &mut impl OrderSolver, assumptions: &[Literal], core: &[Literal]) {
    assert!(core.iter().all(|literal| assumptions.contains(literal)));
    let small = shrink_core(solver, core.to_vec());
    assert!(small.iter().all(|literal| core.contains(literal)));
    assert!(matches!(solver.solve(&small), Answer::Impossible(_)));
    for left_out in 0..small.len() {
        let mut rest = small.clone();
        rest.remove(left_out);
        assert_eq!(solver.solve(&rest), Answer::Order, "the core could be smaller");
    }
}

/// The solver's nodes and literals for the nodes and boolean variables of a problem.
struct Names {
    nodes: Vec<Node>,
    truths: Vec<Literal>,
}

impl Names {
    /// Returns the literal for a term.
    fn literal(&self, solver: &mut impl OrderSolver, term: Term) -> Literal {
        match term {
            Term::Before(first, second) => solver.before(self.nodes[first], self.nodes[second]),
            Term::Truth(truth, true) => self.truths[truth],
            Term::Truth(truth, false) => !self.truths[truth],
        }
    }
}
