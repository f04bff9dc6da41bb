//! What executions print.

use std::fmt;

use raddle_core::{NoteKind, Site};
use raddle_runtime::port;

/// [`std::println!`] for programs under test: what an execution prints is kept apart from what others print.
///
/// The report of a failure shows what the failing execution printed, each line in the lane of its thread. What others
/// print is dropped. Outside a check it is `std`'s macro. The same holds for [`print!`](crate::print),
/// [`eprintln!`](crate::eprintln) and [`eprint!`](crate::eprint).
///
/// In the function of a `#[raddle::test]`, these macros stand for those of `std`. Elsewhere, write
/// `use raddle::println;`.
///
/// ```
/// use raddle::println;
///
/// let report = raddle::Config::new().run(|| {
///     let drawn = raddle::choose(10);
///     println!("drew {drawn}");
///     assert!(drawn < 9);
/// });
/// let text = report.to_string();
/// assert!(text.contains("prints: drew 9"));
/// assert_eq!(text.matches("prints: ").count(), 1);
/// ```
#[macro_export]
macro_rules! println {
    () => { $crate::println!("") };
    ($($argument:tt)*) => {
        if $crate::__test::prints() {
            $crate::__test::print(::core::format_args!($($argument)*));
        } else {
            ::std::println!($($argument)*);
        }
    };
}

/// [`std::print!`] for programs under test: see [`println!`](crate::println).
#[macro_export]
macro_rules! print {
    ($($argument:tt)*) => {
        if $crate::__test::prints() {
            $crate::__test::print(::core::format_args!($($argument)*));
        } else {
            ::std::print!($($argument)*);
        }
    };
}

/// [`std::eprintln!`] for programs under test: see [`println!`](crate::println).
#[macro_export]
macro_rules! eprintln {
    () => { $crate::eprintln!("") };
    ($($argument:tt)*) => {
        if $crate::__test::prints() {
            $crate::__test::print(::core::format_args!($($argument)*));
        } else {
            ::std::eprintln!($($argument)*);
        }
    };
}

/// [`std::eprint!`] for programs under test: see [`println!`](crate::println).
#[macro_export]
macro_rules! eprint {
    ($($argument:tt)*) => {
        if $crate::__test::prints() {
            $crate::__test::print(::core::format_args!($($argument)*));
        } else {
            ::std::eprint!($($argument)*);
        }
    };
}

/// Returns whether the caller is part of an execution.
pub fn prints() -> bool {
    port::active()
}

/// Keeps what the calling thread prints if the execution is the one that is reported. The arguments are formatted in any
/// case, since what they do may be steps.
#[track_caller]
pub fn print(text: fmt::Arguments<'_>) {
    let site = Site::caller();
    if !port::records() {
        // A formatter that refuses is an error of the program only if `std` says so, which it does by a panic.
        fmt::write(&mut Dropped, text).expect("failed printing: a formatter returned an error");
        return;
    }
    for line in text.to_string().lines() {
        port::note(NoteKind::Output, line.to_owned(), site);
    }
}

/// Takes a text and forgets it.
struct Dropped;

impl fmt::Write for Dropped {
    fn write_str(&mut self, _text: &str) -> fmt::Result {
        Ok(())
    }
}
