//! Iterators over the messages of a channel.

use raddle_core::Site;

use super::Receiver;

/// An iterator that waits for messages, as [`std::sync::mpsc::Iter`].
///
/// ```
/// let (sender, receiver) = raddle::sync::mpsc::channel();
/// (0..3).for_each(|n| sender.send(n).unwrap());
/// drop(sender);
/// for (n, message) in (&receiver).into_iter().enumerate() {
///     assert_eq!(n as i32, message);
/// }
/// ```
#[derive(Debug)]
pub struct Iter<'a, T: 'a> {
    receiver: &'a Receiver<T>,
    /// The place where the iterator was created. The caller of `next` is often the standard library.
    site: Site,
}

/// An iterator over messages that does not wait, as [`std::sync::mpsc::TryIter`].
///
/// ```
/// let (sender, receiver) = raddle::sync::mpsc::channel();
/// (0..3).for_each(|n| sender.send(n).unwrap());
/// assert_eq!(receiver.try_iter().collect::<Vec<i32>>(), [0, 1, 2]);
/// ```
#[derive(Debug)]
pub struct TryIter<'a, T: 'a> {
    receiver: &'a Receiver<T>,
    /// The place where the iterator was created. The caller of `next` is often the standard library.
    site: Site,
}

/// An iterator that waits for messages and owns the receiver, as [`std::sync::mpsc::IntoIter`].
///
/// ```
/// let (sender, receiver) = raddle::sync::mpsc::channel();
/// (0..3).for_each(|n| sender.send(n).unwrap());
/// drop(sender);
/// assert_eq!(receiver.into_iter().collect::<Vec<i32>>(), [0, 1, 2]);
/// ```
#[derive(Debug)]
pub struct IntoIter<T> {
    receiver: Receiver<T>,
    /// The place where the iterator was created. The caller of `next` is often the standard library.
    site: Site,
}

impl<'a, T> Iter<'a, T> {
    pub(super) fn new(receiver: &'a Receiver<T>, site: Site) -> Iter<'a, T> {
        Iter { receiver, site }
    }
}

impl<'a, T> TryIter<'a, T> {
    pub(super) fn new(receiver: &'a Receiver<T>, site: Site) -> TryIter<'a, T> {
        TryIter { receiver, site }
    }
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.receive(self.site).ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.try_receive(self.site).ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.receive(self.site).ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    #[track_caller]
    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    #[track_caller]
    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self, site: Site::caller() }
    }
}
