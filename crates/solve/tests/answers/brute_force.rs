//! A solver by brute force: tries every literal of every clause.

use raddle_testkit::constraints::{Problem, Term};

/// Returns whether there is an order in which all assumptions of `question` hold.
pub(crate) fn is_possible(problem: &Problem, question: &[Term]) -> bool {
    let mut state = State {
        reaches: vec![vec![false; problem.nodes]; problem.nodes],
        truths: vec![None; problem.truths],
    };
    let edges = problem.always.iter().map(|&(first, second)| Term::Before(first, second));
    edges.chain(question.iter().copied()).all(|term| state.add(term))
        && satisfy(state, &problem.clauses)
}

fn satisfy(state: State, clauses: &[Vec<Term>]) -> bool {
    let Some((clause, rest)) = clauses.split_first() else { return true };
    if clause.iter().any(|&term| state.has(term)) {
        return satisfy(state, rest);
    }
    clause.iter().any(|&term| {
        let mut next = state.clone();
        next.add(term) && satisfy(next, rest)
    })
}

#[derive(Clone)]
struct State {
    /// By pair of nodes, whether the first comes before the second. Transitively closed.
    reaches: Vec<Vec<bool>>,
    truths: Vec<Option<bool>>,
}

impl State {
    /// Returns whether the state implies a term.
    fn has(&self, term: Term) -> bool {
        match term {
            Term::Before(first, second) => self.reaches[first][second],
            Term::Truth(truth, value) => self.truths[truth] == Some(value),
        }
    }

    /// Adds a term. Returns false if it contradicts the state.
    fn add(&mut self, term: Term) -> bool {
        match term {
            Term::Truth(truth, value) => *self.truths[truth].get_or_insert(value) == value,
            Term::Before(first, second) => {
                if first == second || self.reaches[second][first] {
                    return false;
                }
                let nodes = self.reaches.len();
                let from: Vec<usize> =
                    (0..nodes).filter(|&n| n == first || self.reaches[n][first]).collect();
                let to: Vec<usize> =
                    (0..nodes).filter(|&n| n == second || self.reaches[second][n]).collect();
                for &from in &from {
                    to.iter().for_each(|&to| self.reaches[from][to] = true);
                }
                true
            }
        }
    }
}
