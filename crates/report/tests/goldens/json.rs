//! Reports as JSON. Every report of the goldens is read by an independent parser, and all its fields must be
//! documented.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use raddle_core::{
    Action, ChannelOp, CondvarOp, Effect, Guarantee, MutexOp, ObjectId, ObjectKind, OnceOp, ParkOp,
    Site, ThreadId, ThreadOp,
};
use raddle_results::{Bounds, Finding, Leak, Phase, PhaseEnd, Report, Search, Verdict};
use serde_json::Value;

use crate::build::{Build, failed, panic, report};
use crate::{causes, programs, real, round_trip, site};

const PAGE: &str = include_str!("../../../../docs/report-json.md");

/// Returns the JSON of `report`, parsed. Panics if the documentation does not mention a field or a kind.
pub(crate) fn parsed(report: &Report) -> Value {
    let text = raddle_report::json(report);
    round_trip::check(report, &text);
    let value: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut found = BTreeSet::new();
    words(&value, &mut found);
    for word in found {
        assert!(PAGE.contains(&format!("`{word}`")), "nothing is said about `{word}`");
    }
    assert_eq!(value["version"], 2);
    assert_eq!(value["name"], *report.name);
    assert_eq!(value["executions"], report.executions);
    assert_eq!(value["failure"].is_null(), report.failure().is_none());
    if let Some(failure) = report.failure() {
        let trace = &value["failure"]["trace"];
        let events = trace["events"].as_array().unwrap();
        let omitted = trace["omitted"].as_u64().unwrap() as usize;
        assert_eq!(events.len() + omitted, failure.trace.events.len());
        assert_eq!(trace["objects"].as_array().unwrap().len(), failure.trace.objects.len());
        for event in events {
            let position = event["step"].as_u64().unwrap() as usize - 1;
            let recorded = failure.trace.events[position];
            assert_eq!(event["thread"], recorded.id.thread.0);
            assert_eq!(event["index"], recorded.id.index);
            assert_eq!(event["site"].is_null(), recorded.site == Site::UNKNOWN);
        }
    }
    value
}

/// Collects the names of fields and the kinds in `value`.
fn words<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                found.insert(name);
                if let ("kind" | "ending", Some(kind)) = (&name[..], value.as_str()) {
                    found.insert(kind);
                }
                words(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| words(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn check(report: &Report, expected: Expect) {
    expected.assert_eq(&raddle_report::json(report));
    parsed(report);
}

#[test]
fn a_clean_result() {
    check(
        &report(Verdict::Sampled),
        expect![[r#"
            {
              "version": 2,
              "name": "tests::queue",
              "strategy": "random",
              "memory": "SC",
              "seed": 0,
              "verdict": {"kind": "sampled"},
              "executions": 10000,
              "steps": 123456,
              "classes": 3911,
              "classes_exact": true,
              "discarded": 0,
              "unseen_drops": false,
              "leaked": 0,
              "equivalents": 0,
              "probes": 0,
              "unchecked": false,
              "hidden_state": null,
              "blind_spots": {"silent_threads": 0, "weak_orderings": false, "clock_loops": false, "idle_rounds": false},
              "incomplete": null,
              "elapsed_seconds": 0.4,
              "threads": 3,
              "phases": [],
              "search": null,
              "coverage": null,
              "patterns": null,
              "unseen": null,
              "guarantees": [],
              "warnings": [],
              "conditions": [],
              "conditions_required": false,
              "rerun": null,
              "failure": null,
              "failures": null
            }
        "#]],
    );
}

#[test]
fn a_search_in_phases() {
    let bounds = Bounds { preemptions: Some(2), ..Bounds::default() };
    let phase = |strategy: &str, executions, end| Phase {
        strategy: strategy.into(),
        executions,
        failing: 0,
        end,
    };
    let mut report = report(Verdict::Bounded(bounds));
    report.seed = u64::MAX;
    report.phases = vec![
        phase("dpor", 64, PhaseEnd::TooMany(2.5e13)),
        phase("bpor:2", 9_936, PhaseEnd::Bounded(bounds)),
        phase("random", 1, PhaseEnd::TooMany(f64::INFINITY)),
    ];
    report.search = Some(Search { blocked: 3, points: 40, planned: 5, estimate: Some(120.0) });
    check(
        &report,
        expect![[r#"
            {
              "version": 2,
              "name": "tests::queue",
              "strategy": "random",
              "memory": "SC",
              "seed": 18446744073709551615,
              "verdict": {"kind": "bounded", "bounds": {"preemptions": 2, "delays": null, "unfairness": null}},
              "executions": 10000,
              "steps": 123456,
              "classes": 3911,
              "classes_exact": true,
              "discarded": 0,
              "unseen_drops": false,
              "leaked": 0,
              "equivalents": 0,
              "probes": 0,
              "unchecked": false,
              "hidden_state": null,
              "blind_spots": {"silent_threads": 0, "weak_orderings": false, "clock_loops": false, "idle_rounds": false},
              "incomplete": null,
              "elapsed_seconds": 0.4,
              "threads": 3,
              "phases": [
                {"strategy": "dpor", "executions": 64, "failing": 0, "end": {"kind": "too-many", "estimate": 25000000000000.0}},
                {
                  "strategy": "bpor:2",
                  "executions": 9936,
                  "failing": 0,
                  "end": {"kind": "bounded", "bounds": {"preemptions": 2, "delays": null, "unfairness": null}}
                },
                {"strategy": "random", "executions": 1, "failing": 0, "end": {"kind": "too-many", "estimate": null}}
              ],
              "search": {"blocked": 3, "points": 40, "planned": 5, "estimate": 120.0},
              "coverage": null,
              "patterns": null,
              "unseen": null,
              "guarantees": [],
              "warnings": [],
              "conditions": [],
              "conditions_required": false,
              "rerun": null,
              "failure": null,
              "failures": null
            }
        "#]],
    );
    assert_eq!(parsed(&report)["seed"].as_u64(), Some(u64::MAX));
}

#[test]
fn a_run() {
    check(
        &real::replayed(programs::lost_update, &[0, 0, 1, 1, 1, 0, 0, 0]),
        expect![[r#"
            {
              "version": 2,
              "name": "real",
              "strategy": "replay",
              "memory": "SC",
              "seed": 0,
              "verdict": {"kind": "failed"},
              "executions": 1,
              "steps": 8,
              "classes": 1,
              "classes_exact": true,
              "discarded": 0,
              "unseen_drops": false,
              "leaked": 0,
              "equivalents": 0,
              "probes": 0,
              "unchecked": false,
              "hidden_state": null,
              "blind_spots": {"silent_threads": 0, "weak_orderings": false, "clock_loops": false, "idle_rounds": false},
              "incomplete": null,
              "elapsed_seconds": 0.0004,
              "threads": 2,
              "phases": [],
              "search": null,
              "coverage": null,
              "patterns": null,
              "unseen": null,
              "guarantees": [],
              "warnings": [],
              "conditions": [],
              "conditions_required": false,
              "rerun": null,
              "failure": {
                "summary": "assertion `left == right` failed: an update got lost: left: 0, right: 1",
                "finding": {"kind": "panic", "thread": 0, "message": "assertion `left == right` failed: an update got lost\n  left: 0\n right: 1", "place": "crates/report/tests/goldens/programs.rs:18:5", "backtrace": null},
                "execution": 1,
                "reproduced": true,
                "beyond_bound": false,
                "token": "r1-XbDf1gAAAgQDAAPFBDrG",
                "explanation": null,
                "unexplained": null,
                "trace": {
                  "ending": "panicked",
                  "fingerprint": "d81495d734a0ec36",
                  "threads": [{"id": 0, "parent": null, "position": 0, "name": null, "spawned": null, "ended": null}, {"id": 1, "parent": 0, "position": 0, "name": null, "spawned": 1, "ended": 5}],
                  "objects": [
                    {"id": 0, "name": "main", "named": false, "kind": "thread", "thread": 0, "type": null, "initial": null, "first": {"thread": 0, "index": 0}, "site": null, "type_name": null, "made": null},
                    {"id": 1, "name": "thread 1", "named": false, "kind": "thread", "thread": 1, "type": null, "initial": null, "first": {"thread": 0, "index": 0}, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 8, "column": 17}, "type_name": null, "made": null},
                    {"id": 2, "name": "atomic 1", "named": false, "kind": "atomic", "thread": null, "type": "i32", "initial": "-1", "first": {"thread": 1, "index": 0}, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 11, "column": 32}, "type_name": null, "made": {"file": "crates/report/tests/goldens/programs.rs", "line": 7, "column": 28}}
                  ],
                  "steps": 8,
                  "omitted": 0,
                  "events": [
                    {"step": 1, "thread": 0, "index": 0, "object": 1, "operation": {"kind": "thread.spawn"}, "effect": {"kind": "value", "value": "1"}, "text": "spawn thread 1", "link": null, "missed": null, "after": null, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 8, "column": 17}},
                    {"step": 2, "thread": 0, "index": 1, "object": 2, "operation": {"kind": "atomic.load", "order": "SeqCst"}, "effect": {"kind": "value", "value": "-1"}, "text": "atomic 1.load → -1", "link": {"kind": "reads-initial"}, "missed": null, "after": null, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 15, "column": 24}},
                    {"step": 3, "thread": 1, "index": 0, "object": 2, "operation": {"kind": "atomic.load", "order": "SeqCst"}, "effect": {"kind": "value", "value": "-1"}, "text": "atomic 1.load → -1", "link": {"kind": "reads-initial"}, "missed": null, "after": 1, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 11, "column": 32}},
                    {"step": 4, "thread": 1, "index": 1, "object": 2, "operation": {"kind": "atomic.store", "order": "SeqCst", "value": "0"}, "effect": null, "text": "atomic 1.store 0", "link": null, "missed": null, "after": null, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 12, "column": 21}},
                    {"step": 5, "thread": 1, "index": 2, "object": 1, "operation": {"kind": "thread.exit"}, "effect": null, "text": "ends", "link": null, "missed": null, "after": null, "site": null},
                    {"step": 6, "thread": 0, "index": 2, "object": 2, "operation": {"kind": "atomic.store", "order": "SeqCst", "value": "0"}, "effect": null, "text": "atomic 1.store 0", "link": {"kind": "overwrites", "step": 4}, "missed": null, "after": null, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 16, "column": 13}},
                    {"step": 7, "thread": 0, "index": 3, "object": 1, "operation": {"kind": "thread.join"}, "effect": null, "text": "join thread 1", "link": null, "missed": null, "after": 5, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 17, "column": 11}},
                    {"step": 8, "thread": 0, "index": 4, "object": 2, "operation": {"kind": "atomic.load", "order": "SeqCst"}, "effect": {"kind": "value", "value": "0"}, "text": "atomic 1.load → 0", "link": {"kind": "reads", "step": 6}, "missed": null, "after": null, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 18, "column": 24}}
                  ],
                  "pending": [],
                  "notes": [],
                  "stacks": [],
                  "stale_reads": [],
                  "more_stale_reads": 0
                }
              },
              "failures": null
            }
        "#]],
    );
}

#[test]
fn a_deadlock_and_names() {
    check(
        &real::replayed(programs::named_threads, &[0, 1, 1, 0]),
        expect![[r#"
            {
              "version": 2,
              "name": "real",
              "strategy": "replay",
              "memory": "SC",
              "seed": 0,
              "verdict": {"kind": "failed"},
              "executions": 1,
              "steps": 4,
              "classes": 1,
              "classes_exact": true,
              "discarded": 0,
              "unseen_drops": false,
              "leaked": 0,
              "equivalents": 0,
              "probes": 0,
              "unchecked": false,
              "hidden_state": null,
              "blind_spots": {"silent_threads": 0, "weak_orderings": false, "clock_loops": false, "idle_rounds": false},
              "incomplete": null,
              "elapsed_seconds": 0.0004,
              "threads": 2,
              "phases": [],
              "search": null,
              "coverage": null,
              "patterns": null,
              "unseen": null,
              "guarantees": [],
              "warnings": [],
              "conditions": [],
              "conditions_required": false,
              "rerun": null,
              "failure": {
                "summary": "deadlock: no thread is runnable",
                "finding": {
                  "kind": "deadlock",
                  "waits": [
                    {
                      "thread": 0,
                      "object": 2,
                      "text": "waits for mutex 1",
                      "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 60, "column": 15},
                      "holders": [
                        {"thread": 1, "taken": {"file": "crates/report/tests/goldens/programs.rs", "line": 57, "column": 39}}
                      ],
                      "in_cycle": false,
                      "missed_notification": null
                    }
                  ],
                  "cycles": []
                },
                "execution": 1,
                "reproduced": true,
                "beyond_bound": false,
                "token": "r1-XbDf1gAAAQQCAAHNqsUq",
                "explanation": null,
                "unexplained": null,
                "trace": {
                  "ending": "deadlock",
                  "fingerprint": "3229fca73324c2d1",
                  "threads": [{"id": 0, "parent": null, "position": 0, "name": null, "spawned": null, "ended": null}, {"id": 1, "parent": 0, "position": 0, "name": "worker", "spawned": 1, "ended": 3}],
                  "objects": [
                    {"id": 0, "name": "main", "named": false, "kind": "thread", "thread": 0, "type": null, "initial": null, "first": {"thread": 0, "index": 0}, "site": null, "type_name": null, "made": null},
                    {"id": 1, "name": "thread 1 (worker)", "named": false, "kind": "thread", "thread": 1, "type": null, "initial": null, "first": {"thread": 0, "index": 0}, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 55, "column": 63}, "type_name": null, "made": null},
                    {"id": 2, "name": "mutex 1", "named": false, "kind": "mutex", "thread": null, "type": null, "initial": null, "first": {"thread": 1, "index": 0}, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 57, "column": 39}, "type_name": "Mutex<()>", "made": {"file": "crates/report/tests/goldens/programs.rs", "line": 54, "column": 25}}
                  ],
                  "steps": 4,
                  "omitted": 0,
                  "events": [
                    {"step": 1, "thread": 0, "index": 0, "object": 1, "operation": {"kind": "thread.spawn"}, "effect": {"kind": "value", "value": "1"}, "text": "spawn thread 1 (worker)", "link": null, "missed": null, "after": null, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 55, "column": 63}},
                    {"step": 2, "thread": 1, "index": 0, "object": 2, "operation": {"kind": "mutex.lock"}, "effect": null, "text": "mutex 1.lock", "link": null, "missed": null, "after": 1, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 57, "column": 39}},
                    {"step": 3, "thread": 1, "index": 1, "object": 1, "operation": {"kind": "thread.exit"}, "effect": null, "text": "ends", "link": null, "missed": null, "after": null, "site": null},
                    {"step": 4, "thread": 0, "index": 1, "object": 1, "operation": {"kind": "thread.join"}, "effect": null, "text": "join thread 1 (worker)", "link": null, "missed": null, "after": 3, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 59, "column": 21}}
                  ],
                  "pending": [
                    {"thread": 0, "object": 2, "operation": {"kind": "mutex.lock"}, "text": "mutex 1.lock", "enabled": false, "site": {"file": "crates/report/tests/goldens/programs.rs", "line": 60, "column": 15}}
                  ],
                  "notes": [],
                  "stacks": [],
                  "stale_reads": [],
                  "more_stale_reads": 0
                }
              },
              "failures": null
            }
        "#]],
    );
}

#[test]
fn other_findings() {
    let trace = || Build::with_threads(1).finish();
    for (finding, kind) in [
        (Finding::StepLimit { steps: 10 }, "step-limit"),
        (
            Finding::Leak(Leak::Lock {
                thread: ThreadId(1),
                object: ObjectId(0),
                site: site::one(),
            }),
            "leak",
        ),
        (
            Finding::Nondeterminism { at: 4, first: "a".into(), second: "b".into() },
            "nondeterminism",
        ),
    ] {
        assert_eq!(parsed(&failed(finding, trace()))["failure"]["finding"]["kind"], kind);
    }
}

/// A message with any characters survives a round trip.
#[test]
fn texts_survive_a_round_trip() {
    let text = "\"quoted\" \\ a\nb\tc\r\u{0}\u{1b}[31m\u{2028}</script> ✗ 𝔘 \u{7f}";
    let report = failed(panic(0, text), Build::with_threads(0).finish());
    assert_eq!(parsed(&report)["failure"]["finding"]["message"], text);
}

/// Checks which step of another thread enabled each step.
#[test]
fn steps_that_enable_others() {
    let mut build = Build::with_threads(2);
    let mutex = build.object(ObjectKind::Mutex);
    let condvar = build.object(ObjectKind::Condvar);
    let parker = build.object(ObjectKind::Parker(ThreadId(1)));
    let channel = build.object(ObjectKind::Channel);
    let once = build.object(ObjectKind::Once);
    let lock = |op| Action::Mutex(op);
    let (consume, receive) =
        (CondvarOp::Consume { timed: false }, ChannelOp::Receive { timed: false });
    let steps = [
        // Steps 1 and 2 spawn.
        (1, condvar, Action::Condvar(CondvarOp::Enqueue), Effect::None, Some(1)),
        (2, condvar, Action::Condvar(CondvarOp::Enqueue), Effect::None, Some(2)),
        (0, mutex, lock(MutexOp::Lock), Effect::None, None),
        (0, condvar, Action::Condvar(CondvarOp::NotifyOne), Effect::Yes, None),
        (0, condvar, Action::Condvar(CondvarOp::NotifyAll), Effect::Yes, None),
        (0, mutex, lock(MutexOp::Unlock), Effect::None, None),
        // The second notification replaces the first, which no thread has taken.
        (2, condvar, Action::Condvar(consume), Effect::Yes, Some(7)),
        (1, condvar, Action::Condvar(consume), Effect::Yes, Some(7)),
        (2, mutex, lock(MutexOp::TryLock), Effect::Yes, Some(8)),
        (1, mutex, lock(MutexOp::TryLock), Effect::No, None),
        (2, channel, Action::Channel(ChannelOp::Send), Effect::Ticket(0), None),
        (0, channel, Action::Channel(ChannelOp::Send), Effect::Ticket(1), None),
        (0, channel, Action::Channel(receive), Effect::Yes, Some(13)),
        (1, channel, Action::Channel(receive), Effect::Yes, Some(14)),
        (2, parker, Action::Park(ParkOp::Unpark), Effect::Yes, None),
        (1, parker, Action::Park(ParkOp::Park { timed: false }), Effect::None, Some(17)),
        (1, once, Action::Once(OnceOp::Begin), Effect::Yes, None),
        (1, once, Action::Once(OnceOp::Complete), Effect::None, None),
        (0, once, Action::Once(OnceOp::Begin), Effect::No, Some(20)),
        (1, ObjectId(1), Action::Thread(ThreadOp::Exit), Effect::None, None),
        (0, ObjectId(1), Action::Thread(ThreadOp::Join), Effect::None, Some(22)),
    ];
    for (thread, object, action, effect, _) in steps {
        build.step(thread, object, action, effect, site::one());
    }
    let value = parsed(&failed(panic(0, "boom"), build.finish()));
    for (number, step) in steps.iter().enumerate() {
        let event = &value["failure"]["trace"]["events"][number + 2];
        assert_eq!(event["after"].as_u64(), step.4, "{event}");
    }
}

#[test]
fn promises() {
    let guarantee = Guarantee {
        strategy: "pct:2".into(),
        depth: 2,
        threads: 3,
        steps: 118,
        in_one_phase: true,
        history: None,
        runs: 2_500,
        escape: 8.431e-4,
    };
    let report =
        Report { guarantees: vec![guarantee], unseen: Some(0.0412), ..report(Verdict::Sampled) };
    check(
        &report,
        expect![[r#"
            {
              "version": 2,
              "name": "tests::queue",
              "strategy": "random",
              "memory": "SC",
              "seed": 0,
              "verdict": {"kind": "sampled"},
              "executions": 10000,
              "steps": 123456,
              "classes": 3911,
              "classes_exact": true,
              "discarded": 0,
              "unseen_drops": false,
              "leaked": 0,
              "equivalents": 0,
              "probes": 0,
              "unchecked": false,
              "hidden_state": null,
              "blind_spots": {"silent_threads": 0, "weak_orderings": false, "clock_loops": false, "idle_rounds": false},
              "incomplete": null,
              "elapsed_seconds": 0.4,
              "threads": 3,
              "phases": [],
              "search": null,
              "coverage": null,
              "patterns": null,
              "unseen": 0.0412,
              "guarantees": [{"strategy": "pct:2", "depth": 2, "threads": 3, "steps": 118, "in_one_phase": true, "history": null, "runs": 2500, "escape": 0.0008431}],
              "warnings": [],
              "conditions": [],
              "conditions_required": false,
              "rerun": null,
              "failure": null,
              "failures": null
            }
        "#]],
    );
}

#[test]
fn failures_by_cause() {
    check(
        &causes::several(),
        expect![[r#"
            {
              "version": 2,
              "name": "tests::queue",
              "strategy": "portfolio:pos-star+pct:2",
              "memory": "SC",
              "seed": 0,
              "verdict": {"kind": "failed"},
              "executions": 10000,
              "steps": 123456,
              "classes": 3911,
              "classes_exact": true,
              "discarded": 0,
              "unseen_drops": false,
              "leaked": 0,
              "equivalents": 0,
              "probes": 0,
              "unchecked": false,
              "hidden_state": null,
              "blind_spots": {"silent_threads": 0, "weak_orderings": false, "clock_loops": false, "idle_rounds": false},
              "incomplete": null,
              "elapsed_seconds": 0.4,
              "threads": 3,
              "phases": [
                {"strategy": "pos-star", "executions": 5000, "failing": 11, "end": {"kind": "out-of-budget"}},
                {"strategy": "pct:2", "executions": 5000, "failing": 301, "end": {"kind": "failed"}}
              ],
              "search": null,
              "coverage": null,
              "patterns": null,
              "unseen": null,
              "guarantees": [],
              "warnings": [],
              "conditions": [],
              "conditions_required": false,
              "rerun": null,
              "failure": {
                "summary": "lost 1 of 2",
                "finding": {"kind": "panic", "thread": 1, "message": "lost 1 of 2", "place": "src/lib.rs:20:9", "backtrace": null},
                "execution": 1204,
                "reproduced": true,
                "beyond_bound": false,
                "token": "r1-TOKEN",
                "explanation": null,
                "unexplained": null,
                "trace": {
                  "ending": "finished",
                  "fingerprint": "0000000000000000",
                  "threads": [{"id": 0, "parent": null, "position": 0, "name": null, "spawned": null, "ended": null}, {"id": 1, "parent": 0, "position": 0, "name": null, "spawned": 1, "ended": null}],
                  "objects": [
                    {"id": 0, "name": "main", "named": false, "kind": "thread", "thread": 0, "type": null, "initial": null, "first": {"thread": 0, "index": 0}, "site": {"file": "crates/report/tests/goldens/site.rs", "line": 9, "column": 5}, "type_name": null, "made": null},
                    {"id": 1, "name": "thread 1", "named": false, "kind": "thread", "thread": 1, "type": null, "initial": null, "first": {"thread": 0, "index": 0}, "site": {"file": "crates/report/tests/goldens/site.rs", "line": 9, "column": 5}, "type_name": null, "made": null}
                  ],
                  "steps": 1,
                  "omitted": 0,
                  "events": [
                    {"step": 1, "thread": 0, "index": 0, "object": 1, "operation": {"kind": "thread.spawn"}, "effect": {"kind": "value", "value": "1"}, "text": "spawn thread 1", "link": null, "missed": null, "after": null, "site": {"file": "crates/report/tests/goldens/site.rs", "line": 5, "column": 5}}
                  ],
                  "pending": [],
                  "notes": [],
                  "stacks": [],
                  "stale_reads": [],
                  "more_stale_reads": 0
                }
              },
              "failures": {
                "failing": 312,
                "runs": 10000,
                "interval": [0.02798, 0.03478],
                "causes": [
                  {"runs": 240, "summary": "lost 1 of 2", "finding": {"kind": "panic", "thread": 1, "message": "lost 1 of 2", "place": "src/lib.rs:20:9", "backtrace": null}, "execution": 17, "reproduced": true, "token": "r1-FIRST"},
                  {"runs": 60, "summary": "a \"queue\" is empty", "finding": {"kind": "panic", "thread": 0, "message": "a \"queue\" is empty", "place": "src/lib.rs:20:9", "backtrace": null}, "execution": 18, "reproduced": true, "token": "r1-SECOND"},
                  {
                    "runs": 1,
                    "summary": "an execution did not end within 1,000 steps",
                    "finding": {
                      "kind": "step-limit",
                      "steps": 1000,
                      "recent_steps": 1,
                      "repeated": [
                        {"times": 1, "thread": 0, "text": "spawn thread 1", "site": {"file": "crates/report/tests/goldens/site.rs", "line": 5, "column": 5}}
                      ],
                      "other_operations": 0
                    },
                    "execution": 9000,
                    "reproduced": false,
                    "token": "r1-THIRD"
                  }
                ],
                "others": 11
              }
            }
        "#]],
    );
}
