//! Messages on their way, in pieces of memory that are used again and never copied.

use std::alloc::Layout;
use std::marker::PhantomData;
use std::ptr::NonNull;

use raddle_runtime::blocks;

/// A queue of messages.
pub(super) struct Queue<T> {
    /// Where the next message is taken from. If that is where the next one is put, there is none.
    first: Place,
    /// Where the next one is put.
    last: Place,
    _owns: PhantomData<T>,
}

/// A place in a piece of memory. All is null as long as there was no message.
struct Place {
    at: *mut u8,
    /// Where the piece ends. What would be there is at the beginning of the next piece.
    end: *mut u8,
}

/// The beginning of a piece; [`Queue::ROOM`] messages come behind it.
struct Piece {
    /// The piece that was filled next. Written when there is one.
    next: *mut Piece,
}

impl<T> Queue<T> {
    const EMPTY: Place = Place { at: std::ptr::null_mut(), end: std::ptr::null_mut() };

    /// How many messages go into a piece: as many as fit into a block that is kept for later, unless
    /// that are few.
    const ROOM: usize = {
        let fit = blocks::LARGE.saturating_sub(Self::OFFSET) / Self::STRIDE;
        if fit >= 4 { fit } else { 16 }
    };

    /// Where in a piece its messages begin.
    const OFFSET: usize = size_of::<Piece>().next_multiple_of(align_of::<T>());

    /// From one message to the next, which are in places of their own also if they have no size.
    const STRIDE: usize =
        if size_of::<T>() > align_of::<T>() { size_of::<T>() } else { align_of::<T>() };

    const LAYOUT: Layout = {
        let align = if align_of::<T>() > align_of::<Piece>() {
            align_of::<T>()
        } else {
            align_of::<Piece>()
        };
        match Layout::from_size_align(Self::OFFSET + Self::ROOM * Self::STRIDE, align) {
            Ok(layout) => layout,
            Err(_) => panic!("messages of this size do not fit into memory"),
        }
    };

    pub(super) const fn new() -> Queue<T> {
        Queue { first: Self::EMPTY, last: Self::EMPTY, _owns: PhantomData }
    }

    /// Whether the last piece has room for a message.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        self.last.at != self.last.end
    }

    /// Puts a message in.
    #[inline(always)]
    pub(super) fn push(&mut self, message: T) {
        if !self.has_room() {
            self.add_piece();
        }
        let place = self.last.at;
        // SAFETY: it is before the end of the piece, and nothing is there.
        unsafe { place.cast::<T>().write(message) };
        self.last.at = place.wrapping_add(Self::STRIDE);
    }

    /// Takes out the message that has been there for longest.
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.first.at == self.first.end && self.first.at != self.last.at {
            self.next_piece();
        }
        self.pop_at_hand()
    }

    /// The same, if it is in the first piece.
    #[inline(always)]
    pub(super) fn pop_at_hand(&mut self) -> Option<T> {
        if self.first.at == self.last.at || self.first.at == self.first.end {
            return None;
        }
        let place = self.first.at;
        self.first.at = place.wrapping_add(Self::STRIDE);
        // SAFETY: it is a place between the first and the last, where messages were put and not taken, and
        // nobody will look at it again.
        Some(unsafe { place.cast::<T>().read() })
    }

    /// Where the messages of a piece begin.
    fn beginning(piece: *mut Piece) -> Place {
        let piece: *mut u8 = piece.cast();
        Place { at: piece.wrapping_add(Self::OFFSET), end: piece.wrapping_add(Self::LAYOUT.size()) }
    }

    /// The piece a place is in.
    fn piece(place: &Place) -> *mut Piece {
        place.end.wrapping_sub(Self::LAYOUT.size()).cast()
    }

    /// The last piece is full, or there is none.
    #[cold]
    fn add_piece(&mut self) {
        let piece = blocks::allocate(Self::LAYOUT).cast::<Piece>().as_ptr();
        if self.last.end.is_null() {
            self.first = Self::beginning(piece);
        } else {
            let full = Self::piece(&self.last);
            // SAFETY: the piece is there until all of its messages and the next piece are reached, and
            // then it is not the last.
            unsafe { (*full).next = piece };
        }
        self.last = Self::beginning(piece);
    }

    /// The first piece is used up, and there is a message behind it.
    fn next_piece(&mut self) {
        let used = Self::piece(&self.first);
        // SAFETY: there is a message, so that the last piece is another one, and each before it has a next.
        let piece = unsafe { (*used).next };
        self.first = Self::beginning(piece);
        Self::free(used);
    }

    fn free(piece: *mut Piece) {
        let Some(memory) = NonNull::new(piece) else { return };
        // SAFETY: `add_piece` allocated it so, and nobody refers to it any more.
        unsafe { blocks::give_back(memory.cast(), Self::LAYOUT) };
    }
}

impl<T> Drop for Queue<T> {
    fn drop(&mut self) {
        // Each is moved out first: what it does when it is dropped must not be seen to happen in memory
        // that is kept.
        while let Some(message) = self.pop() {
            drop(message);
        }
        if !self.last.end.is_null() {
            Self::free(Self::piece(&self.last));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::rc::Rc;

    use super::Queue;

    /// Does the same with a queue and with one of the standard library.
    fn compare<T: Clone + PartialEq + std::fmt::Debug>(message: impl Fn(usize) -> T) {
        let mut number = 0;
        for most in [1, 3, 20, 100] {
            let (mut queue, mut expected) = (Queue::new(), VecDeque::new());
            let mut random = 7u64;
            for _ in 0..if cfg!(miri) { 20 } else { 1_000 } {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                for _ in 0..random >> 33 & 7 {
                    if random >> 62 < 2 && expected.len() < most {
                        number += 1;
                        queue.push(message(number));
                        expected.push_back(message(number));
                    } else {
                        assert_eq!(queue.pop(), expected.pop_front());
                    }
                }
            }
        }
    }

    #[test]
    fn messages_of_all_sizes_come_in_order() {
        compare(|_| ());
        compare(|_| [0u64; 0]);
        compare(|number| number as u8);
        compare(|number| number as u64);
        compare(|number| [number as u128; 3]);
        compare(|number| [number; 40]);
        compare(|number| number.to_string());
    }

    #[test]
    fn messages_that_are_aligned_widely() {
        #[derive(Clone, PartialEq, Debug)]
        #[repr(align(256))]
        struct Wide(usize);
        let mut queue = Queue::new();
        for number in 0..40 {
            queue.push(Wide(number));
        }
        for number in 0..40 {
            let wide = queue.pop();
            assert_eq!(wide, Some(Wide(number)));
        }
        compare(Wide);
    }

    #[test]
    fn what_is_left_is_dropped_once() {
        let message = Rc::new(());
        let mut queue = Queue::new();
        for _ in 0..50 {
            queue.push(message.clone());
        }
        for _ in 0..20 {
            queue.pop();
        }
        assert_eq!(Rc::strong_count(&message), 31);
        drop(queue);
        assert_eq!(Rc::strong_count(&message), 1);
    }
}
