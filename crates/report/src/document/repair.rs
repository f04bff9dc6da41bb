//! Repairs, with their changes in words.

use raddle_analysis::{Words, access_name, ordering};
use raddle_core::{Action, AtomicOp, Op, Order};
use raddle_results as results;
use raddle_results::document::{Change, MovedLock, Region, Repair, StrongerOrder};

use super::explanation::event;

pub(super) fn repair(repair: &results::Repair, words: &Words<'_>) -> Repair {
    let change = match &repair.change {
        results::Change::Orders(orders) => {
            Change::Orders { orders: orders.iter().map(stronger).collect() }
        }
        results::Change::Turned(pair) => {
            Change::Turned { first: event(&pair.after, words), second: event(&pair.before, words) }
        }
        results::Change::Excluded(regions) => {
            let region = |region: &results::Region| Region {
                first: event(&region.first, words),
                last: event(&region.last, words),
            };
            Change::Excluded { regions: regions.iter().map(region).collect() }
        }
        results::Change::LockOrder { locks, moved } => Change::LockOrder {
            locks: locks.iter().map(|lock| lock.0).collect(),
            moved: moved
                .iter()
                .map(|moved| MovedLock {
                    first: event(&moved.first, words),
                    second: event(&moved.second, words),
                })
                .collect(),
        },
        _ => raddle_results::new_variant(),
    };
    Repair { change, executions: repair.executions }
}

fn stronger(stronger: &results::StrongerOrder) -> StrongerOrder {
    let results::StrongerOrder { site, op, order, is_fence } = *stronger;
    let to = if is_fence { ordering(order).to_owned() } else { orders(op.strengthened(order)) };
    let operation = access_name(op).to_owned();
    StrongerOrder { site: site.into(), operation, from: orders(op), to, is_fence }
}

/// Returns the orderings of an access or a fence, as a program writes them.
fn orders(op: Op) -> String {
    let word = |order: Order| ordering(order).to_owned();
    match op.action() {
        Action::Atomic(AtomicOp::CompareExchange { success, failure, .. }) => {
            format!("{}, {}", ordering(success), ordering(failure))
        }
        Action::Atomic(_) => word(op.atomic_order(true)),
        _ => op.fence().map(word).unwrap_or_default(),
    }
}
