//! Orders of events that satisfy constraints.
//!
//! A question is made of nodes, of edges that every order has to follow, and of clauses over literals.
//! A literal is a plain truth value or says that one node comes before another. The answer is a total
//! order of all nodes, or the assumptions that rule every order out. [`OrderSolver`] is what a caller
//! sees; [`Cdcl`] answers with a SAT solver (batsat: conflict-driven, incremental, with assumptions)
//! whose theory keeps the chosen edges free of cycles.
#![forbid(unsafe_code)]

mod cdcl;
mod order;

pub use cdcl::Cdcl;

/// Something to be put in order.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node(pub u32);

/// A truth value to be found, or its opposite.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Literal(pub(crate) u32);

impl std::ops::Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal(self.0 ^ 1)
    }
}

/// What a solver says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// There is an order; [`OrderSolver::position`] and [`OrderSolver::is_true`] tell it.
    Order,
    /// There is none under these of the assumptions; without any, there is none at all.
    Impossible(Vec<Literal>),
}

/// Finds orders. A new one has been told nothing.
pub trait OrderSolver: Default {
    /// A new node, for now behind all others.
    fn node(&mut self) -> Node;

    /// In every order `first` comes before `second`.
    ///
    /// # Panics
    /// If that contradicts what was said before.
    fn always(&mut self, first: Node, second: Node);

    /// A new literal. Tried first as `likely`.
    fn fresh(&mut self, likely: bool) -> Literal;

    /// That `first` comes before `second`. Its opposite is that `second` comes before `first`. Tried
    /// first as the nodes stand now.
    fn before(&mut self, first: Node, second: Node) -> Literal;

    /// At least one of these is true.
    fn clause(&mut self, literals: &[Literal]);

    /// Looks for an order in which all assumptions are true.
    fn solve(&mut self, assumptions: &[Literal]) -> Answer;

    /// Where a node stands in the order found last. No two nodes stand in one place.
    fn position(&self, node: Node) -> u32;

    /// Whether a literal is true in the order found last.
    fn is_true(&self, literal: Literal) -> bool;

    /// How much it has been told: nodes, edges, literals, and their places in clauses.
    fn told(&self) -> u64;
}

/// Leaves out of `core`, which rules every order out, what is not needed for that. One question for
/// each literal.
pub fn shrink_core(solver: &mut impl OrderSolver, mut core: Vec<Literal>) -> Vec<Literal> {
    let mut kept = 0;
    while kept < core.len() {
        let mut rest = core.clone();
        rest.remove(kept);
        match solver.solve(&rest) {
            Answer::Order => kept += 1,
            // What was kept is needed in every smaller one too.
            Answer::Impossible(smaller) => core.retain(|literal| smaller.contains(literal)),
        }
    }
    core
}
