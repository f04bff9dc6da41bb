//! An order solver by conflict-driven clause learning.

use std::collections::HashMap;

use batsat::{BasicCallbacks, BasicSolver, Lit, SolverInterface, SolverOpts, Var, lbool};

use crate::order::{Order, value};
use crate::{Answer, Literal, Node, OrderSolver};

/// A SAT solver with a theory of order. Learnt clauses are kept for later calls of `solve`.
pub struct Cdcl {
    solver: BasicSolver,
    order: Order,
    /// The literals between pairs of nodes, the smaller node first.
    pairs: HashMap<(u32, u32), Lit>,
    /// Buffer for a clause or assumptions.
    clause: Vec<Lit>,
    /// By variable, its value in the last order.
    values: Vec<lbool>,
    size: u64,
}

/// The number of learnt clauses below which the solver deletes none. Learnt clauses are few and short (cycles of two or
/// three edges), so scanning them for deletion costs more than it saves.
const MIN_LEARNT: i32 = 1 << 20;

impl Default for Cdcl {
    fn default() -> Cdcl {
        let options = SolverOpts { min_learnts_lim: MIN_LEARNT, ..SolverOpts::default() };
        Cdcl {
            solver: BasicSolver::new(options, BasicCallbacks::default()),
            order: Order::default(),
            pairs: HashMap::new(),
            clause: Vec::new(),
            values: Vec::new(),
            size: 0,
        }
    }
}

impl OrderSolver for Cdcl {
    fn add_node(&mut self) -> Node {
        self.size += 1;
        Node(self.order.add_node())
    }

    fn add_edge(&mut self, first: Node, second: Node) {
        self.size += 1;
        assert!(
            self.order.add_edge(first.0, second.0),
            "{first:?} cannot come before {second:?}: earlier edges order it after {second:?}"
        );
    }

    fn new_literal(&mut self, likely: bool) -> Literal {
        self.size += 1;
        from_batsat(Lit::new(self.solver.new_var(value(likely), true), true))
    }

    fn before(&mut self, first: Node, second: Node) -> Literal {
        let (low, high) = (first.0.min(second.0), first.0.max(second.0));
        let literal = *self.pairs.entry((low, high)).or_insert_with(|| {
            self.size += 1;
            let likely = self.order.position(low) < self.order.position(high);
            let variable = self.solver.new_var(value(likely), true);
            self.order.define(variable, low, high);
            Lit::new(variable, true)
        });
        from_batsat(if first.0 == low { literal } else { !literal })
    }

    fn add_clause(&mut self, literals: &[Literal]) {
        self.size += literals.len() as u64;
        self.clause.clear();
        self.clause.extend(literals.iter().copied().map(to_batsat));
        self.solver.add_clause_reuse(&mut self.clause);
    }

    fn solve(&mut self, assumptions: &[Literal]) -> Answer {
        self.clause.clear();
        self.clause.extend(assumptions.iter().copied().map(to_batsat));
        let result = self.solver.solve_limited_th(&mut self.order, &self.clause);
        if result == lbool::TRUE {
            self.values.clear();
            self.values.extend_from_slice(self.solver.get_model());
            return Answer::Order;
        }
        assert!(
            result == lbool::FALSE,
            "raddle invariant broken: the solver gave up without a limit"
        );
        Answer::Impossible(
            self.solver.unsat_core().iter().map(|&literal| from_batsat(!literal)).collect(),
        )
    }

    fn position(&self, node: Node) -> u32 {
        self.order.position(node.0)
    }

    fn is_true(&self, literal: Literal) -> bool {
        let literal = to_batsat(literal);
        let value = self.values.get(literal.var().idx() as usize);
        value.is_some_and(|&value| (value ^ !literal.sign()) == lbool::TRUE)
    }

    fn size(&self) -> u64 {
        self.size
    }
}

fn from_batsat(literal: Lit) -> Literal {
    Literal(literal.idx())
}

fn to_batsat(literal: Literal) -> Lit {
    Lit::new(Var::unsafe_from_idx(literal.0 >> 1), literal.0 & 1 == 0)
}
