//! Values that are moved before they are dropped.

use std::mem::ManuallyDrop;
use std::ops::Deref;

/// Moves what it holds before it drops it, so that nobody is told where it is.
///
/// For all that the compiler knows, whoever is told where something is may keep that and change it in every call
/// from then on, and from the round of a loop before. It would be loaded again after each operation.
pub(crate) struct Moved<T>(ManuallyDrop<T>);

impl<T> Moved<T> {
    #[inline(always)]
    pub(crate) fn new(value: T) -> Moved<T> {
        Moved(ManuallyDrop::new(value))
    }
}

impl<T> Deref for Moved<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for Moved<T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: it is dropped, so that nobody will look at it again.
        drop(unsafe { ManuallyDrop::take(&mut self.0) });
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::Moved;

    #[test]
    fn drops_once_what_it_holds() {
        let value = Rc::new(7);
        let moved = Moved::new(value.clone());
        assert_eq!((**moved, Rc::strong_count(&value)), (7, 2));
        drop(moved);
        assert_eq!(Rc::strong_count(&value), 1);
    }
}
