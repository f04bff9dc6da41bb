//! The twenty classes of PCR's evaluation (Zhao et al., "Achieving high MAP-coverage through pattern
//! constraint reduction", TSE 2023), V1 to V20: Java classes that are said to be thread-safe, and are not.
//!
//! Each is written from its description as a Rust type of plain shared fields and a lock. A test of one makes
//! an object, calls operations on it (the prefix), then lets threads call more of them (the suffixes).
//! [`Subject::failing`] is the test that can show the published bug, and what the subject's [`Program`]
//! runs; [`Subject::operations`] and [`Subject::run`] are what a generator of other tests needs.
//!
//! What the paper does not tell is chosen here: the sizes of collections, which fields methods consult on
//! their way (see `library::Consulted`), what is called before the bug. It is chosen so that random schedules
//! need about as many runs to the first failure as the paper reports for MAPTest, except for V6 and V14,
//! which fail at once there. So that figure says nothing new here; those of other strategies do.
//!
//! No operation fails without a second thread, whatever was called before. In the fixed form none fails at all,
//! and no two accesses race.

use std::borrow::Cow;

use raddle::sync::Arc;
use raddle::{Granularity, thread};

use super::{Class, Failure, Form, Origin, Program, Size, Space, join_all};

mod appenders;
mod axes;
mod charts;
mod connector;
mod data_sources;
mod hash_maps;
mod library;
mod logger;
mod published;
mod stream;
mod string_buffer;
#[cfg(test)]
mod tests;
mod vectors;
mod xstream;

pub use published::{PUBLISHED, Published};

/// A class under test, with its type erased.
pub struct Subject {
    /// The failing test as a program.
    pub program: Program,
    /// The name of the Java class.
    pub class: &'static str,
    /// What is wrong with it, in the paper's words.
    pub mistake: Mistake,
    /// The exception that shows the bug: a part of what the panic says.
    pub symptom: &'static str,
    /// What can be called, by name, in an order that never changes.
    pub operations: fn() -> Vec<&'static str>,
    /// The test that can show the bug.
    pub failing: Test,
    /// One execution of a test, with so many threads, which take turns at the suffixes.
    pub run: fn(Form, &Test, u32),
    /// What the paper measured.
    pub published: &'static Published,
}

/// The bug of a class as the paper's Table 3 calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A data race.
    DataRace,
    /// A violation of atomicity.
    Atomicity,
}

/// Operations, by name, of one thread and then of several.
#[derive(Clone, Debug)]
pub struct Test {
    /// Called by the main thread, before there are others.
    pub prefix: Calls,
    /// Called by one thread each.
    pub suffixes: [Calls; 2],
}

/// Names of operations: written down, or made by a generator.
pub type Calls = Cow<'static, [&'static str]>;

impl Test {
    const fn of(
        prefix: &'static [&'static str],
        [first, second]: [&'static [&'static str]; 2],
    ) -> Test {
        Test {
            prefix: Cow::Borrowed(prefix),
            suffixes: [Cow::Borrowed(first), Cow::Borrowed(second)],
        }
    }
}

/// Something to call on an object of a class.
struct Operation<C> {
    name: &'static str,
    call: fn(&C),
}

/// A class that is supposed to be thread-safe.
trait ThreadSafe: Sized + Send + Sync + 'static {
    /// The word for it on the command line.
    const NAME: &'static str;
    const ABOUT: &'static str;
    const CLASS: &'static str;
    const MISTAKE: Mistake;
    const SYMPTOM: &'static str;
    const OPERATIONS: &'static [Operation<Self>];
    const FAILING: Test;

    /// An object, as a test begins with it.
    fn new(form: Form) -> Self;
}

/// Methods without parameters as operations, under their own names.
macro_rules! operations {
    ($($method:ident),* $(,)?) => {
        &[$($crate::pcr::Operation {
            name: stringify!($method),
            call: |object| { object.$method(); },
        }),*]
    };
}
use operations;

/// V1 to V20.
pub static SUBJECTS: [Subject; 20] = [
    subject::<data_sources::PerUserPoolDataSource>(1),
    subject::<data_sources::SharedPoolDataSource>(2),
    subject::<connector::InputBuffer>(3),
    subject::<connector::Request>(4),
    subject::<stream::BufferedInputStream>(5),
    subject::<hash_maps::ConcurrentHashMap>(6),
    subject::<hash_maps::Hashtable>(7),
    subject::<logger::Logger>(8),
    subject::<string_buffer::StringBuffer>(9),
    subject::<vectors::OldVector>(10),
    subject::<vectors::Vector>(11),
    subject::<axes::NumberAxis>(12),
    subject::<axes::PeriodAxis>(13),
    subject::<charts::TimeSeries>(14),
    subject::<charts::XyPlot>(15),
    subject::<charts::XySeries>(16),
    subject::<appenders::AppenderAttachable>(17),
    subject::<appenders::FileAppender>(18),
    subject::<appenders::NullAppender>(19),
    subject::<xstream::XStream>(20),
];

const fn subject<C: ThreadSafe>(number: usize) -> Subject {
    Subject {
        program: Program {
            name: C::NAME,
            origin: Origin::Pcr,
            about: C::ABOUT,
            failure: Failure::Assertion,
            // What the paper calls data races are reads that another thread's write comes between, too.
            class: Class::Atomicity,
            granularity: Granularity::All,
            space: Space::Acyclic,
            size: Size { counts: "threads with calls", least: 2, usual: 2, most: 8 },
            threads: |threads| threads + 1,
            body: |form, threads| run::<C>(form, &C::FAILING, threads),
        },
        class: C::CLASS,
        mistake: C::MISTAKE,
        symptom: C::SYMPTOM,
        operations: || C::OPERATIONS.iter().map(|operation| operation.name).collect(),
        failing: C::FAILING,
        run: run::<C>,
        published: &PUBLISHED[number - 1],
    }
}

fn run<C: ThreadSafe>(form: Form, test: &Test, threads: u32) {
    let object = Arc::new(C::new(form));
    for call in calls::<C>(&test.prefix) {
        call(&object);
    }
    let suffixes = test.suffixes.iter().cycle().take(threads as usize);
    let threads = suffixes
        .map(|suffix| {
            let (object, calls) = (object.clone(), calls::<C>(suffix));
            thread::spawn(move || calls.into_iter().for_each(|call| call(&object)))
        })
        .collect();
    join_all(threads);
}

/// What the operations of these names do.
fn calls<C: ThreadSafe>(names: &[&str]) -> Vec<fn(&C)> {
    let find = |name: &&str| {
        let known = C::OPERATIONS.iter().find(|operation| operation.name == *name);
        known.unwrap_or_else(|| panic!("{} has no operation `{name}`", C::NAME)).call
    };
    names.iter().map(find).collect()
}
