//! What is left behind, and what is odd about executions that do not fail, in words.

use raddle_core::{ObjectId, ThreadId};
use raddle_results::{Leak, LockOrder, Report, Warning, WarningKind};

use crate::json::{Json, kind, site, thread};
use crate::names::Names;
use crate::number::count;

/// What an execution left behind, as what is wrong with it.
pub(crate) fn headline(leak: &Leak, names: &Names<'_>) -> String {
    match leak {
        Leak::Thread { thread, .. } => {
            format!("{} still waits when all others have ended", names.thread(*thread))
        }
        Leak::Lock { thread, object, .. } => {
            format!("{} ended while it held {}", names.thread(*thread), names.name(*object))
        }
        Leak::Memory { object, .. } => {
            format!("memory is never freed: that of {}", names.name(*object))
        }
    }
}

pub(crate) fn explanation(leak: &Leak, names: &Names<'_>) -> String {
    match leak {
        Leak::Thread { thread, object, site } => format!(
            "  {} waits for {} at {site}, and nobody is left who could let it go on. Join it, or\n  \
             tell it to end.\n",
            names.thread(*thread),
            names.name(*object)
        ),
        Leak::Lock { object, site, .. } => format!(
            "  {} was taken at {site} and never given back: its guard was forgotten, or is part of\n  \
             something that was (`mem::forget`, `Box::leak`, a cycle of `Arc`s). Nobody can take it any \
             more.\n",
            names.name(*object)
        ),
        Leak::Memory { thread, object, site, bytes } => format!(
            "  {} allocated {}, in which {} is that was first used at {site}. When the\n  execution \
             had ended nobody had freed it: an `Arc` or `Box` was forgotten, or `Arc`s refer to one \
             another.\n",
            names.thread(*thread),
            count(*bytes as u64, "byte", "bytes"),
            names.name(*object)
        ),
    }
}

/// Lines to put below a result without a failure.
pub(crate) fn remarks(report: &Report) -> String {
    report.warnings.iter().map(|warning| format!("\n        {}", remark(warning))).collect()
}

/// A remark, on one line.
pub(crate) fn remark(warning: &Warning) -> String {
    let Warning { kind, execution } = warning;
    match kind {
        WarningKind::Leak(Leak::Thread { thread, site, .. }) => format!(
            "note: in execution {execution}, {thread} still waits at {site} when all others have ended"
        ),
        WarningKind::Leak(Leak::Lock { thread, site, .. }) => format!(
            "note: in execution {execution}, {thread} ended while it held the lock taken at {site}"
        ),
        WarningKind::Leak(Leak::Memory { thread, site, bytes, .. }) => format!(
            "note: in execution {execution}, nobody freed the {bytes} bytes that {thread} allocated for \
             what was first used at {site}"
        ),
        WarningKind::LockOrder(orders) => format!(
            "warning: locks are taken in different orders: {} (execution {execution}); no execution was \
             found in which that is a deadlock",
            orders.iter().map(|order| order_in_words(order, orders)).collect::<Vec<_>>().join("; ")
        ),
    }
}

fn order_in_words(order: &LockOrder, all: &[LockOrder]) -> String {
    // The order of the cycle names them: the first holds A and wants B.
    let letter = |lock: ObjectId| {
        let place = all.iter().position(|order| order.held == lock).unwrap_or(0);
        char::from(b'A' + place as u8)
    };
    let LockOrder { thread, held, taken_at, wanted, wanted_at } = order;
    format!(
        "{thread} holds {} (taken at {taken_at}) and takes {} at {wanted_at}",
        letter(*held),
        letter(*wanted)
    )
}

pub(crate) fn leak_json(leak: &Leak) -> Json {
    let (what, by, object, at) = match *leak {
        Leak::Thread { thread, object, site } => ("thread", thread, object, site),
        Leak::Lock { thread, object, site } => ("lock", thread, object, site),
        Leak::Memory { thread, object, site, .. } => ("memory", thread, object, site),
    };
    let bytes = match *leak {
        Leak::Memory { bytes, .. } => Some(bytes as u64),
        Leak::Thread { .. } | Leak::Lock { .. } => None,
    };
    kind(
        "leak",
        [
            ("what", Json::text(what)),
            ("thread", thread(by)),
            ("object", Json::Number(object.0.into())),
            ("site", site(at)),
            ("bytes", Json::or_null(bytes, Json::Number)),
        ],
    )
}

pub(crate) fn warning_json(warning: &Warning) -> Json {
    let what = match &warning.kind {
        WarningKind::Leak(leak) => leak_json(leak),
        WarningKind::LockOrder(orders) => {
            let order = |order: &LockOrder| {
                let number = |object: ObjectId| Json::Number(object.0.into());
                let ThreadId(by) = order.thread;
                Json::Object(vec![
                    ("thread", Json::Number(by.into())),
                    ("held", number(order.held)),
                    ("taken_at", site(order.taken_at)),
                    ("wanted", number(order.wanted)),
                    ("wanted_at", site(order.wanted_at)),
                ])
            };
            kind("lock-order", [("orders", Json::list(orders.iter().map(order)))])
        }
    };
    Json::Object(vec![
        ("summary", Json::text(remark(warning))),
        ("execution", Json::Number(warning.execution)),
        ("oddity", what),
    ])
}
