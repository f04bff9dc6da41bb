//! What the objects of a run are called: kind and number, such as `mutex 1`; and its threads: as the
//! program calls them, if it does.
//!
//! Each kind counts for itself, in the order of first announcement, so that the numbers stay small
//! and do not depend on objects of other kinds.

use raddle_core::{ObjectId, ObjectInfo, ObjectKind, Op, Scalar, ThreadId, Trace};

/// The names of all objects of a run.
pub(crate) struct Names<'a> {
    threads: &'a [(ThreadId, String)],
    objects: &'a [ObjectInfo],
    /// Those that the program named.
    called: Vec<ObjectId>,
    names: Vec<String>,
}

impl<'a> Names<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Names<'a> {
        let (threads, objects) = (&trace.thread_names[..], &trace.objects[..]);
        let mut counters: Vec<(&str, u32)> = Vec::new();
        // Of objects with one name, those after the first have numbers too.
        let mut given: Vec<(&str, u32)> = Vec::new();
        let names = objects
            .iter()
            .enumerate()
            .map(|(id, object)| {
                if let Some(name) = trace.object_names.iter().find(|name| name.0.index() == id) {
                    return match next(&mut given, &name.1) {
                        1 => one_line(&name.1),
                        number => format!("{} {number}", one_line(&name.1)),
                    };
                }
                let word = match object.kind {
                    ObjectKind::Thread(thread) => return called(threads, thread),
                    ObjectKind::Parker(thread) => {
                        return format!("parking of {}", called(threads, thread));
                    }
                    kind => word(kind),
                };
                format!("{word} {}", next(&mut counters, word))
            })
            .collect();
        let called = trace.object_names.iter().map(|name| name.0).collect();
        Names { threads, objects, called, names }
    }

    /// `thread 1`, or `thread 1 (worker)`.
    pub(crate) fn thread(&self, thread: ThreadId) -> String {
        called(self.threads, thread)
    }

    pub(crate) fn name(&self, object: ObjectId) -> &str {
        self.names.get(object.index()).map_or("nothing", String::as_str)
    }

    pub(crate) fn kind(&self, object: ObjectId) -> Option<ObjectKind> {
        self.objects.get(object.index()).map(|object| object.kind)
    }

    /// The type behind an atomic variable's values.
    pub(crate) fn scalar(&self, op: Op) -> Scalar {
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
                | ObjectKind::Channel,
            )
            | None => Scalar::U64,
        }
    }

    /// One line for each of `used` that a reader cannot recognise by its name: what it is and where
    /// the program first used it.
    pub(crate) fn legend(&self, used: &[ObjectId]) -> Vec<String> {
        let listed: Vec<ObjectId> = (0..self.objects.len() as u32)
            .map(ObjectId)
            .filter(|id| used.contains(id) && self.needs_explaining(*id))
            .collect();
        let width = listed.iter().map(|id| self.name(*id).len()).max().unwrap_or(0);
        listed
            .iter()
            .map(|&id| {
                let object = &self.objects[id.index()];
                let what = match object.kind {
                    ObjectKind::Atomic(scalar) => format!("{}, ", type_name(scalar)),
                    kind if self.called.contains(&id) => format!("{}, ", word(kind)),
                    ObjectKind::Thread(_)
                    | ObjectKind::Cell
                    | ObjectKind::Mutex
                    | ObjectKind::RwLock
                    | ObjectKind::Condvar
                    | ObjectKind::Barrier
                    | ObjectKind::Once
                    | ObjectKind::Parker(_)
                    | ObjectKind::Channel => String::new(),
                };
                format!("{:width$}  {what}first used at {}", self.name(id), object.site)
            })
            .collect()
    }

    fn needs_explaining(&self, object: ObjectId) -> bool {
        match self.objects[object.index()].kind {
            ObjectKind::Thread(_) | ObjectKind::Parker(_) => false,
            ObjectKind::Atomic(_)
            | ObjectKind::Cell
            | ObjectKind::Mutex
            | ObjectKind::RwLock
            | ObjectKind::Condvar
            | ObjectKind::Barrier
            | ObjectKind::Once
            | ObjectKind::Channel => true,
        }
    }
}

/// The word for a kind of object.
fn word(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Thread(_) => "thread",
        ObjectKind::Parker(_) => "parking",
        ObjectKind::Atomic(_) => "atomic",
        ObjectKind::Cell => "cell",
        ObjectKind::Mutex => "mutex",
        ObjectKind::RwLock => "rwlock",
        ObjectKind::Condvar => "condvar",
        ObjectKind::Barrier => "barrier",
        ObjectKind::Once => "once",
        ObjectKind::Channel => "channel",
    }
}

fn called(threads: &[(ThreadId, String)], thread: ThreadId) -> String {
    match threads.iter().find(|named| named.0 == thread) {
        Some((_, name)) => format!("{thread} ({})", one_line(name)),
        None => thread.to_string(),
    }
}

/// A name as a part of a line, however it was given.
fn one_line(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
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

pub(crate) fn type_name(scalar: Scalar) -> &'static str {
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
    }
}
