//! Execution graphs of litmus tests: reads-from and modification order.

use std::collections::BTreeMap;

/// An instruction, named by its thread and position. Only operations are counted.
pub type Place = (usize, usize);

/// An execution, which reads-from and modification order determine.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Graph {
    /// By executed reader, the store that it read, or `None` for the initial value.
    pub reads: BTreeMap<Place, Option<Place>>,
    /// By variable, in alphabetical order, its stores in modification order.
    pub orders: Vec<Vec<Place>>,
}

/// The observable values of an execution.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Outcome {
    /// The values that readers read, thread by thread; `None` for readers that were not executed.
    pub read: Vec<Option<u64>>,
    /// The final values of the variables.
    pub last: BTreeMap<char, u64>,
}

impl Outcome {
    /// Returns whether this outcome matches a pattern such as `1 _ 0 x=2`: the values read, in program order, `_` for
    /// any value, and final values of variables.
    ///
    /// # Panics
    /// If the pattern is malformed, or has more values than the program has readers.
    pub fn matches(&self, text: &str) -> bool {
        let mut read = self.read.iter();
        text.split_whitespace().all(|word| match word.split_once('=') {
            Some((variable, value)) => {
                let variable = variable.chars().next().expect("a variable");
                self.last[&variable] == value.parse::<u64>().expect("a number")
            }
            None => {
                let read =
                    *read.next().expect("the pattern has more values than the program has readers");
                word == "_" || read == Some(word.parse::<u64>().expect("a number or _"))
            }
        })
    }
}
