//! The little of Java that the classes are made of: monitors, fields that can be null, lists whose
//! iterators fail fast. Fields are plain memory; nothing but a monitor keeps threads apart.

use raddle::cell::Shared;
use raddle::sync::{Mutex, MutexGuard};

use super::Form;

/// What a null that is used says.
pub(super) const NULL_POINTER: &str = "NullPointerException";
/// What an iterator says whose list has changed.
pub(super) const MODIFIED: &str = "ConcurrentModificationException";
/// What an index says that is too large.
pub(super) const OUT_OF_BOUNDS: &str = "IndexOutOfBoundsException";

/// The lock of an object or of a class. It is not reentrant: public methods enter it, private ones do not.
pub(super) struct Monitor {
    lock: Mutex<()>,
    form: Form,
}

impl Monitor {
    pub(super) fn new(form: Form) -> Monitor {
        Monitor { lock: Mutex::new(()), form }
    }

    /// What is `synchronized` in Java.
    #[track_caller]
    pub(super) fn enter(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().expect("a panic ends the execution")
    }

    /// What should be `synchronized` in Java, and is in the fixed form only.
    #[track_caller]
    pub(super) fn enter_if_fixed(&self) -> Option<MutexGuard<'_, ()>> {
        match self.form {
            Form::Bugged => None,
            Form::Fixed => Some(self.enter()),
        }
    }
}

/// A field that can be null.
///
/// Half of the bugs are of one shape: a method looks whether the field [is null](Reference::is_null), and
/// [uses](Reference::used) it later, which reads it anew.
pub(super) struct Reference<T>(Shared<Option<T>>);

impl<T: Copy> Reference<T> {
    pub(super) fn null() -> Reference<T> {
        Reference(Shared::new(None))
    }

    pub(super) fn to(value: T) -> Reference<T> {
        Reference(Shared::new(Some(value)))
    }

    #[track_caller]
    pub(super) fn is_null(&self) -> bool {
        self.0.get().is_none()
    }

    /// What it refers to, which has to be something.
    #[track_caller]
    pub(super) fn used(&self) -> T {
        self.0.get().expect(NULL_POINTER)
    }

    #[track_caller]
    pub(super) fn set(&self, value: T) {
        self.0.set(Some(value));
    }

    #[track_caller]
    pub(super) fn set_null(&self) {
        self.0.set(None);
    }
}

/// Fields that methods consult on their way and no test writes. In the originals they are the most; they
/// make the steps between which a bug shows a small part of an execution.
pub(super) struct Consulted<const N: usize>([Shared<u32>; N]);

impl<const N: usize> Consulted<N> {
    pub(super) fn new() -> Consulted<N> {
        Consulted(std::array::from_fn(|_| Shared::new(1)))
    }

    /// Reads all of them.
    #[track_caller]
    pub(super) fn consult(&self) -> u32 {
        // Not by `map`, whose closure would be the caller that accesses are reported at.
        let mut sum = 0;
        for field in &self.0 {
            sum += field.get();
        }
        sum
    }
}

/// A list of at most `N` elements; adding to a full one does nothing. Not synchronised.
pub(super) struct List<T, const N: usize> {
    elements: [Shared<Option<T>>; N],
    count: Shared<usize>,
    modifications: Shared<u32>,
}

impl<T: Copy + PartialEq, const N: usize> List<T, N> {
    pub(super) fn new() -> List<T, N> {
        List {
            elements: std::array::from_fn(|_| Shared::new(None)),
            count: Shared::new(0),
            modifications: Shared::new(0),
        }
    }

    #[track_caller]
    pub(super) fn len(&self) -> usize {
        self.count.get()
    }

    #[track_caller]
    pub(super) fn get(&self, index: usize) -> T {
        assert!(index < self.count.get(), "{OUT_OF_BOUNDS}: {index}");
        self.elements[index].get().expect(NULL_POINTER)
    }

    /// Adds an element behind the others. It is counted before it is there.
    #[track_caller]
    pub(super) fn add(&self, element: T) {
        let count = self.count.get();
        if count < N {
            self.modify();
            self.count.set(count + 1);
            self.elements[count].set(Some(element));
        }
    }

    /// Removes an element, if it is there; the last one takes its place.
    #[track_caller]
    pub(super) fn remove(&self, element: T) {
        let count = self.count.get();
        for index in 0..count {
            if self.elements[index].get() == Some(element) {
                self.modify();
                self.count.set(count - 1);
                if index + 1 < count {
                    self.elements[index].set(self.elements[count - 1].get());
                }
                self.elements[count - 1].set(None);
                return;
            }
        }
    }

    #[track_caller]
    pub(super) fn clear(&self) {
        self.modify();
        let count = self.count.get();
        for element in &self.elements[..count] {
            element.set(None);
        }
        self.count.set(0);
    }

    /// Hands every element that is there to `visit`; fails as soon as it sees that the list has changed.
    #[track_caller]
    pub(super) fn iterate(&self, mut visit: impl FnMut(T)) {
        let expected = self.modifications.get();
        let mut index = 0;
        while index != self.count.get() {
            let unchanged = self.modifications.get() == expected;
            // A change that came in parts can also show by a count that has been passed.
            assert!(unchanged && index < N, "{MODIFIED}");
            if let Some(element) = self.elements[index].get() {
                visit(element);
            }
            index += 1;
        }
    }

    #[track_caller]
    fn modify(&self) {
        self.modifications.set(self.modifications.get() + 1);
    }
}
