//! Which bytes of memory are one variable.
//!
//! An operation touches one object, so bytes that accesses of different sizes share must be one object: a store of eight
//! bytes conflicts with a load of four of them. The layout is learnt during the check and kept for all its runs. Bytes
//! that ever overlapped are one part from then on, and the search that met the overlap begins anew.
//!
//! Addresses in the heap differ from run to run. There a place is an offset into the blocks that one line, or one stack of
//! calls, allocates.

use std::collections::BTreeMap;

use raddle_core::Scalar;

/// A place that is the same in every run: where the block was allocated, or zero, and the offset, or the address.
pub(crate) type Place = (usize, usize);

/// The parts of memory.
#[derive(Default)]
pub(crate) struct Layout {
    /// By their first place. They do not overlap.
    parts: BTreeMap<Place, Part>,
    /// By the first place of parts that form one variable with others: the place of the one that stands for all, and the
    /// number of the part.
    groups: BTreeMap<Place, (Place, u8)>,
}

/// Bytes that are one variable.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) first: Place,
    pub(crate) size: usize,
    /// Its type, if there were atomic accesses.
    pub(crate) scalar: Option<Scalar>,
    /// Whether accesses had different sizes or types.
    pub(crate) is_mixed: bool,
    /// Whether the part forms one variable with others.
    pub(crate) is_grouped: bool,
}

impl Part {
    fn end(&self) -> usize {
        self.first.1 + self.size
    }
}

/// Whether the layout has changed, so that runs before were made with another.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    None,
    /// Something is known of a part that was not.
    Known,
    /// Accesses of different sizes overlap.
    Overlap,
}

impl Layout {
    /// Returns the part that contains an access to `size` bytes. `scalar` is the type of an atomic access.
    pub(crate) fn part(
        &mut self,
        first: Place,
        size: usize,
        scalar: Option<Scalar>,
    ) -> (Part, Change) {
        let end = first.1 + size;
        let mut overlapping = Vec::new();
        for (_, part) in self.parts.range(..(first.0, end)).rev() {
            if part.first.0 != first.0 || part.end() <= first.1 {
                break;
            }
            overlapping.push(*part);
        }
        match overlapping[..] {
            [] => {
                let part = Part { first, size, scalar, is_mixed: false, is_grouped: false };
                self.parts.insert(first, part);
                (part, Change::None)
            }
            [known] if known.first.1 <= first.1 && end <= known.end() => {
                let is_same = (known.first, known.size) == (first, size);
                let mut part = known;
                part.scalar = known.scalar.or(scalar);
                part.is_mixed |= !is_same || scalar.is_some_and(|new| part.scalar != Some(new));
                self.parts.insert(part.first, part);
                let change = match (part == known, part.is_mixed == known.is_mixed) {
                    (true, _) => Change::None,
                    (false, true) => Change::Known,
                    (false, false) => Change::Overlap,
                };
                (part, change)
            }
            _ => {
                let begin = overlapping.iter().map(|part| part.first).min().unwrap_or(first);
                let begin = begin.min(first);
                let last = overlapping.iter().map(Part::end).max().unwrap_or(end).max(end);
                let scalars = overlapping.iter().filter_map(|part| part.scalar);
                let scalar = scalars.chain(scalar).next();
                let is_grouped = overlapping.iter().any(|part| part.is_grouped);
                for part in &overlapping {
                    self.parts.remove(&part.first);
                    self.regroup(part.first, begin);
                }
                let size = last - begin.1;
                let part = Part { first: begin, size, scalar, is_mixed: true, is_grouped };
                self.parts.insert(begin, part);
                (part, Change::Overlap)
            }
        }
    }

    /// Returns the parts that overlap an access to `size` bytes, in order, and what is between them in words.
    pub(crate) fn parts(&self, first: Place, size: usize) -> Vec<(usize, usize)> {
        const WORD: usize = 8;
        let end = first.1 + size;
        let mut known: Vec<Part> = Vec::new();
        for (_, part) in self.parts.range(..(first.0, end)).rev() {
            if part.first.0 != first.0 || part.end() <= first.1 {
                break;
            }
            known.push(*part);
        }
        let (mut pieces, mut at) = (Vec::new(), first.1);
        for part in known.iter().rev() {
            add_words(&mut pieces, at, part.first.1, WORD);
            let from = part.first.1.max(at);
            pieces.push((from, part.end().min(end)));
            at = part.end();
        }
        add_words(&mut pieces, at, end, WORD);
        pieces
    }

    /// Returns whether there were accesses to some of `size` bytes.
    pub(crate) fn knows(&self, first: Place, size: usize) -> bool {
        let last = self.parts.range(..(first.0, first.1 + size)).next_back();
        last.is_some_and(|(_, part)| part.first.0 == first.0 && part.end() > first.1)
    }

    /// Makes two parts one variable. Returns whether they were not.
    pub(crate) fn join(&mut self, one: Place, other: Place) -> bool {
        let (to, from) = (self.group(one).0, self.group(other).0);
        if to == from {
            return false;
        }
        for place in [one, other] {
            if let Some(part) = self.parts.get_mut(&place) {
                part.is_grouped = true;
            }
        }
        self.groups.entry(one).or_insert((to, 0));
        self.groups.entry(other).or_insert((from, 0));
        let known = self.groups.values().filter(|group| group.0 == to).count() as u8;
        let added = self.groups.values_mut().filter(|group| group.0 == from);
        for (number, group) in (known..).zip(added) {
            *group = (to, number);
        }
        true
    }

    /// Returns the place that stands for the group of a part, and the number of the part in it.
    pub(crate) fn group(&self, first: Place) -> (Place, u8) {
        self.groups.get(&first).copied().unwrap_or((first, 0))
    }

    /// A part has become a part of a bigger one.
    fn regroup(&mut self, old: Place, new: Place) {
        if let Some(group) = self.groups.remove(&old) {
            self.groups.entry(new).or_insert(group);
        }
    }
}

/// Adds pieces of at most a word, which do not cross the borders of words.
fn add_words(pieces: &mut Vec<(usize, usize)>, mut at: usize, end: usize, word: usize) {
    while at < end {
        let next = ((at / word + 1) * word).min(end);
        pieces.push((at, next));
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(offset: usize) -> Place {
        (0, offset)
    }

    #[test]
    fn accesses_that_overlap_are_one_part() {
        let mut layout = Layout::default();
        let (low, change) = layout.part(place(0), 4, Some(Scalar::U32));
        assert_eq!((low.size, change), (4, Change::None));
        let (high, change) = layout.part(place(4), 4, Some(Scalar::U32));
        assert_eq!((high.first, change), (place(4), Change::None));
        let (whole, change) = layout.part(place(0), 8, Some(Scalar::U64));
        assert_eq!((whole.first, whole.size, whole.is_mixed), (place(0), 8, true));
        assert_eq!(change, Change::Overlap);
        for (offset, size) in [(0, 4), (4, 4), (0, 8), (5, 1)] {
            let (part, change) = layout.part(place(offset), size, Some(Scalar::U32));
            assert_eq!((part, change), (whole, Change::None), "{offset} {size}");
        }
        // Another region has other parts.
        assert!(!layout.part((7, 0), 4, None).0.is_mixed);
    }

    #[test]
    fn what_is_learnt_of_a_part_is_a_change() {
        let mut layout = Layout::default();
        layout.part(place(0), 4, None);
        let (part, change) = layout.part(place(0), 4, Some(Scalar::U32));
        assert_eq!((part.scalar, part.is_mixed, change), (Some(Scalar::U32), false, Change::Known));
        assert_eq!(layout.part(place(0), 4, None).1, Change::None);
        assert_eq!(layout.part(place(2), 4, None).1, Change::Overlap);
        assert_eq!(layout.part(place(0), 6, None).0.size, 6);
    }

    #[test]
    fn ranges_are_split_at_the_borders_of_parts() {
        let mut layout = Layout::default();
        layout.part(place(4), 4, None);
        layout.part(place(12), 8, None);
        let pieces = layout.parts(place(0), 24);
        assert_eq!(pieces, [(0, 4), (4, 8), (8, 12), (12, 20), (20, 24)]);
        assert_eq!(layout.parts(place(6), 8), [(6, 8), (8, 12), (12, 14)]);
        assert_eq!(layout.parts(place(30), 4), [(30, 32), (32, 34)]);
    }

    #[test]
    fn groups_number_their_parts() {
        let mut layout = Layout::default();
        for offset in [0, 8, 16, 24] {
            layout.part(place(offset), 4, Some(Scalar::U32));
        }
        assert!(layout.join(place(0), place(8)));
        assert!(!layout.join(place(8), place(0)));
        assert!(layout.join(place(16), place(24)));
        assert!(layout.join(place(8), place(16)));
        let groups: Vec<_> = [0, 8, 16, 24].map(|offset| layout.group(place(offset))).into();
        assert!(groups.iter().all(|group| group.0 == groups[0].0), "{groups:?}");
        let mut numbers: Vec<u8> = groups.iter().map(|group| group.1).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2, 3]);
    }
}
