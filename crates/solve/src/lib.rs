//! Solvers for constraints on total orders.
//!
//! A problem consists of nodes, of edges that every order respects, and of clauses over literals. A literal is a
//! boolean variable or states that one node comes before another. The answer is a total order of all nodes, or a set
//! of assumptions under which there is none. [`OrderSolver`] is the interface. [`Cdcl`] implements it by a SAT solver
//! (batsat: conflict-driven, incremental, with assumptions) whose theory keeps the chosen edges acyclic.
#![forbid(unsafe_code)]

mod cdcl;
mod order;

pub use cdcl::Cdcl;

/// An element of the order.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node(pub u32);

/// A boolean variable or its negation.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Literal(pub(crate) u32);

impl std::ops::Not for Literal {
    type Output = Literal;

    fn not(self) -> Literal {
        Literal(self.0 ^ 1)
    }
}

/// The answer of a solver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// There is an order, which [`OrderSolver::position`] and [`OrderSolver::is_true`] return.
    Order,
    /// There is no order under these assumptions. If the list is empty, there is no order at all.
    Impossible(Vec<Literal>),
}

/// An incremental solver. The default value has no nodes and no constraints.
pub trait OrderSolver: Default {
    /// Adds a node, after all others in the current order.
    fn add_node(&mut self) -> Node;

    /// Adds an edge: in every order `first` comes before `second`.
    ///
    /// # Panics
    /// If the edge closes a cycle.
    fn add_edge(&mut self, first: Node, second: Node);

    /// Returns a new literal. The solver tries the value `likely` first.
    fn new_literal(&mut self, likely: bool) -> Literal;

    /// Returns the literal that `first` comes before `second`. Its negation is that `second` comes before `first`. The
    /// solver tries the current order first.
    fn before(&mut self, first: Node, second: Node) -> Literal;

    /// Adds a clause: at least one of these literals is true.
    fn add_clause(&mut self, literals: &[Literal]);

    /// Searches for an order in which all assumptions are true.
    fn solve(&mut self, assumptions: &[Literal]) -> Answer;

    /// Returns the position of a node in the last order. Positions are distinct.
    fn position(&self, node: Node) -> u32;

    /// Returns whether a literal is true in the last order.
    fn is_true(&self, literal: Literal) -> bool;

    /// Returns the size of the problem: the number of nodes, edges, literals and occurrences of literals in clauses.
    fn size(&self) -> u64;
}

/// Returns a minimal part of `core` under which there is no order. Calls the solver once for each literal.
pub fn shrink_core(solver: &mut impl OrderSolver, mut core: Vec<Literal>) -> Vec<Literal> {
    let mut kept = 0;
    while kept < core.len() {
        let mut rest = core.clone();
        rest.remove(kept);
        match solver.solve(&rest) {
            Answer::Order => kept += 1,
            // The literals before `kept` are necessary, so every smaller core contains them.
            Answer::Impossible(smaller) => core.retain(|literal| smaller.contains(literal)),
        }
    }
    core
}
