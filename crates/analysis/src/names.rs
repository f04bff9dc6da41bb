//! Names of the objects of a run: kind and number, such as `mutex 1`, unless the program named them.
//!
//! Each kind is numbered separately, in the order of first announcement, so that numbers stay small and do
//! not depend on objects of other kinds.

use raddle_core::{ObjectId, ObjectInfo, ObjectKind, Op, Scalar, ThreadId, Trace};

/// The names of all threads and objects of a run.
#[derive(Clone, Debug)]
pub struct Names<'a> {
    threads: &'a [(ThreadId, String)],
    objects: &'a [ObjectInfo],
    /// The objects that the program named.
    given: Vec<ObjectId>,
    names: Vec<String>,
}

impl<'a> Names<'a> {
    /// Returns the names of the threads and objects of `trace`.
    pub fn new(trace: &'a Trace) -> Names<'a> {
        let (threads, objects) = (&trace.thread_names[..], &trace.objects[..]);
        let mut counters: Vec<(&str, u32)> = Vec::new();
        // Of several objects with the same name, those after the first have numbers too.
        let mut counts: Vec<(&str, u32)> = Vec::new();
        let names = objects
            .iter()
            .enumerate()
            .map(|(id, object)| {
                if let Some(name) = trace.object_names.iter().find(|name| name.0.index() == id) {
                    return match next(&mut counts, &name.1) {
                        1 => printable(&name.1),
                        number => format!("{} {number}", printable(&name.1)),
                    };
                }
                let word = match object.kind {
                    ObjectKind::Cell if is_unknown(trace, id) => "object",
                    ObjectKind::Thread(thread) => return thread_name(threads, thread),
                    ObjectKind::Parker(thread) => {
                        return format!("parking of {}", thread_name(threads, thread));
                    }
                    kind => word(kind),
                };
                format!("{word} {}", next(&mut counters, word))
            })
            .collect();
        let given = trace.object_names.iter().map(|name| name.0).collect();
        Names { threads, objects, given, names }
    }

    /// Returns the name of a thread: `thread 1`, or `thread 1 (worker)`.
    pub fn thread(&self, thread: ThreadId) -> String {
        thread_name(self.threads, thread)
    }

    /// Returns the name of an object.
    pub fn name(&self, object: ObjectId) -> &str {
        self.names.get(object.index()).map_or("nothing", String::as_str)
    }

    /// Returns whether the program named the object.
    pub fn is_given(&self, object: ObjectId) -> bool {
        self.given.contains(&object)
    }

    /// Returns the kind of an object, or `None` if there is no such object.
    pub fn kind(&self, object: ObjectId) -> Option<ObjectKind> {
        self.objects.get(object.index()).map(|object| object.kind)
    }

    /// Returns the type of the variable of an atomic operation.
    pub fn scalar(&self, op: Op) -> Scalar {
        match self.kind(op.object()) {
            Some(ObjectKind::Atomic(scalar)) => scalar,
            Some(
                ObjectKind::Thread(_)
                | ObjectKind::Cell
                | ObjectKind::Mutex
                | ObjectKind::RwLock
                | ObjectKind::Condvar
                | ObjectKind::Barrier
                | ObjectKind::Once
                | ObjectKind::Parker(_)
                | ObjectKind::Channel
                | ObjectKind::Semaphore
                | ObjectKind::Notify,
            )
            | None => Scalar::U64,
        }
    }
}

/// Returns whether the kind of an object is not known: it was freed twice, or used after it was freed, and never before.
fn is_unknown(trace: &Trace, id: usize) -> bool {
    let is_late = trace.late_use.is_some_and(|late| late.access.object.index() == id);
    let is_it = |object: ObjectId| object.index() == id;
    is_late
        && !trace.plain.iter().any(|access| is_it(access.object))
        && !trace.events.iter().any(|event| is_it(event.op.object()))
}

/// The word for a kind of object.
fn word(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Thread(_) => "thread",
        ObjectKind::Parker(_) => "parking",
        ObjectKind::Atomic(Scalar::Departures) => "senders",
        ObjectKind::Atomic(_) => "atomic",
        ObjectKind::Cell => "cell",
        ObjectKind::Mutex => "mutex",
        ObjectKind::RwLock => "rwlock",
        ObjectKind::Condvar => "condvar",
        ObjectKind::Barrier => "barrier",
        ObjectKind::Once => "once",
        ObjectKind::Channel => "channel",
        ObjectKind::Semaphore => "semaphore",
        ObjectKind::Notify => "notify",
    }
}

fn thread_name(threads: &[(ThreadId, String)], thread: ThreadId) -> String {
    match threads.iter().find(|named| named.0 == thread) {
        Some((_, name)) => format!("{thread} ({})", printable(name)),
        None => thread.to_string(),
    }
}

fn next<'a>(counters: &mut Vec<(&'a str, u32)>, word: &'a str) -> u32 {
    match counters.iter_mut().find(|counter| counter.0 == word) {
        Some(counter) => {
            counter.1 += 1;
            counter.1
        }
        None => {
            counters.push((word, 1));
            1
        }
    }
}

/// Returns the name of a type of atomic variables.
pub fn type_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "bool",
        Scalar::U8 => "u8",
        Scalar::U16 => "u16",
        Scalar::U32 => "u32",
        Scalar::U64 => "u64",
        Scalar::I8 => "i8",
        Scalar::I16 => "i16",
        Scalar::I32 => "i32",
        Scalar::I64 => "i64",
        Scalar::Pointer => "pointer",
        Scalar::Usize => "usize",
        Scalar::Isize => "isize",
        Scalar::Departures => "dropped senders",
    }
}

/// Replaces control characters with spaces.
pub fn printable(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
