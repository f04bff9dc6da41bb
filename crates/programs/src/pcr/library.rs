//! The parts of Java that the classes use: monitors, nullable fields, and lists with fail-fast iterators. Fields are plain
//! memory, and only monitors synchronise.

use raddle::cell::Shared;
use raddle::sync::{Mutex, MutexGuard};

use super::Form;

/// The message of the use of null.
pub(super) const NULL_POINTER: &str = "NullPointerException";
/// The message of an iterator whose list has changed.
pub(super) const MODIFIED: &str = "ConcurrentModificationException";
/// The message of an index that is too large.
pub(super) const OUT_OF_BOUNDS: &str = "IndexOutOfBoundsException";

/// The lock of an object or a class. It is not reentrant: only public methods acquire it.
pub(super) struct Monitor {
    lock: Mutex<()>,
    form: Form,
}

impl Monitor {
    pub(super) fn new(form: Form) -> Monitor {
        Monitor { lock: Mutex::new(()), form }
    }

    /// Acquires the lock, for methods that are `synchronized` in Java.
    #[track_caller]
    pub(super) fn enter(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().expect("no thread panicked while it held the lock")
    }

    /// Acquires the lock in the fixed form, for methods that should be `synchronized` in Java.
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
/// Half of the bugs have this form: a method tests whether the field [is null](Reference::is_null) and
/// [uses](Reference::used) it later, with a second read.
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

    /// Returns the referenced value. Panics if the field is null.
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

/// Fields that methods read and no test writes. In the originals most fields are of this kind. Because of them the steps of
/// the bug are a small part of an execution.
pub(super) struct Consulted<const N: usize>([Shared<u32>; N]);

impl<const N: usize> Consulted<N> {
    pub(super) fn new() -> Consulted<N> {
        Consulted(std::array::from_fn(|_| Shared::new(1)))
    }

    /// Reads all fields.
    #[track_caller]
    pub(super) fn consult(&self) -> u32 {
        // With `map`, the closure would be reported as the site of the accesses.
        let mut sum = 0;
        for field in &self.0 {
            sum += field.get();
        }
        sum
    }
}

/// A list of at most `N` elements, without synchronisation. Adding to a full list does nothing.
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

    /// Appends an element. The count is incremented before the element is written.
    #[track_caller]
    pub(super) fn add(&self, element: T) {
        let count = self.count.get();
        if count < N {
            self.modify();
            self.count.set(count + 1);
            self.elements[count].set(Some(element));
        }
    }

    /// Removes an element if the list contains it. The last element takes its place.
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

    /// Calls `visit` with every element. Panics as soon as it detects that the list has changed.
    #[track_caller]
    pub(super) fn iterate(&self, mut visit: impl FnMut(T)) {
        let expected = self.modifications.get();
        let mut index = 0;
        while index != self.count.get() {
            let unchanged = self.modifications.get() == expected;
            // A concurrent change can also make the index larger than the count.
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
