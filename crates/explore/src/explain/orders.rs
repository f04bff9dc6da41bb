//! Memory orderings that repair a failure: the fewest places whose ordering has to be stronger for nothing to fail.
//!
//! First all accesses and fences are sequentially consistent. If that does not help, no ordering does. Otherwise sets of
//! places are tried by increasing size. A set that is not enough is extended as long as it is not enough: every set that
//! repairs the failure has one of the other places, so that most sets need not be tried. The orderings of the places
//! found are then weakened as far as possible. If several places are needed, fences are tried in the same way.
//!
//! Promise: every repair was searched, and no execution of it fails; no set of fewer places is enough.

use std::collections::HashSet;

use raddle_core::{Action, AtomicOp, MemoryModel, Op, Order, Strengthened, Trace};
use raddle_results::{Change, Repair, StrongerOrder, Unknown};

use super::Trials;
use super::holds::{Holds, holds};
use crate::{Dpor, Explorer, Trust};

/// Programs with more places are not repaired.
const MAX_PLACES: usize = 48;
/// Sets with more places are not tried.
const MAX_SET: u32 = 5;
/// The most sets of one size that are looked at.
const MAX_SETS: u64 = 200_000;
/// The most repairs that are shown.
const MAX_REPAIRS: usize = 3;

/// Returns repairs by memory orderings, those with the fewest places first and at least one. `failing` fails.
pub(crate) fn orders(
    trials: &mut dyn Trials,
    memory: MemoryModel,
    max_steps: usize,
    failing: &Trace,
) -> Result<Vec<Repair>, Unknown> {
    let mut seeker = Seeker { trials, memory, max_steps, places: Places::default() };
    seeker.places.learn(failing);
    seeker.try_all()?;
    let by_orders = seeker.least(Kind::Order, MAX_SET);
    let size = by_orders.as_ref().map_or(MAX_SET, |sets| sets[0].len() as u32);
    // A fence in place of several orderings.
    let by_fences =
        if size > 1 { seeker.least(Kind::Fence, size - 1) } else { Err(Unknown::NoChange) };
    let (kind, sets) = match (by_fences, by_orders) {
        (Ok(sets), _) => (Kind::Fence, sets),
        (Err(_), Ok(sets)) => (Kind::Order, sets),
        (Err(_), Err(unknown)) => return Err(unknown),
    };
    sets.iter().map(|set| seeker.weakest(kind, set)).collect()
}

/// A place of the program, and the access or fence there.
#[derive(Copy, Clone, Debug)]
struct Place {
    op: Op,
    strengthened: Strengthened,
}

/// The places whose orderings are not sequentially consistent, in the order in which they were seen.
#[derive(Default)]
struct Places {
    /// The keys of the sites that were seen. Several keys may be of one site.
    known: HashSet<usize>,
    places: Vec<Place>,
}

impl Places {
    /// Adds the places of a run. Those that are known are stronger in it than in the program.
    fn learn(&mut self, trace: &Trace) {
        let announced = trace.pending.iter().map(|pending| (pending.op, pending.site));
        let performed = trace.events.iter().map(|event| (event.op, event.site));
        for (op, site) in performed.chain(announced) {
            if !op.is_atomic() && op.fence().is_none() || !self.known.insert(site.key()) {
                continue;
            }
            let is_new = !self.places.iter().any(|place| place.strengthened.site == site);
            if is_new && op.strengthened(Order::SeqCst) != op {
                let strengthened = Strengthened { site, order: Order::SeqCst, fence: None };
                self.places.push(Place { op, strengthened });
            }
        }
    }
}

/// What is changed at a place.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Kind {
    /// The ordering.
    Order,
    /// There is a fence before the access.
    Fence,
}

struct Seeker<'t> {
    trials: &'t mut dyn Trials,
    memory: MemoryModel,
    max_steps: usize,
    places: Places,
}

impl Seeker<'_> {
    /// Makes all orderings sequentially consistent, until no further place is seen. Returns an error if that is not enough.
    fn try_all(&mut self) -> Result<(), Unknown> {
        loop {
            let known = self.places.places.len();
            if known == 0 || known > MAX_PLACES {
                return Err(if known == 0 { Unknown::SeqCstToo } else { Unknown::NoChange });
            }
            let all: Vec<Strengthened> =
                self.places.places.iter().map(|place| place.strengthened).collect();
            let holds = self.search(&all)?;
            if self.places.places.len() == known {
                return if holds == Holds::No { Err(Unknown::SeqCstToo) } else { Ok(()) };
            }
        }
    }

    /// Searches all executions with stronger orderings.
    fn search(&mut self, orders: &[Strengthened]) -> Result<Holds, Unknown> {
        self.trials.strengthen(orders);
        let explorer: Box<dyn Explorer> = match self.memory {
            MemoryModel::Sc => Box::new(Dpor::default()),
            MemoryModel::Rc11 => Box::new(Trust::default()),
        };
        let places = &mut self.places;
        holds(self.trials, explorer, self.max_steps, &mut |trace| places.learn(trace))
    }

    fn at(&self, kind: Kind, place: usize, order: Order) -> Strengthened {
        let site = self.places.places[place].strengthened.site;
        match kind {
            Kind::Order => Strengthened { site, order, fence: None },
            Kind::Fence => Strengthened { site, order: Order::Relaxed, fence: Some(order) },
        }
    }

    /// Returns the least sets of at most `most` places that are enough if they are sequentially consistent.
    fn least(&mut self, kind: Kind, most: u32) -> Result<Vec<Vec<usize>>, Unknown> {
        // A fence does not need a fence before it.
        let is_usable = |place: &Place| kind == Kind::Order || place.op.fence().is_none();
        let usable: Vec<usize> = (0..self.places.places.len())
            .filter(|&place| is_usable(&self.places.places[place]))
            .collect();
        let of = |set: u64| usable.iter().enumerate().filter(move |(bit, _)| set >> bit & 1 == 1);
        let mut clauses: Vec<u64> = Vec::new();
        let mut found: Vec<Vec<usize>> = Vec::new();
        for size in 1..=most.min(usable.len() as u32) {
            for set in sets(usable.len() as u32, size).take(MAX_SETS as usize) {
                if found.len() == MAX_REPAIRS {
                    break;
                }
                if clauses.iter().any(|clause| clause & set == 0) {
                    continue;
                }
                let holds = |set: u64, seeker: &mut Self| {
                    let orders: Vec<Strengthened> =
                        of(set).map(|(_, &place)| seeker.at(kind, place, Order::SeqCst)).collect();
                    seeker.search(&orders)
                };
                match holds(set, self) {
                    Ok(Holds::Yes { .. }) => found.push(of(set).map(|(_, &place)| place).collect()),
                    Ok(Holds::No) => {
                        let mut grown = set;
                        for bit in 0..usable.len() {
                            let more = grown | 1 << bit;
                            if more != grown && holds(more, self)? == Holds::No {
                                grown = more;
                            }
                        }
                        clauses.push(((1u64 << usable.len()) - 1) & !grown);
                    }
                    Err(_) if !found.is_empty() => return Ok(found),
                    Err(unknown) => return Err(unknown),
                }
                if clauses.last() == Some(&0) {
                    return Err(Unknown::NoChange);
                }
            }
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Err(Unknown::NoChange)
    }

    /// Returns the repair with the weakest orderings at these places.
    fn weakest(&mut self, kind: Kind, set: &[usize]) -> Result<Repair, Unknown> {
        let options: Vec<Vec<Order>> = set
            .iter()
            .map(|&place| match kind {
                Kind::Order => stronger(self.places.places[place].op),
                Kind::Fence => vec![Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst],
            })
            .collect();
        let mut combinations: Vec<Vec<Order>> = vec![Vec::new()];
        for options in &options {
            let extended = |known: &Vec<Order>| {
                let known = known.clone();
                options.iter().map(move |&order| [&known[..], &[order]].concat())
            };
            combinations = combinations.iter().flat_map(extended).collect();
        }
        combinations.sort_by_key(|orders| orders.iter().map(|&order| strength(order)).sum::<u32>());
        for orders in combinations {
            let changes = set.iter().zip(&orders);
            let table: Vec<Strengthened> =
                changes.map(|(&place, &order)| self.at(kind, place, order)).collect();
            let Holds::Yes { executions } = self.search(&table)? else { continue };
            let changes = set.iter().zip(&orders).map(|(&place, &order)| {
                let Place { op, strengthened } = self.places.places[place];
                StrongerOrder { site: strengthened.site, op, order, is_fence: kind == Kind::Fence }
            });
            return Ok(Repair { change: Change::Orders(changes.collect()), executions });
        }
        Err(Unknown::NoChange)
    }
}

/// Returns the sets of `size` of `count` elements, each as bits.
fn sets(count: u32, size: u32) -> impl Iterator<Item = u64> {
    let first = (1u64 << size) - 1;
    // The next larger number with as many bits.
    let next = |set: u64| {
        let lowest = set & set.wrapping_neg();
        let carried = set + lowest;
        carried | (((set ^ carried) >> 2) / lowest)
    };
    std::iter::successors(Some(first), move |&set| Some(next(set)))
        .take_while(move |&set| set < 1 << count)
}

/// Returns the orderings with which an access or fence is stronger, the weaker ones first.
fn stronger(op: Op) -> Vec<Order> {
    let all = [Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
    let can_be = |order: &Order| match op.action() {
        Action::Atomic(AtomicOp::Load { .. }) => order.of_load() == *order,
        Action::Atomic(AtomicOp::Store { .. }) => order.of_store() == *order,
        _ => true,
    };
    all.into_iter().filter(|order| can_be(order) && op.strengthened(*order) != op).collect()
}

/// Returns how much an ordering asks for.
fn strength(order: Order) -> u32 {
    match order {
        Order::Relaxed => 0,
        Order::Acquire | Order::Release => 1,
        Order::AcqRel => 2,
        Order::SeqCst => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_a_size_are_all_there() {
        for count in 0..8 {
            for size in 1..=count {
                let mut found: Vec<u64> = sets(count, size).collect();
                assert!(found.iter().all(|set| set.count_ones() == size && set >> count == 0));
                let all = (0..1u64 << count).filter(|set| set.count_ones() == size).count();
                found.dedup();
                assert_eq!(found.len(), all);
            }
        }
    }
}
