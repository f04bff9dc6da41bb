//! Steps inside of libraries, as calls of the code under test.
//!
//! `Mutex::lock` of `std` is a dozen steps on an atomic variable. What a reader wants to see is the call, at the line that
//! made it. So consecutive steps of one call become one, with the name of the function that the code under test has
//! called. Steps that no code under test has asked for, such as those of a thread that begins, are left out.

use std::collections::HashMap;

use raddle_results::document::{Document, Event, Explanation, Link, Object, Place};

use crate::symbols::{Frame, Symbols};

/// What a step belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// The code under test itself, or an atomic operation that it has asked for.
    Own,
    /// A call of a function of a library.
    Call {
        function: String,
        /// Tells calls of different places apart.
        caller: Vec<u64>,
    },
    /// A library, for itself.
    Hidden,
}

/// Returns what each step of a document belongs to. Its sites are addresses yet.
pub(crate) fn steps(document: &Document, symbols: &Symbols) -> HashMap<u64, Step> {
    let Some(failure) = &document.failure else { return HashMap::new() };
    let mut known: HashMap<&str, Step> = HashMap::new();
    let mut steps = HashMap::new();
    for event in &failure.trace.events {
        let Place::Address(address) = &event.site else { continue };
        let step = known.entry(address).or_insert_with(|| {
            let stack = u64::from_str_radix(address.trim_start_matches("0x"), 16).unwrap_or(0);
            step(&symbols.frames(stack), symbols)
        });
        steps.insert(event.step, step.clone());
    }
    steps
}

fn step(frames: &[Frame], symbols: &Symbols) -> Step {
    let Some(caller) = symbols.outside(frames) else { return Step::Hidden };
    // The function that was called, and not what `Deref` and its kind add to it.
    let Some(called) = caller.checked_sub(1).map(|index| &frames[index]) else { return Step::Own };
    let function = short(&called.function);
    if function.starts_with("Atomic") || called.function.contains("sync::atomic::") {
        return Step::Own;
    }
    Step::Call { function, caller: frames[caller..].iter().map(|frame| frame.address).collect() }
}

/// Returns the end of a path: `Mutex::lock` for `<std::sync::poison::mutex::Mutex<i32>>::lock`.
fn short(function: &str) -> String {
    if let Some(dropped) = function.split_once("drop_in_place").and_then(|(_, rest)| {
        rest.trim_start_matches("::").strip_prefix('<').and_then(|rest| rest.strip_suffix('>'))
    }) {
        return format!("drop of {}", short(dropped).rsplit("::").next().unwrap_or_default());
    }
    // `<A as B>::c` is `A::c`, and arguments of types are left out.
    let mut path = String::new();
    let mut depth = 0u32;
    let name = match function.strip_prefix('<') {
        Some(rest) => {
            let mut depth = 1;
            let end = rest.find(|letter| {
                depth += i32::from(letter == '<') - i32::from(letter == '>');
                depth == 0
            });
            let (of, rest) = rest.split_at(end.unwrap_or(rest.len()));
            let of = of.split(" as ").next().unwrap_or(of);
            format!("{of}{}", rest.trim_start_matches('>'))
        }
        None => function.to_owned(),
    };
    for letter in name.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => path.push(letter),
            _ => {}
        }
    }
    let parts: Vec<&str> = path.split("::").filter(|part| !part.is_empty()).collect();
    parts[parts.len().saturating_sub(2)..].join("::")
}

/// Where a step of an execution is shown.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Shown {
    /// The number of the step that stands for it, if it is shown.
    number: Option<u64>,
    text: String,
    site: Place,
}

/// Shows the causes of a failure by the lines of the code under test, as the steps of the execution are shown.
pub(crate) fn show_causes(explanation: &mut Explanation, shown: &HashMap<u64, Shown>) {
    let pairs = explanation.causes.iter_mut().flat_map(|causes| &mut causes.orderings);
    for event in pairs.flat_map(|pair| [&mut pair.before, &mut pair.after]) {
        let Some(shown) = event.step.and_then(|step| shown.get(&step)) else { continue };
        // What comes behind an arrow is the effect, which a cause does not have.
        let text = shown.text.split(" → ").next().unwrap_or_default();
        (event.text, event.site, event.step) = (text.to_owned(), shown.site.clone(), shown.number);
        // How often the library was at its own line says nothing here.
        event.nth = 0;
    }
}

/// Shows a document's failing execution by calls. Returns where each of its steps is shown.
pub(crate) fn fold(document: &mut Document, steps: &HashMap<u64, Step>) -> HashMap<u64, Shown> {
    let mut shown = HashMap::new();
    let Some(failure) = &mut document.failure else { return shown };
    let trace = &mut failure.trace;
    let all = trace.events.iter().map(|event| (event.step, event.text.clone(), event.site.clone()));
    let all: Vec<(u64, String, Place)> = all.collect();
    let mut folded: Vec<Vec<Event>> = Vec::new();
    for event in std::mem::take(&mut trace.events) {
        let is_life = event.operation.kind.starts_with("thread.");
        let step = steps.get(&event.step).unwrap_or(&Step::Own);
        if *step == Step::Hidden && !is_life {
            continue;
        }
        let last = folded.last_mut().filter(|group| {
            let other = group.last().and_then(|other| Some((other, steps.get(&other.step)?)));
            other.is_some_and(|(other, of)| {
                other.thread == event.thread && of == step && matches!(step, Step::Call { .. })
            })
        });
        match last {
            Some(group) => group.push(event),
            None => folded.push(vec![event]),
        }
    }
    let mut numbers: HashMap<u64, u64> = HashMap::new();
    for (index, group) in folded.iter().enumerate() {
        numbers.extend(group.iter().map(|event| (event.step, index as u64 + 1)));
    }
    for (step, text, site) in all {
        shown.insert(step, Shown { number: numbers.get(&step).copied(), text, site });
    }
    trace.events = folded.into_iter().map(|group| one(group, steps, &numbers)).collect();
    trace.steps = trace.events.len() as u64;
    for thread in &mut trace.threads {
        for step in [&mut thread.spawned, &mut thread.ended] {
            *step = step.and_then(|step| numbers.get(&step).copied());
        }
    }
    shown
}

/// Returns the step that stands for a group of them.
fn one(group: Vec<Event>, steps: &HashMap<u64, Step>, numbers: &HashMap<u64, u64>) -> Event {
    let count = group.len();
    let life = group.iter().position(|event| event.operation.kind.starts_with("thread."));
    let Some(mut event) = group.into_iter().nth(life.unwrap_or(count - 1)) else {
        unreachable!("raddle invariant broken: an empty group");
    };
    if let (Some(Step::Call { function, .. }), None) = (steps.get(&event.step), life) {
        let all = if count > 1 { format!(" … {count} steps") } else { String::new() };
        event.text = format!("{function}: {}{all}", event.text);
    }
    let number = |step: u64| numbers.get(&step).copied();
    event.link = event.link.and_then(|link| {
        Some(match link {
            Link::Reads { step } => Link::Reads { step: number(step)? },
            Link::ReadsInitial => Link::ReadsInitial,
            Link::StoresBefore { step } => Link::StoresBefore { step: number(step)? },
            Link::Overwrites { step } => Link::Overwrites { step: number(step)? },
            Link::TakenIn { step } => Link::TakenIn { step: number(step)? },
        })
    });
    event.missed = event.missed.and_then(number);
    event.after = event.after.and_then(number);
    event.step = number(event.step).unwrap_or(event.step);
    event
}

/// Types whose calls tell what a variable is.
const LOCKS: [&str; 12] = [
    "Mutex", "RwLock", "Condvar", "Once", "OnceLock", "OnceCell", "LazyLock", "Barrier", "Arc",
    "Weak", "Sender", "Receiver",
];

/// Returns better names for variables, with the names that they have in a document: by the calls that use them first.
pub(crate) fn names(document: &Document, steps: &HashMap<u64, Step>) -> Vec<(String, String)> {
    let Some(failure) = &document.failure else { return Vec::new() };
    let mut names: HashMap<u32, String> = HashMap::new();
    for event in &failure.trace.events {
        let Some(Step::Call { function, .. }) = steps.get(&event.step) else { continue };
        let of = function.split("::").next().unwrap_or_default();
        if let (Some(object), true) = (event.object, LOCKS.contains(&of)) {
            names.entry(object).or_insert_with(|| of.to_owned());
        }
    }
    let better = |object: &Object| {
        let number = object.name.strip_prefix("atomic ")?;
        Some((object.name.clone(), format!("{} {number}", names.get(&object.id)?)))
    };
    failure.trace.objects.iter().filter_map(better).collect()
}

/// Replaces names in a text. A name followed by a digit is another one.
pub(crate) fn rename(text: &str, names: &[(String, String)]) -> String {
    const BEGIN: &str = "atomic ";
    let names: HashMap<&str, &str> = names.iter().map(|(old, new)| (&old[..], &new[..])).collect();
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(BEGIN) {
        let digits = rest[at + BEGIN.len()..].find(|digit: char| !digit.is_ascii_digit());
        let end = digits.map_or(rest.len(), |digits| at + BEGIN.len() + digits);
        let name = &rest[at..end];
        result += &rest[..at];
        result += names.get(name).copied().unwrap_or(name);
        rest = &rest[end..];
    }
    result + rest
}

/// Replaces the names of Rust's statics that the linker knows by those in the source.
pub(crate) fn demangle(text: &str) -> String {
    // How names begin in the schemes of the compilers.
    let begin = |rest: &str| [rest.find("_R"), rest.find("_Z")].into_iter().flatten().min();
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$');
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = begin(rest) {
        // Such letters inside of a word are no name: a token can have any.
        if rest[..at].ends_with(|letter: char| is_part(letter) || letter == '-') {
            let (before, after) = rest.split_at(at + 1);
            (result, rest) = (result + before, after);
            continue;
        }
        let end = rest[at..].find(|letter: char| !is_part(letter));
        let end = end.map_or(rest.len(), |end| at + end);
        let name = addr2line::demangle_auto(rest[at..end].into(), None);
        result += &rest[..at];
        result += &if name.contains("::") { short(&name) } else { name.into_owned() };
        rest = &rest[end..];
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced_as_a_whole() {
        let names = [("atomic 1".to_owned(), "Mutex 1".to_owned())];
        assert_eq!(
            rename("atomic 1.load, atomic 12, atomic 1", &names),
            "Mutex 1.load, atomic 12, Mutex 1"
        );
        assert_eq!(
            demangle(
                "a _RNvCs15kBYyAo9fc_7mycrate7COUNTER.load _Rx r1-_Z1a r1-ab_Z1a _ZL5mutex.lock"
            ),
            "a mycrate::COUNTER.load _Rx r1-_Z1a r1-ab_Z1a mutex.lock"
        );
        assert_eq!(
            demangle("_ZN7mycrate5tests4NEXT17h109911ff03bab194E.store 1"),
            "tests::NEXT.store 1"
        );
    }

    #[test]
    fn names_of_functions_are_short() {
        for (function, expected) in [
            ("<std::sync::poison::mutex::Mutex<i32>>::lock", "Mutex::lock"),
            ("<core::sync::atomic::AtomicUsize>::load", "AtomicUsize::load"),
            ("std::thread::spawn::<main::{closure#0}, ()>", "thread::spawn"),
            ("<alloc::sync::Arc<a::B<C>> as core::clone::Clone>::clone", "Arc::clone"),
            (
                "core::ptr::drop_in_place::<std::sync::poison::mutex::MutexGuard<i32>>",
                "drop of MutexGuard",
            ),
            ("crossbeam_channel::channel::Sender<T>::send", "Sender::send"),
            ("main", "main"),
        ] {
            assert_eq!(short(function), expected);
        }
    }
}
