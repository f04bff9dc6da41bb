//! Executions of a litmus test as graphs: who read from whom, and the order of the stores.

use std::collections::BTreeMap;

/// An instruction by its thread and position, not counting [`Require`](super::Instruction::Require).
pub type Place = (usize, usize);

/// One execution. Everything else about it follows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Graph {
    /// For every reading instruction that was executed: the one it read from, or `None` for the
    /// initial value.
    pub reads: BTreeMap<Place, Option<Place>>,
    /// For every variable, in the order of their letters: its stores in modification order.
    pub orders: Vec<Vec<Place>>,
}

/// What the threads saw in an execution.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Outcome {
    /// What the reading instructions read, thread by thread; `None` for those that were not executed.
    pub read: Vec<Option<u64>>,
    /// What every variable held in the end.
    pub last: BTreeMap<char, u64>,
}

impl Outcome {
    /// Whether this is what `text` describes, such as `1 _ 0 x=2`: what was read in the order of the
    /// program text, `_` for anything, and what variables held in the end.
    ///
    /// # Panics
    /// If the text is about something else.
    pub fn matches(&self, text: &str) -> bool {
        let mut read = self.read.iter();
        text.split_whitespace().all(|word| match word.split_once('=') {
            Some((variable, value)) => {
                let variable = variable.chars().next().expect("a variable");
                self.last[&variable] == value.parse::<u64>().expect("a number")
            }
            None => {
                let read = *read.next().expect("no more reads than the program has");
                word == "_" || read == Some(word.parse::<u64>().expect("a number or _"))
            }
        })
    }
}
