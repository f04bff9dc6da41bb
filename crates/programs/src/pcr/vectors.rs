//! V10 and V11, vectors: one reads its count before it acquires the lock, and one copies another vector by reading its count
//! and then its elements.

use super::library::{Consulted, List, Monitor, NULL_POINTER, OUT_OF_BOUNDS};
use super::{Form, Mistake, Operation, Test, ThreadSafe, operations};

pub(super) struct OldVector {
    monitor: Monitor,
    elements: List<u32, 4>,
}

/// The element that is searched for.
const ELEMENT: u32 = 1;

impl ThreadSafe for OldVector {
    const NAME: &'static str = "v10-vector";
    const ABOUT: &'static str =
        "vector emptied between the count and the search for the last index";
    const CLASS: &'static str = "Vector (1.1.7)";
    const MISTAKE: Mistake = Mistake::Atomicity;
    const SYMPTOM: &'static str = OUT_OF_BOUNDS;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![add_element, remove_element, remove_all_elements, last_index_of, index_of];
    const FAILING: Test = Test::of(
        &["add_element"],
        [&["last_index_of"], &["index_of", "index_of", "index_of", "remove_all_elements"]],
    );

    fn new(form: Form) -> Self {
        OldVector { monitor: Monitor::new(form), elements: List::new() }
    }
}

impl OldVector {
    fn add_element(&self) {
        let _guard = self.monitor.enter();
        self.elements.add(ELEMENT);
    }

    fn remove_element(&self) {
        let _guard = self.monitor.enter();
        self.elements.remove(ELEMENT);
    }

    fn remove_all_elements(&self) {
        let _guard = self.monitor.enter();
        self.elements.clear();
    }

    fn last_index_of(&self) -> Option<usize> {
        let fixed = self.monitor.enter_if_fixed();
        let count = self.elements.len();
        let _guard = fixed.unwrap_or_else(|| self.monitor.enter());
        (0..count).rev().find(|&index| self.elements.get(index) == ELEMENT)
    }

    fn index_of(&self) -> Option<usize> {
        let _guard = self.monitor.enter();
        (0..self.elements.len()).find(|&index| self.elements.get(index) == ELEMENT)
    }
}

pub(super) struct Vector {
    monitor: Monitor,
    elements: List<u32, 4>,
    /// Fields for growing.
    growth: Consulted<4>,
}

impl ThreadSafe for Vector {
    const NAME: &'static str = "v11-vector";
    const ABOUT: &'static str =
        "vector emptied while it is copied: first the count, then the elements";
    const CLASS: &'static str = "Vector (1.4.2)";
    const MISTAKE: Mistake = Mistake::Atomicity;
    const SYMPTOM: &'static str = NULL_POINTER;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![copy, add, remove, remove_all_elements, get_growth, size];
    const FAILING: Test =
        Test::of(&["add"], [&["copy"], &["get_growth", "get_growth", "remove_all_elements"]]);

    fn new(form: Form) -> Self {
        Vector { monitor: Monitor::new(form), elements: List::new(), growth: Consulted::new() }
    }
}

impl Vector {
    /// Copies the elements to another vector, which uses each of them.
    fn copy(&self) -> Vec<u32> {
        let fixed = self.monitor.enter_if_fixed();
        let count = match fixed {
            Some(_) => self.elements.len(),
            None => self.size(),
        };
        let _guard = fixed.unwrap_or_else(|| self.monitor.enter());
        let mut array = vec![None; count];
        for (index, place) in array.iter_mut().enumerate().take(self.elements.len()) {
            *place = Some(self.elements.get(index));
        }
        array.into_iter().map(|element| element.expect(NULL_POINTER)).collect()
    }

    fn add(&self) {
        let _guard = self.monitor.enter();
        self.elements.add(ELEMENT);
    }

    fn remove(&self) {
        let _guard = self.monitor.enter();
        self.elements.remove(ELEMENT);
    }

    fn remove_all_elements(&self) {
        let _guard = self.monitor.enter();
        self.elements.clear();
    }

    fn get_growth(&self) -> u32 {
        let _guard = self.monitor.enter_if_fixed();
        self.growth.consult()
    }

    fn size(&self) -> usize {
        let _guard = self.monitor.enter();
        self.elements.len()
    }
}
