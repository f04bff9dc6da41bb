//! What went wrong, and what is suspicious, in one line.

use raddle_analysis::{Names, cycles};
use raddle_core::{ObjectId, PlainAccess};
use raddle_results::document::Place;
use raddle_results::{Finding, Leak, LockOrder, Warning, WarningKind};

use crate::number::count;
use crate::phrase::{access_verb, one_line, shortened};

/// Returns one line that says what went wrong.
pub(super) fn summary(finding: &Finding, names: &Names<'_>) -> String {
    match finding {
        Finding::Panic(panic) => shortened(&one_line(&panic.message)),
        Finding::Deadlock(waits) => match cycles(waits).first() {
            None => "deadlock: no thread is runnable".into(),
            Some(cycle) if cycle.len() == 1 => {
                format!("deadlock: {} waits for itself", names.thread(cycle[0].thread))
            }
            Some(cycle) => format!("deadlock: {} threads wait for one another", cycle.len()),
        },
        Finding::WaitsForever { loops, .. } => match &loops[..] {
            [one] => format!("{} waits forever in a loop", names.thread(one.thread)),
            several => format!("{} threads wait forever in loops", several.len()),
        },
        Finding::Race { first, second } => {
            let side = |access: &PlainAccess| {
                let verb = access_verb(access.writes, &Place::from(access.site));
                format!("{} {verb}", names.thread(access.thread))
            };
            format!(
                "data race on {}: {} and {}",
                names.name(first.object),
                side(first),
                side(second)
            )
        }
        Finding::UseAfterFree { freed, access, .. } => format!(
            "use after free: {} uses {}, which {} frees",
            names.thread(access.thread),
            names.name(access.object),
            names.thread(freed.end.thread)
        ),
        Finding::FreedTwice { first, second } => {
            let (one, other) = (names.thread(first.end.thread), names.thread(second.end.thread));
            format!("freed twice: {}, by {one} and by {other}", names.name(first.end.object))
        }
        Finding::ReadTwice { thread, object, writer, .. } => format!(
            "{} reads {} twice at once, while {} may wait to write it",
            names.thread(*thread),
            names.name(*object),
            names.thread(*writer)
        ),
        Finding::StepLimit { steps } => {
            format!("an execution did not end within {}", count(*steps, "step", "steps"))
        }
        Finding::Nondeterminism { .. } => "the program is not deterministic".into(),
        Finding::Leak(leak) => leak_summary(leak, names),
        _ => raddle_results::new_variant(),
    }
}

fn leak_summary(leak: &Leak, names: &Names<'_>) -> String {
    match leak {
        Leak::Thread { thread, .. } => {
            format!("{} is still blocked when all other threads have ended", names.thread(*thread))
        }
        Leak::Lock { thread, object, .. } => {
            format!("{} ended while it held {}", names.thread(*thread), names.name(*object))
        }
        Leak::Memory { object, .. } => {
            format!("the memory of {} is never freed", names.name(*object))
        }
        _ => raddle_results::new_variant(),
    }
}

/// Returns one line that says what is suspicious.
pub(super) fn warning_summary(warning: &Warning) -> String {
    let Warning { kind, execution } = warning;
    match kind {
        WarningKind::Leak(Leak::Thread { thread, site, .. }) => format!(
            "note: in execution {execution}, {thread} is still blocked at {site} when all other threads have ended"
        ),
        WarningKind::Leak(Leak::Lock { thread, site, .. }) => format!(
            "note: in execution {execution}, {thread} ended while it held the lock acquired at {site}"
        ),
        WarningKind::Leak(Leak::Memory { thread, site, bytes, .. }) => format!(
            "note: in execution {execution}, the {bytes} bytes that {thread} allocated for the \
             object first used at {site} were never freed"
        ),
        WarningKind::LockOrder(orders) => format!(
            "warning: locks are acquired in different orders: {} (execution {execution}); no \
             execution that deadlocks was found",
            orders.iter().map(|order| order_in_words(order, orders)).collect::<Vec<_>>().join("; ")
        ),
        _ => raddle_results::new_variant(),
    }
}

fn order_in_words(order: &LockOrder, all: &[LockOrder]) -> String {
    // Letters follow the cycle: the first thread holds A and acquires B.
    let letter = |lock: ObjectId| {
        let place = all.iter().position(|order| order.held == lock).unwrap_or(0);
        char::from(b'A' + place as u8)
    };
    let LockOrder { thread, held, taken_at, wanted, wanted_at } = order;
    format!(
        "{thread} holds {} (acquired at {taken_at}) and acquires {} at {wanted_at}",
        letter(*held),
        letter(*wanted)
    )
}
