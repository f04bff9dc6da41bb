//! Places in the program under test.
//!
//! A site is one word. By default the word is a source location. With the feature `code-addresses`, for front
//! ends of native programs, it is a code address. Both builds have the same methods. The constructors
//! differ, so that mixing the two is a compile error.

use core::fmt;
#[cfg(feature = "code-addresses")]
use core::num::NonZeroUsize;
use core::panic::Location;

#[cfg(not(feature = "code-addresses"))]
type Word = Option<&'static Location<'static>>;
#[cfg(feature = "code-addresses")]
type Word = Option<NonZeroUsize>;

/// The place of an operation in the program, if the front end knows it.
#[derive(Copy, Clone, Eq)]
pub struct Site(Word);

impl Site {
    /// An unknown place.
    pub const UNKNOWN: Site = Site(None);

    /// Returns a number that is cheap to compare: equal numbers mean equal sites. A line that was compiled
    /// several times has several numbers. Zero if the place is unknown.
    #[inline]
    pub fn key(self) -> usize {
        #[cfg(not(feature = "code-addresses"))]
        return self.0.map_or(0, |location| core::ptr::from_ref(location).addr());
        #[cfg(feature = "code-addresses")]
        return self.0.map_or(0, NonZeroUsize::get);
    }
}

#[cfg(not(feature = "code-addresses"))]
impl Site {
    /// Returns the source location of the caller.
    #[inline(always)]
    #[track_caller]
    pub const fn caller() -> Site {
        Site(Some(Location::caller()))
    }

    /// Returns the site of `location`, or [`UNKNOWN`](Site::UNKNOWN) if there is none.
    #[inline(always)]
    pub fn at(location: Option<&'static Location<'static>>) -> Site {
        Site(location)
    }

    /// Returns the source location. Returns `None` if the place is unknown or a code address.
    #[inline(always)]
    pub fn location(self) -> Option<&'static Location<'static>> {
        self.0
    }

    /// Returns the code address. Returns `None` if the place is unknown or a source location.
    #[inline(always)]
    pub fn address(self) -> Option<usize> {
        None
    }
}

#[cfg(feature = "code-addresses")]
impl Site {
    /// Returns the site of a code address, or [`UNKNOWN`](Site::UNKNOWN) if it is zero.
    #[inline(always)]
    pub fn at_address(address: usize) -> Site {
        Site(NonZeroUsize::new(address))
    }

    /// Returns the source location. Returns `None` if the place is unknown or a code address.
    #[inline(always)]
    pub fn location(self) -> Option<&'static Location<'static>> {
        None
    }

    /// Returns the code address. Returns `None` if the place is unknown or a source location.
    #[inline(always)]
    pub fn address(self) -> Option<usize> {
        self.0.map(NonZeroUsize::get)
    }
}

impl PartialEq for Site {
    #[inline]
    fn eq(&self, other: &Site) -> bool {
        // Equal sites mostly have equal keys, so file names are rarely compared.
        self.key() == other.key() || self.0 == other.0
    }
}

#[cfg(not(feature = "code-addresses"))]
impl From<&'static Location<'static>> for Site {
    fn from(location: &'static Location<'static>) -> Site {
        Site(Some(location))
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = self.location() {
            write!(f, "{}:{}", location.file(), location.line())
        } else if let Some(address) = self.address() {
            write!(f, "{address:#x}")
        } else {
            f.write_str("unknown line")
        }
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn a_site_is_one_word() {
        assert_eq!(size_of::<Site>(), size_of::<usize>());
        assert_eq!(Site::UNKNOWN.key(), 0);
        assert_eq!(format!("{}", Site::UNKNOWN), "unknown line");
        assert_eq!((Site::UNKNOWN.location(), Site::UNKNOWN.address()), (None, None));
    }

    #[cfg(not(feature = "code-addresses"))]
    #[test]
    fn a_source_location_is_displayed_as_file_and_line() {
        let [one, other] = [Site::caller(), Site::caller()];
        let line = one.location().map(Location::line).unwrap();
        assert!(format!("{one}").ends_with(&format!("site.rs:{line}")));
        assert_eq!(one.address(), None);
        assert_eq!(one, one);
        assert_ne!(one, other, "the columns differ");
        assert_ne!(one, Site::UNKNOWN);
    }

    #[cfg(feature = "code-addresses")]
    #[test]
    fn a_code_address_is_displayed_as_a_number() {
        let (one, other) = (Site::at_address(0x40_1000), Site::at_address(0x40_1004));
        assert_eq!(format!("{one}"), "0x401000");
        assert_eq!((one.location(), one.address()), (None, Some(0x40_1000)));
        assert_eq!(one, Site::at_address(0x40_1000));
        assert_ne!(one, other);
        assert_eq!(Site::at_address(0), Site::UNKNOWN);
    }
}
