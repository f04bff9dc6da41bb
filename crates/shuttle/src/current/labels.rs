//! Values that the program gives to tasks.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;

/// The labels of a task: at most one value of each type.
///
/// ```
/// let mut labels = shuttle::current::Labels::new();
/// assert_eq!(labels.insert(5u8), None);
/// assert_eq!(labels.insert(7u8), Some(5));
/// assert_eq!(labels.get::<u8>(), Some(&7));
/// ```
#[derive(Clone, Default)]
pub struct Labels(HashMap<TypeId, Box<dyn Label>>);

/// A value of a type that can be cloned.
trait Label: Any {
    fn copy(&self) -> Box<dyn Label>;
}

impl<T: Clone + 'static> Label for T {
    fn copy(&self) -> Box<dyn Label> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Label> {
    fn clone(&self) -> Box<dyn Label> {
        (**self).copy()
    }
}

fn unbox<T: 'static>(label: Box<dyn Label>) -> Option<T> {
    let label: Box<dyn Any> = label;
    label.downcast().ok().map(|label| *label)
}

impl Labels {
    /// Returns no labels.
    pub fn new() -> Labels {
        Labels::default()
    }

    /// Adds a label. Returns the label of this type that there was.
    pub fn insert<T: Clone + 'static>(&mut self, val: T) -> Option<T> {
        self.0.insert(TypeId::of::<T>(), Box::new(val)).and_then(unbox)
    }

    /// Returns the label of this type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        let label: &dyn Any = &**self.0.get(&TypeId::of::<T>())?;
        label.downcast_ref()
    }

    /// Returns the label of this type.
    pub fn get_mut<T: 'static>(&mut self) -> Option<&mut T> {
        let label: &mut dyn Any = &mut **self.0.get_mut(&TypeId::of::<T>())?;
        label.downcast_mut()
    }

    /// Returns the label of this type, which is added if there is none.
    pub fn get_or_insert<T: Clone + 'static>(&mut self, value: T) -> &mut T {
        self.get_or_insert_with(|| value)
    }

    /// Returns the label of this type, which is made and added if there is none.
    pub fn get_or_insert_with<T: Clone + 'static, F: FnOnce() -> T>(&mut self, f: F) -> &mut T {
        let label = self.0.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(f()));
        let label: &mut dyn Any = &mut **label;
        label.downcast_mut().expect("raddle invariant broken: a label of another type")
    }

    /// Returns the label of this type. The default is added if there is none.
    pub fn get_or_insert_default<T: Default + Clone + 'static>(&mut self) -> &mut T {
        self.get_or_insert_with(T::default)
    }

    /// Removes the label of this type, and returns it.
    pub fn remove<T: 'static>(&mut self) -> Option<T> {
        self.0.remove(&TypeId::of::<T>()).and_then(unbox)
    }

    /// Removes all labels.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of labels.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds labels, in place of those of the same types.
    pub fn extend(&mut self, other: Labels) {
        self.0.extend(other.0);
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Labels").finish_non_exhaustive()
    }
}
