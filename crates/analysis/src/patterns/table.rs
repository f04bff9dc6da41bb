//! The 17 memory-access patterns (Park, Vuduc and Harrold, UNICORN; Table 1 of the paper on PCR).
//!
//! A pattern is two to four accesses of two threads to one or two variables, in an order in which they
//! can interfere with one another. An access that reads and writes counts as a write.

use raddle_core::Access;

/// An access of a pattern: which of the two threads, which of the two variables, and how.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Role {
    /// 0 for the thread of the first access, 1 for the other.
    pub thread: u8,
    /// 0 for the variable of the first access, 1 for the other.
    pub variable: u8,
    /// Whether it writes.
    pub access: Access,
}

const fn role(thread: u8, variable: u8, access: Access) -> Role {
    Role { thread, variable, access }
}

const AR: Role = role(0, 0, Access::Read);
const AW: Role = role(0, 0, Access::Update);
const BR: Role = role(1, 0, Access::Read);
const BW: Role = role(1, 0, Access::Update);
const AR_Y: Role = role(0, 1, Access::Read);
const AW_Y: Role = role(0, 1, Access::Update);
const BR_Y: Role = role(1, 1, Access::Read);
const BW_Y: Role = role(1, 1, Access::Update);

/// Table 1; the pattern with number n is at n - 1.
pub const PATTERNS: [&[Role]; 17] = [
    &[AR, BW],
    &[AW, BR],
    &[AW, BW],
    &[AR, BW, AR],
    &[AW, BW, AR],
    &[AW, BR, AW],
    &[AR, BW, AW],
    &[AW, BW, AW],
    &[AW, BW, BW_Y, AW_Y],
    &[AW, BW_Y, BW, AW_Y],
    &[AW, BW_Y, AW_Y, BW],
    &[AW, BR, BR_Y, AW_Y],
    &[AW, BR_Y, BR, AW_Y],
    &[AR, BW, BW_Y, AR_Y],
    &[AR, BW_Y, BW, AR_Y],
    &[AR, BW_Y, AR_Y, BW],
    &[AW, BR_Y, AW_Y, BR],
];

/// Returns the number of the pattern that these accesses form, each given by thread, variable and access.
pub fn number(accesses: &[(u32, u32, Access)]) -> Option<u8> {
    let &(first_thread, first_variable, _) = accesses.first()?;
    let mut shape = 0;
    let (mut other_thread, mut other_variable) = (None, None);
    for &(thread, variable, access) in accesses {
        let is_other = |value: u32, first: u32, other: &mut Option<u32>| {
            (value == first)
                .then_some(false)
                .or_else(|| (*other.get_or_insert(value) == value).then_some(true))
        };
        let thread = is_other(thread, first_thread, &mut other_thread)?;
        let variable = is_other(variable, first_variable, &mut other_variable)?;
        shape = shape << 3 | bits(u8::from(thread), u8::from(variable), access);
    }
    number_of_shape(shape | 1 << (3 * accesses.len()))
}

/// Returns the number of the pattern with this shape: a one, then three bits for each access.
pub(crate) fn number_of_shape(shape: u32) -> Option<u8> {
    SHAPES.iter().position(|&known| known == shape).map(|index| index as u8 + 1)
}

/// Returns the three bits of an access.
pub(crate) const fn bits(thread: u8, variable: u8, access: Access) -> u32 {
    let writes = matches!(access, Access::Update) as u32;
    (thread as u32) << 2 | (variable as u32) << 1 | writes
}

const SHAPES: [u32; 17] = {
    let mut shapes = [0; 17];
    let mut pattern = 0;
    while pattern < 17 {
        let mut shape = 1;
        let mut at = 0;
        while at < PATTERNS[pattern].len() {
            let Role { thread, variable, access } = PATTERNS[pattern][at];
            shape = shape << 3 | bits(thread, variable, access);
            at += 1;
        }
        shapes[pattern] = shape;
        pattern += 1;
    }
    shapes
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_has_its_number() {
        for (index, pattern) in PATTERNS.iter().enumerate() {
            let accesses: Vec<_> = pattern
                .iter()
                .map(|role| (u32::from(role.thread) + 7, 3 - u32::from(role.variable), role.access))
                .collect();
            assert_eq!(number(&accesses), Some(index as u8 + 1));
        }
    }

    #[test]
    fn other_accesses_are_no_pattern() {
        let (r, w) = (Access::Read, Access::Update);
        assert_eq!(number(&[]), None);
        assert_eq!(number(&[(0, 0, w)]), None);
        assert_eq!(number(&[(0, 0, r), (1, 0, r)]), None, "two reads");
        assert_eq!(number(&[(0, 0, w), (0, 0, w)]), None, "one thread");
        assert_eq!(number(&[(0, 0, w), (1, 1, w)]), None, "two variables");
        assert_eq!(number(&[(0, 0, r), (1, 0, w), (2, 0, r)]), None, "three threads");
        assert_eq!(number(&[(0, 0, w), (1, 0, w), (1, 1, w), (0, 2, w)]), None, "three variables");
        assert_eq!(number(&[(0, 0, r), (1, 0, r), (0, 0, w)]), None);
    }
}
