//! The theory of order: an acyclic graph whose edges follow the solver's decisions.
//!
//! Nodes have positions that agree with all edges, maintained after Pearce and Kelly (2006). An edge that agrees with
//! the positions costs nothing; any other edge moves only nodes between its ends. Removing edges does not change the
//! positions. They are the total order of an answer.

use std::collections::VecDeque;

use batsat::{Lit, Theory, TheoryArg, Var, lbool};

/// Nodes, edges and positions.
#[derive(Default)]
pub(crate) struct Order {
    /// By node. Invariant: pairwise distinct, and ascending along every edge.
    position: Vec<u32>,
    /// By node, the edges to its successors.
    after: Vec<Vec<Edge>>,
    /// By node, the edges to its predecessors.
    before: Vec<Vec<Edge>>,
    /// By variable, the pair of nodes of which the first comes before the second if the variable is true.
    meaning: Vec<Option<(u32, u32)>>,
    /// The edges of the solver's decisions, in the order of the decisions.
    chosen: Vec<(u32, u32)>,
    /// The number of the solver's decisions that have been processed.
    seen: usize,
    /// By decision level, `seen` and the length of `chosen` at its beginning.
    levels: Vec<(usize, usize)>,
    search: Search,
}

#[derive(Copy, Clone, Debug)]
struct Edge {
    to: u32,
    /// The literal that the edge follows from. `None` for an edge of every order.
    because: Option<Lit>,
}

/// Buffers for searches.
#[derive(Default)]
struct Search {
    queue: VecDeque<u32>,
    /// By node, the last search that reached it, its predecessor in that search, and the literal of the edge between.
    reached: Vec<(u64, u32, Option<Lit>)>,
    /// By node, the number of literals on the path to it.
    distance: Vec<u32>,
    /// The number of the current search.
    round: u64,
    forward: Vec<u32>,
    backward: Vec<u32>,
    pool: Vec<u32>,
}

impl Order {
    pub(crate) fn add_node(&mut self) -> u32 {
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

    /// Defines that `variable` means that `first` comes before `second`.
    pub(crate) fn define(&mut self, variable: Var, first: u32, second: u32) {
        let index = variable.idx() as usize;
        if self.meaning.len() <= index {
            self.meaning.resize(index + 1, None);
        }
        self.meaning[index] = Some((first, second));
    }

    /// Adds a permanent edge. Returns whether the graph stays acyclic.
    pub(crate) fn add_edge(&mut self, first: u32, second: u32) -> bool {
        self.insert(first, second, None).is_ok()
    }

    /// Adds an edge. If it closes a cycle, returns the literals of the other edges of the cycle.
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

    /// Collects the nodes reachable from `from` up to position `high`. If `target` is among them, returns the
    /// literals of a path to it that has the fewest.
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
                let length = distance[node as usize] + u32::from(edge.because.is_some());
                if reached[next].0 == *round && distance[next] <= length {
                    continue;
                }
                reached[next] = (*round, node, edge.because);
                distance[next] = length;
                if edge.because.is_some() {
                    queue.push_back(edge.to);
                } else {
                    queue.push_front(edge.to);
                }
            }
        }
        let round = *round;
        // The search above may visit a node several times. This one collects each node once.
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

    /// Returns the literals on the path from `from` to `node` of the last search.
    fn literals_to(&self, mut node: u32, from: u32) -> Vec<Lit> {
        let mut literals = Vec::new();
        while node != from {
            let (_, before, because) = self.search.reached[node as usize];
            literals.extend(because);
            node = before;
        }
        literals
    }

    /// Collects the nodes from which `from` is reachable, down to position `low`.
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

    /// Moves the nodes of the backward search before those of the forward search, within the positions of both.
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

    /// Adds the edges of the solver's decisions since the last call.
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
                    // A conflict at the lowest level is not undone, and must be found again by the next `solve`.
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

/// Converts a boolean to batsat's type.
pub(crate) fn value(likely: bool) -> lbool {
    if likely { lbool::TRUE } else { lbool::FALSE }
}
