//! Builders of traces and reports.

use std::time::Duration;

use expect_test::Expect;
use raddle_core::{
    Action, Effect, Event, EventId, MemoryModel, ObjectId, ObjectInfo, ObjectKind, Op, Panic,
    Pending, Site, ThreadId, ThreadInfo, ThreadOp, Trace,
};
use raddle_results::{BlindSpots, Failure, Finding, Report, Verdict};

use raddle_report::Paint;

use crate::{json, site};

pub(crate) const MAIN: ThreadId = ThreadId::MAIN;

/// A builder of a trace.
#[derive(Default)]
pub(crate) struct Build {
    trace: Trace,
}

impl Build {
    /// Returns a run in which main has spawned this number of threads. The threads are the first objects.
    pub(crate) fn with_threads(spawned: u32) -> Build {
        let mut build = Build::default();
        for number in 0..=spawned {
            let id = ThreadId(number);
            let position = number.saturating_sub(1);
            build.trace.threads.push(ThreadInfo { id, parent: MAIN, position });
            build.object(ObjectKind::Thread(id));
        }
        for number in 1..=spawned {
            let spawn = Action::Thread(ThreadOp::Spawn);
            build.step(0, ObjectId(number), spawn, Effect::Value(u64::from(number)), site::one());
        }
        build
    }

    pub(crate) fn object(&mut self, kind: ObjectKind) -> ObjectId {
        let name = EventId { thread: MAIN, index: 0 };
        self.trace.objects.push(ObjectInfo {
            kind,
            initial: 0,
            identity: 0,
            name,
            site: site::two(),
        });
        ObjectId(self.trace.objects.len() as u32 - 1)
    }

    pub(crate) fn step(
        &mut self,
        thread: u32,
        object: ObjectId,
        action: Action,
        effect: Effect,
        site: Site,
    ) {
        let thread = ThreadId(thread);
        let index = self.trace.events.iter().filter(|e| e.id.thread == thread).count() as u32;
        let id = EventId { thread, index };
        self.trace.events.push(Event { id, op: Op::new(object, action), effect, site });
    }

    pub(crate) fn ends(&mut self, thread: u32) {
        let exit = Action::Thread(ThreadOp::Exit);
        self.step(thread, ObjectId(thread), exit, Effect::None, Site::UNKNOWN);
    }

    pub(crate) fn waits(&mut self, thread: u32, object: ObjectId, action: Action, site: Site) {
        let op = Op::new(object, action);
        self.trace.pending.push(Pending { thread: ThreadId(thread), op, site, enabled: false });
    }

    pub(crate) fn finish(self) -> Trace {
        self.trace
    }
}

/// Checks the text of `report`.
pub(crate) fn check(report: &Report, expected: Expect) {
    let text = raddle_report::text(report);
    expected.assert_eq(&text);
    let document = raddle_report::document(report);
    let coloured = raddle_report::text_with(&document, Paint::Colours, &|_, _| None);
    assert_eq!(without_colours(&coloured), text);
    json::parsed(report);
}

/// Returns a text without colour codes and without trailing blanks.
fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    let mut parts = text.split("\x1b[");
    plain += parts.next().unwrap_or_default();
    for part in parts {
        let (code, rest) = part.split_once('m').expect("a code that ends");
        assert!(code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'), "{code}");
        plain += rest;
    }
    plain.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

pub(crate) fn panic(thread: u32, message: &str) -> Finding {
    Finding::Panic(Panic {
        thread: ThreadId(thread),
        message: message.into(),
        place: Some("src/lib.rs:20:9".into()),
        backtrace: None,
    })
}

pub(crate) fn failed(finding: Finding, trace: Trace) -> Report {
    let failure = Failure {
        finding,
        execution: 1204,
        trace,
        token: "r1-TOKEN".into(),
        reproduced: true,
        beyond_bound: false,
        explanation: None,
        unexplained: None,
    };
    report(Verdict::Failed(Box::new(failure)))
}

pub(crate) fn report(verdict: Verdict) -> Report {
    Report {
        name: "tests::queue".into(),
        strategy: "random".into(),
        memory: MemoryModel::Sc,
        seed: 0,
        verdict,
        executions: 10_000,
        steps: 123_456,
        classes: 3_911,
        classes_exact: true,
        discarded: 0,
        unseen_drops: false,
        leaked: 0,
        equivalents: 0,
        probes: 0,
        unchecked: false,
        hidden_state: None,
        blind_spots: BlindSpots::default(),
        incomplete: Default::default(),
        elapsed: Duration::from_millis(400),
        phases: Vec::new(),
        search: None,
        coverage: None,
        patterns: None,
        guarantees: Vec::new(),
        unseen: None,
        failures: None,
        conditions: Vec::new(),
        conditions_required: false,
        rerun: None,
        warnings: Vec::new(),
        threads: 3,
    }
}
