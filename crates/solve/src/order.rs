//! The theory of order: edges that come and go with the solver's decisions, and never a cycle.
//!
//! Nodes keep positions that agree with all edges (Pearce and Kelly, 2006: an edge that agrees already
//! costs nothing, another one moves only what lies between its ends). Taking edges away leaves the
//! positions as they are. They are the total order of an answer.

use std::collections::VecDeque;

use batsat::{Lit, Theory, TheoryArg, Var, lbool};

/// Nodes, edges and positions.
#[derive(Default)]
pub(crate) struct Order {
    /// Invariant: pairwise distinct, and smaller at the beginning of every edge than at its end.
    position: Vec<u32>,
    after: Vec<Vec<Edge>>,
    before: Vec<Vec<Edge>>,
    /// What a variable says when it is true: that the first comes before the second.
    meaning: Vec<Option<(u32, u32)>>,
    /// The edges of literals, in the order in which they came.
    chosen: Vec<(u32, u32)>,
    /// How many literals have been looked at.
    seen: usize,
    /// For each level: what `seen` and the length of `chosen` were at its beginning.
    levels: Vec<(usize, usize)>,
    search: Search,
}

#[derive(Copy, Clone, Debug)]
struct Edge {
    to: u32,
    /// The literal it comes from; none if it is always there.
    because: Option<Lit>,
}

/// Room for searches, kept to be used again.
#[derive(Default)]
struct Search {
    queue: VecDeque<u32>,
    /// For each node the number of the search that came there last, and from where it did.
    reached: Vec<(u64, u32, Option<Lit>)>,
    /// How many literals the way there has.
    distance: Vec<u32>,
    round: u64,
    forward: Vec<u32>,
    backward: Vec<u32>,
    pool: Vec<u32>,
}

impl Order {
    pub(crate) fn node(&mut self) -> u32 {
        let node = self.position.len() as u32;
        self.position.push(node);
        self.after.push(Vec::new());
        self.before.push(Vec::new());
        self.search.reached.push((0, 0, None));
        self.search.distance.push(0);
        node
    }

    pub(crate) fn position(&self, node: u32) -> u32 {
        self.position[node as usize]
    }

    /// `variable` says that `first` comes before `second`.
    pub(crate) fn define(&mut self, variable: Var, first: u32, second: u32) {
        let index = variable.idx() as usize;
        if self.meaning.len() <= index {
            self.meaning.resize(index + 1, None);
        }
        self.meaning[index] = Some((first, second));
    }

    /// Adds an edge that stays. False if that makes a cycle.
    pub(crate) fn always(&mut self, first: u32, second: u32) -> bool {
        self.insert(first, second, None).is_ok()
    }

    /// Adds an edge. If that makes a cycle, the literals of its other edges.
    fn insert(&mut self, first: u32, second: u32, because: Option<Lit>) -> Result<(), Vec<Lit>> {
        if first == second {
            return Err(Vec::new());
        }
        let (low, high) = (self.position(second), self.position(first));
        if low < high {
            self.search_forward(second, first, high)?;
            self.search_backward(first, low);
            self.rearrange();
        }
        self.after[first as usize].push(Edge { to: second, because });
        self.before[second as usize].push(Edge { to: first, because });
        Ok(())
    }

    /// Collects what comes after `from` and not behind position `high`. If `target` is among it: the
    /// literals of the way there with the fewest.
    fn search_forward(&mut self, from: u32, target: u32, high: u32) -> Result<(), Vec<Lit>> {
        let Search { queue, reached, distance, round, forward, .. } = &mut self.search;
        *round += 1;
        forward.clear();
        queue.clear();
        queue.push_back(from);
        reached[from as usize] = (*round, from, None);
        distance[from as usize] = 0;
        while let Some(node) = queue.pop_front() {
            if node == target {
                return Err(self.literals_to(target, from));
            }
            for edge in &self.after[node as usize] {
                let next = edge.to as usize;
                if self.position[next] > high {
                    continue;
                }
                let far = distance[node as usize] + u32::from(edge.because.is_some());
                if reached[next].0 == *round && distance[next] <= far {
                    continue;
                }
                reached[next] = (*round, node, edge.because);
                distance[next] = far;
                if edge.because.is_some() {
                    queue.push_back(edge.to);
                } else {
                    queue.push_front(edge.to);
                }
            }
        }
        let round = *round;
        // Every node reached, once: walk again from the start.
        queue.push_back(from);
        reached[from as usize].0 = round + 1;
        while let Some(node) = queue.pop_front() {
            forward.push(node);
            for edge in &self.after[node as usize] {
                let next = edge.to as usize;
                if reached[next].0 == round {
                    reached[next].0 = round + 1;
                    queue.push_back(edge.to);
                }
            }
        }
        self.search.round = round + 1;
        Ok(())
    }

    fn literals_to(&self, mut node: u32, from: u32) -> Vec<Lit> {
        let mut literals = Vec::new();
        while node != from {
            let (_, before, because) = self.search.reached[node as usize];
            literals.extend(because);
            node = before;
        }
        literals
    }

    /// Collects what comes before `from` and not in front of position `low`.
    fn search_backward(&mut self, from: u32, low: u32) {
        let Search { queue, reached, round, backward, .. } = &mut self.search;
        *round += 1;
        backward.clear();
        queue.clear();
        queue.push_back(from);
        reached[from as usize].0 = *round;
        while let Some(node) = queue.pop_front() {
            backward.push(node);
            for edge in &self.before[node as usize] {
                let next = edge.to as usize;
                if self.position[next] >= low && reached[next].0 != *round {
                    reached[next].0 = *round;
                    queue.push_back(edge.to);
                }
            }
        }
    }

    /// Puts what was found backward in front of what was found forward, in the places of both.
    fn rearrange(&mut self) {
        let Search { forward, backward, pool, .. } = &mut self.search;
        let position = &mut self.position;
        forward.sort_unstable_by_key(|&node| position[node as usize]);
        backward.sort_unstable_by_key(|&node| position[node as usize]);
        pool.clear();
        pool.extend(forward.iter().chain(&*backward).map(|&node| position[node as usize]));
        pool.sort_unstable();
        for (&node, &place) in backward.iter().chain(&*forward).zip(&*pool) {
            position[node as usize] = place;
        }
    }

    /// Takes over what the solver has decided since the last time.
    fn follow(&mut self, solver: &mut TheoryArg<'_>) {
        while let Some(&literal) = solver.model().get(self.seen) {
            self.seen += 1;
            let Some(&Some((first, second))) = self.meaning.get(literal.var().idx() as usize)
            else {
                continue;
            };
            let (first, second) = if literal.sign() { (first, second) } else { (second, first) };
            match self.insert(first, second, Some(literal)) {
                Ok(()) => self.chosen.push((first, second)),
                Err(mut cycle) => {
                    cycle.push(literal);
                    cycle.iter_mut().for_each(|literal| *literal = !*literal);
                    // If this cannot be undone, it is to be seen again at the next question.
                    self.seen -= 1;
                    return solver.raise_conflict(&cycle, false);
                }
            }
        }
    }
}

impl Theory for Order {
    fn final_check(&mut self, solver: &mut TheoryArg<'_>) {
        self.follow(solver);
        debug_assert!(self.chosen.iter().all(|&(a, b)| self.position(a) < self.position(b)));
    }

    fn partial_check(&mut self, solver: &mut TheoryArg<'_>) {
        self.follow(solver);
    }

    fn create_level(&mut self) {
        self.levels.push((self.seen, self.chosen.len()));
    }

    fn pop_levels(&mut self, levels: usize) {
        let first = self.levels.len() - levels;
        let (seen, chosen) = self.levels[first];
        self.levels.truncate(first);
        self.seen = seen;
        for (first, second) in self.chosen.drain(chosen..).rev() {
            self.after[first as usize].pop();
            self.before[second as usize].pop();
        }
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn explain_propagation(&mut self, _literal: Lit) -> &[Lit] {
        unreachable!("raddle invariant broken: the theory of order propagates nothing")
    }
}

/// The truth value of `likely`, for a solver that asks for one.
pub(crate) fn value(likely: bool) -> lbool {
    if likely { lbool::TRUE } else { lbool::FALSE }
}
