//! The twenty classes of PCR's evaluation (Zhao et al., "Achieving high MAP-coverage through pattern
//! constraint reduction", TSE 2023), V1 to V20: Java classes that are documented as thread-safe and are not.
//!
//! Each is written from its description as a Rust type with plain shared fields and a lock. A test creates an object and
//! calls operations on it (the prefix). Then several threads call more operations (the suffixes). [`Subject::failing`] is
//! the test that can show the published bug, which the subject's [`Program`] runs. A generator of other tests uses
//! [`Subject::operations`] and [`Subject::run`].
//!
//! The paper does not give the sizes of collections, the fields that methods read on their way (see
//! `library::Consulted`), and the operations before the bug. They are chosen here so that random schedules need about as
//! many runs to the first failure as the paper reports for MAPTest. Exceptions are V6 and V14, which fail at once in the
//! paper. So this figure is no new result, but those of other strategies are.
//!
//! No operation fails with one thread, in any state. In the fixed form no operation fails, and no two accesses race.

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
    /// The bug, in the words of the paper.
    pub mistake: Mistake,
    /// The exception that shows the bug: a part of the panic message.
    pub symptom: &'static str,
    /// The names of the operations, in a fixed order.
    pub operations: fn() -> Vec<&'static str>,
    /// The test that can show the bug.
    pub failing: Test,
    /// Runs one execution of a test with a number of threads, to which the suffixes are assigned in turn.
    pub run: fn(Form, &Test, u32),
    /// The results of the paper.
    pub published: &'static Published,
}

/// The kind of bug, as in the paper's Table 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A data race.
    DataRace,
    /// A violation of atomicity.
    Atomicity,
}

/// The names of the operations of a test.
#[derive(Clone, Debug)]
pub struct Test {
    /// The operations of the main thread, before it starts others.
    pub prefix: Calls,
    /// The operations of the other threads.
    pub suffixes: [Calls; 2],
}

/// Names of operations: constants, or made by a generator.
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

/// An operation on an object of a class.
struct Operation<C> {
    name: &'static str,
    call: fn(&C),
}

/// A class that is supposed to be thread-safe.
trait ThreadSafe: Sized + Send + Sync + 'static {
    /// The name of the class on the command line.
    const NAME: &'static str;
    const ABOUT: &'static str;
    const CLASS: &'static str;
    const MISTAKE: Mistake;
    const SYMPTOM: &'static str;
    const OPERATIONS: &'static [Operation<Self>];
    const FAILING: Test;

    /// Returns an object in the initial state of a test.
    fn new(form: Form) -> Self;
}

/// Expands to operations that call methods without parameters, under the names of the methods.
macro_rules! operations {
    ($($method:ident),* $(,)?) => {
        &[$($crate::pcr::Operation {
            name: stringify!($method),
            call: |object| { object.$method(); },
        }),*]
    };
}
use operations;

/// The subjects V1 to V20.
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
            // The data races of the paper are also violations of atomicity: a write comes between two reads.
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

/// Returns the operations with these names.
fn calls<C: ThreadSafe>(names: &[&str]) -> Vec<fn(&C)> {
    let find = |name: &&str| {
        let known = C::OPERATIONS.iter().find(|operation| operation.name == *name);
        known.unwrap_or_else(|| panic!("{} has no operation `{name}`", C::NAME)).call
    };
    names.iter().map(find).collect()
}
