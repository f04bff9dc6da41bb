//! Source lines for hand-made traces. New ones go to the end, because the goldens contain line numbers.
use raddle_core::Site;

pub(crate) fn one() -> Site {
    Site::caller() // line 5
}

pub(crate) fn two() -> Site {
    Site::caller() // line 9
}

pub(crate) fn three() -> Site {
    Site::caller() // line 13
}

pub(crate) fn four() -> Site {
    Site::caller() // line 17
}
