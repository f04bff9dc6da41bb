//! RC11 by brute force (Lahav et al., PLDI 2017, with the release sequences of C++20).
//!
//! Enumerates every choice of the store that each load reads and of the modification order of each variable. Keeps the
//! choices that satisfy the axioms, which are written as in the paper: relations over events, as bit sets. A
//! read-modify-write is two events. The memory model of the engine shares no code with this module.

use std::collections::BTreeMap;

use raddle_core::Order;

use super::{Code, Graph, Instruction, Outcome, Place};

/// Returns all consistent executions of `code`, with their outcomes.
pub fn consistent(code: &Code) -> BTreeMap<Graph, Outcome> {
    let search = Search::new(code);
    let mut found = BTreeMap::new();
    let mut chosen = vec![0; search.readers.len()];
    loop {
        search.try_sources(&chosen, &mut found);
        // Advances to the next combination, like the digits of a number.
        let Some(digit) = (0..chosen.len()).find(|&at| chosen[at] + 1 < search.sources[at].len())
        else {
            return found;
        };
        chosen[..digit].fill(0);
        chosen[digit] += 1;
    }
}

struct Search<'a> {
    variables: Vec<char>,
    /// The operations of each thread.
    threads: Vec<Vec<Instruction>>,
    code: &'a Code,
    readers: Vec<Place>,
    /// By reader, the stores that it could read. `None` is the initial value.
    sources: Vec<Vec<Option<Place>>>,
}

/// The values that follow from one choice of sources.
struct Values {
    /// By executed reader.
    read: BTreeMap<Place, u64>,
    /// By executed store.
    written: BTreeMap<Place, u64>,
    /// By thread, the number of executed instructions.
    executed: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(code: &'a Code) -> Search<'a> {
        let is_real = |instruction: &&Instruction| instruction.is_operation();
        let threads: Vec<Vec<Instruction>> =
            code.threads.iter().map(|all| all.iter().filter(is_real).copied().collect()).collect();
        let mut places = Vec::new();
        for (thread, all) in threads.iter().enumerate() {
            places.extend((0..all.len()).map(|at| (thread, at)));
        }
        let at = |place: Place| threads[place.0][place.1];
        let readers: Vec<Place> =
            places.iter().copied().filter(|&place| at(place).reads()).collect();
        let sources = readers.iter().map(|&reader| {
            let mut sources = vec![None];
            sources.extend(
                places
                    .iter()
                    .copied()
                    .filter(|&place| {
                        let writes = !matches!(at(place), Instruction::Load(..));
                        place != reader && writes && at(place).variable() == at(reader).variable()
                    })
                    .map(Some),
            );
            sources
        });
        let sources = sources.collect();
        Search { variables: code.variables(), threads, code, readers, sources }
    }

    fn try_sources(&self, chosen: &[usize], found: &mut BTreeMap<Graph, Outcome>) {
        let source = |reader: Place| {
            let at = self.readers.iter().position(|&other| other == reader).expect("a reader");
            self.sources[at][chosen[at]]
        };
        let Some(values) = self.evaluate(&source) else { return };
        let reads: BTreeMap<Place, Option<Place>> =
            values.read.keys().map(|&reader| (reader, source(reader))).collect();
        // The sources of instructions that were not executed do not matter: one combination represents all.
        let idle = |at: usize| !values.read.contains_key(&self.readers[at]);
        if (0..chosen.len()).any(|at| idle(at) && chosen[at] != 0) {
            return;
        }
        let stores = self.variables.iter().map(|&variable| {
            let here = |place: &&Place| self.threads[place.0][place.1].variable() == Some(variable);
            values.written.keys().filter(here).copied().collect::<Vec<Place>>()
        });
        let orders: Vec<Vec<Vec<Place>>> = stores.map(|stores| permutations(&stores)).collect();
        let mut at = vec![0; orders.len()];
        loop {
            let orders_now = at.iter().zip(&orders).map(|(&at, all)| all[at].clone()).collect();
            let graph = Graph { reads: reads.clone(), orders: orders_now };
            if self.may_be_atomic(&graph) && Execution::new(self, &values, &graph).is_consistent() {
                let outcome = self.outcome(&values, &graph);
                found.insert(graph, outcome);
            }
            let Some(digit) = (0..at.len()).find(|&digit| at[digit] + 1 < orders[digit].len())
            else {
                return;
            };
            at[..digit].fill(0);
            at[digit] += 1;
        }
    }

    /// Executes the threads; a read waits until its source has been executed. Returns `None` if a read waits for
    /// ever: its source is a value out of thin air, or is never stored.
    fn evaluate(&self, source: &dyn Fn(Place) -> Option<Place>) -> Option<Values> {
        let mut values = Values {
            read: BTreeMap::new(),
            written: BTreeMap::new(),
            executed: vec![0; self.threads.len()],
        };
        // By thread, the position in the program with tests, and the value read last.
        let mut state = vec![(0, 0u64); self.threads.len()];
        loop {
            let mut is_over = true;
            let mut has_advanced = false;
            for (thread, (at, last)) in state.iter_mut().enumerate() {
                let Some(&instruction) = self.code.threads[thread].get(*at) else {
                    continue;
                };
                is_over = false;
                let place = (thread, values.executed[thread]);
                if let Instruction::Require(value) | Instruction::Await(value) = instruction {
                    has_advanced = true;
                    let ends = value != *last;
                    *at = if ends { self.code.threads[thread].len() } else { *at + 1 };
                    continue;
                }
                let mut old = *last;
                if instruction.reads() {
                    old = match source(place) {
                        None => 0,
                        Some(source) => match values.written.get(&source) {
                            Some(&value) => value,
                            None => continue,
                        },
                    };
                    values.read.insert(place, old);
                    *last = old;
                }
                let new = match instruction {
                    Instruction::Store(_, value, _) => Some(value.unwrap_or(old)),
                    Instruction::Add(_, value, _) => Some(old + value),
                    Instruction::Swap(_, value, _) => Some(value),
                    Instruction::Exchange(_, expected, new, ..) => (old == expected).then_some(new),
                    Instruction::Load(..)
                    | Instruction::Fence(_)
                    | Instruction::Require(_)
                    | Instruction::Await(_) => None,
                };
                if let Some(new) = new {
                    values.written.insert(place, new);
                }
                values.executed[thread] += 1;
                *at += 1;
                has_advanced = true;
            }
            if is_over {
                return Some(values);
            }
            if !has_advanced {
                return None;
            }
        }
    }

    /// Returns whether every read-modify-write comes right after the store it reads, as atomicity and coherence imply.
    /// This saves time only; the axioms are checked in any case.
    fn may_be_atomic(&self, graph: &Graph) -> bool {
        graph.orders.iter().all(|order| {
            order.iter().enumerate().all(|(at, store)| match graph.reads.get(store) {
                None => true,
                Some(source) => *source == at.checked_sub(1).map(|before| order[before]),
            })
        })
    }

    fn outcome(&self, values: &Values, graph: &Graph) -> Outcome {
        let read = self.readers.iter().map(|reader| values.read.get(reader).copied()).collect();
        let last = self.variables.iter().zip(&graph.orders);
        let last = last.map(|(&variable, order)| {
            (variable, order.last().map_or(0, |store| values.written[store]))
        });
        Outcome { read, last: last.collect() }
    }
}

fn permutations(stores: &[Place]) -> Vec<Vec<Place>> {
    let Some((&first, rest)) = stores.split_first() else { return vec![vec![]] };
    let mut all = Vec::new();
    for shorter in permutations(rest) {
        for at in 0..=shorter.len() {
            let mut longer = shorter.clone();
            longer.insert(at, first);
            // Stores of one thread to one variable keep their order in every coherent execution.
            let is_ordered = |pair: &[Place]| pair[0].0 != pair[1].0 || pair[0].1 < pair[1].1;
            let in_thread = longer.iter().filter(|place| place.0 == first.0).copied();
            if in_thread.collect::<Vec<_>>().windows(2).all(is_ordered) {
                all.push(longer);
            }
        }
    }
    all
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Fence,
}

#[derive(Copy, Clone)]
struct Node {
    kind: Kind,
    variable: Option<char>,
    order: Order,
}

/// A set of events.
type Set = u64;
/// By event, the events that it is related to.
type Relation = Vec<Set>;

/// One execution as relations over events.
struct Execution {
    nodes: Vec<Node>,
    sb: Relation,
    rf: Relation,
    mo: Relation,
    rmw: Relation,
}

impl Execution {
    fn new(search: &Search<'_>, values: &Values, graph: &Graph) -> Execution {
        let write =
            |variable| Node { kind: Kind::Write, variable: Some(variable), order: Order::Relaxed };
        let mut nodes: Vec<Node> =
            search.variables.iter().map(|&variable| write(variable)).collect();
        let initial = nodes.len();
        let mut pairs_rmw = Vec::new();
        let mut thread_ranges = Vec::new();
        let mut reads = BTreeMap::new();
        let mut writes = BTreeMap::new();
        for (thread, &executed) in values.executed.iter().enumerate() {
            let begin = nodes.len();
            for at in 0..executed {
                let place = (thread, at);
                let instruction = search.threads[thread][at];
                let variable = instruction.variable();
                let has_written = values.written.contains_key(&place);
                let order = match instruction {
                    Instruction::Store(_, _, order)
                    | Instruction::Load(_, order)
                    | Instruction::Add(_, _, order)
                    | Instruction::Swap(_, _, order)
                    | Instruction::Fence(order) => order,
                    Instruction::Exchange(.., success, failure) => {
                        if has_written {
                            success
                        } else {
                            failure
                        }
                    }
                    Instruction::Require(_) | Instruction::Await(_) => {
                        unreachable!("only operations are kept")
                    }
                };
                if let Instruction::Fence(_) = instruction {
                    nodes.push(Node { kind: Kind::Fence, variable, order });
                    continue;
                }
                if instruction.reads() {
                    reads.insert(place, nodes.len());
                    nodes.push(Node { kind: Kind::Read, variable, order: reading(order) });
                }
                if has_written {
                    if instruction.reads() {
                        pairs_rmw.push((nodes.len() - 1, nodes.len()));
                    }
                    writes.insert(place, nodes.len());
                    nodes.push(Node { kind: Kind::Write, variable, order: writing(order) });
                }
            }
            thread_ranges.push(begin..nodes.len());
        }
        let count = nodes.len();
        assert!(count <= 64, "a litmus test with more than 64 events");
        let mut sb = vec![0; count];
        sb[..initial].fill((initial..count).fold(0, |set, to| set | 1 << to));
        for range in thread_ranges {
            for from in range.clone() {
                sb[from] = (from + 1..range.end).fold(0, |set, to| set | 1 << to);
            }
        }
        let mut rf = vec![0; count];
        for (reader, source) in &graph.reads {
            let from = match source {
                Some(source) => writes[source],
                None => {
                    let variable = nodes[reads[reader]].variable;
                    (0..initial).find(|&at| nodes[at].variable == variable).expect("a variable")
                }
            };
            rf[from] |= 1 << reads[reader];
        }
        let mut mo = vec![0; count];
        for (variable, order) in graph.orders.iter().enumerate() {
            let all: Vec<usize> =
                std::iter::once(variable).chain(order.iter().map(|store| writes[store])).collect();
            for (at, &from) in all.iter().enumerate() {
                mo[from] = all[at + 1..].iter().fold(0, |set, to| set | 1 << to);
            }
        }
        let mut rmw = vec![0; count];
        for (read, write) in pairs_rmw {
            rmw[read] = 1 << write;
        }
        Execution { nodes, sb, rf, mo, rmw }
    }

    fn is_consistent(&self) -> bool {
        let all = self.set(|_| true);
        let identity: Relation = (0..self.nodes.len()).map(|at| 1 << at).collect();
        let fence = self.set(|node| node.kind == Kind::Fence);
        let write = self.set(|node| node.kind == Kind::Write);
        let release = self.set(|node| node.order.releases());
        let acquire = self.set(|node| node.order.acquires());
        let sc = self.set(|node| node.order == Order::SeqCst);
        let fence_sc = fence & sc;
        let (sb, rf, mo) = (&self.sb, &self.rf, &self.mo);

        if !is_acyclic(&union(sb, rf)) {
            return false;
        }
        let mut rb = compose(&inverse(rf), mo);
        for (at, set) in rb.iter_mut().enumerate() {
            *set &= !(1 << at);
        }
        // Atomicity: no store between the read and the write of a read-modify-write.
        let between = compose(&rb, mo);
        if (0..self.nodes.len()).any(|at| self.rmw[at] & between[at] != 0) {
            return false;
        }
        let eco = closure(&union(&union(rf, mo), &rb));
        // C++20: a release sequence continues through read-modify-writes only.
        let sequence = restrict(write, &reflexive(&closure(&compose(rf, &self.rmw))), all);
        let before = union(&identity, &restrict(fence, sb, all));
        let after = union(&identity, &restrict(all, sb, fence));
        let sw = compose(&restrict(release, &before, all), &compose(&sequence, rf));
        let sw = restrict(all, &compose(&sw, &after), acquire);
        let hb = closure(&union(sb, &sw));
        // Coherence.
        if !is_irreflexive(&hb) || !is_irreflexive(&compose(&hb, &eco)) {
            return false;
        }
        let elsewhere = self.by_variable(sb, |same| !same);
        let scb = union(
            &union(sb, &compose(&compose(&elsewhere, &hb), &elsewhere)),
            &union(&self.by_variable(&hb, |same| same), &union(mo, &rb)),
        );
        let to_left = union(&restrict(sc, &identity, all), &restrict(fence_sc, &hb, all));
        let to_right = union(&restrict(all, &identity, sc), &restrict(all, &hb, fence_sc));
        let base = compose(&compose(&to_left, &scb), &to_right);
        let through = union(&hb, &compose(&compose(&hb, &eco), &hb));
        let psc = union(&base, &restrict(fence_sc, &through, fence_sc));
        is_acyclic(&psc)
    }

    fn set(&self, is_in: impl Fn(&Node) -> bool) -> Set {
        let all = self.nodes.iter().enumerate();
        all.filter(|(_, node)| is_in(node)).fold(0, |set, (at, _)| set | 1 << at)
    }

    /// Returns the pairs of `relation` that `keep` accepts. Its argument is whether both events access one variable.
    fn by_variable(&self, relation: &Relation, keep: impl Fn(bool) -> bool) -> Relation {
        let row = |(at, &set): (usize, &Set)| {
            let variable = self.nodes[at].variable;
            let same = |to: &usize| variable.is_some() && self.nodes[*to].variable == variable;
            let kept = (0..self.nodes.len()).filter(|to| keep(same(to)));
            kept.fold(0, |kept, to| kept | (set & 1 << to))
        };
        relation.iter().enumerate().map(row).collect()
    }
}

/// Returns the memory ordering of the read part of an access.
fn reading(order: Order) -> Order {
    match order {
        Order::Release => Order::Relaxed,
        Order::AcqRel => Order::Acquire,
        Order::Relaxed | Order::Acquire | Order::SeqCst => order,
    }
}

/// Returns the memory ordering of the write part of an access.
fn writing(order: Order) -> Order {
    match order {
        Order::Acquire => Order::Relaxed,
        Order::AcqRel => Order::Release,
        Order::Relaxed | Order::Release | Order::SeqCst => order,
    }
}

fn union(a: &Relation, b: &Relation) -> Relation {
    a.iter().zip(b).map(|(a, b)| a | b).collect()
}

fn compose(a: &Relation, b: &Relation) -> Relation {
    let row = |&set: &Set| {
        let mut set = set;
        let mut reached = 0;
        while set != 0 {
            reached |= b[set.trailing_zeros() as usize];
            set &= set - 1;
        }
        reached
    };
    a.iter().map(row).collect()
}

fn inverse(a: &Relation) -> Relation {
    let column = |to: usize| {
        (0..a.len()).filter(|&from| a[from] >> to & 1 == 1).fold(0, |set, from| set | 1 << from)
    };
    (0..a.len()).map(column).collect()
}

fn closure(a: &Relation) -> Relation {
    let mut a = a.clone();
    for through in 0..a.len() {
        let reached = a[through];
        for set in &mut a {
            if *set >> through & 1 == 1 {
                *set |= reached;
            }
        }
    }
    a
}

fn reflexive(a: &Relation) -> Relation {
    a.iter().enumerate().map(|(at, set)| set | 1 << at).collect()
}

fn restrict(from: Set, a: &Relation, to: Set) -> Relation {
    let row = |(at, set): (usize, &Set)| if from >> at & 1 == 1 { set & to } else { 0 };
    a.iter().enumerate().map(row).collect()
}

fn is_irreflexive(a: &Relation) -> bool {
    a.iter().enumerate().all(|(at, set)| set >> at & 1 == 0)
}

fn is_acyclic(a: &Relation) -> bool {
    is_irreflexive(&closure(a))
}
