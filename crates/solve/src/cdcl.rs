//! Answers by conflict-driven clause learning.

use std::collections::HashMap;

use batsat::{BasicCallbacks, BasicSolver, Lit, SolverInterface, SolverOpts, Var, lbool};

use crate::order::{Order, value};
use crate::{Answer, Literal, Node, OrderSolver};

/// A SAT solver with a theory of order. What it learns serves all later questions.
pub struct Cdcl {
    solver: BasicSolver,
    order: Order,
    /// What the literals between two nodes are, the smaller node first.
    pairs: HashMap<(u32, u32), Lit>,
    clause: Vec<Lit>,
    values: Vec<lbool>,
    told: u64,
}

/// Learnt clauses are few and short here, cycles of two or three edges. The solver would look through all
/// of them at every step in the hope of long ones to forget.
const LEARNT: i32 = 1 << 20;

impl Default for Cdcl {
    fn default() -> Cdcl {
        let options = SolverOpts { min_learnts_lim: LEARNT, ..SolverOpts::default() };
        Cdcl {
            solver: BasicSolver::new(options, BasicCallbacks::default()),
            order: Order::default(),
            pairs: HashMap::new(),
            clause: Vec::new(),
            values: Vec::new(),
            told: 0,
        }
    }
}

impl OrderSolver for Cdcl {
    fn node(&mut self) -> Node {
        self.told += 1;
        Node(self.order.node())
    }

    fn always(&mut self, first: Node, second: Node) {
        self.told += 1;
        assert!(
            self.order.always(first.0, second.0),
            "{first:?} cannot always come before {second:?}: it always comes after it"
        );
    }

    fn fresh(&mut self, likely: bool) -> Literal {
        self.told += 1;
        ours(Lit::new(self.solver.new_var(value(likely), true), true))
    }

    fn before(&mut self, first: Node, second: Node) -> Literal {
        let (low, high) = (first.0.min(second.0), first.0.max(second.0));
        let literal = *self.pairs.entry((low, high)).or_insert_with(|| {
            self.told += 1;
            let likely = self.order.position(low) < self.order.position(high);
            let variable = self.solver.new_var(value(likely), true);
            self.order.define(variable, low, high);
            Lit::new(variable, true)
        });
        ours(if first.0 == low { literal } else { !literal })
    }

    fn clause(&mut self, literals: &[Literal]) {
        self.told += literals.len() as u64;
        self.clause.clear();
        self.clause.extend(literals.iter().copied().map(theirs));
        self.solver.add_clause_reuse(&mut self.clause);
    }

    fn solve(&mut self, assumptions: &[Literal]) -> Answer {
        self.clause.clear();
        self.clause.extend(assumptions.iter().copied().map(theirs));
        let found = self.solver.solve_limited_th(&mut self.order, &self.clause);
        if found == lbool::TRUE {
            self.values.clear();
            self.values.extend_from_slice(self.solver.get_model());
            return Answer::Order;
        }
        assert!(found == lbool::FALSE, "raddle invariant broken: a solver without limits gave up");
        Answer::Impossible(self.solver.unsat_core().iter().map(|&literal| ours(!literal)).collect())
    }

    fn position(&self, node: Node) -> u32 {
        self.order.position(node.0)
    }

    fn is_true(&self, literal: Literal) -> bool {
        let literal = theirs(literal);
        let value = self.values.get(literal.var().idx() as usize);
        value.is_some_and(|&value| (value ^ !literal.sign()) == lbool::TRUE)
    }

    fn told(&self) -> u64 {
        self.told
    }
}

fn ours(literal: Lit) -> Literal {
    Literal(literal.idx())
}

fn theirs(literal: Literal) -> Lit {
    Lit::new(Var::unsafe_from_idx(literal.0 >> 1), literal.0 & 1 == 0)
}
