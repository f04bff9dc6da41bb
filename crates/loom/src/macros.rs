//! `lazy_static!`.

/// Declares statics that are initialised on first use in each execution, and dropped when main ends.
///
/// ```
/// loom::lazy_static! {
///     static ref NAMES: Vec<&'static str> = vec!["a", "b"];
/// }
///
/// loom::model(|| assert_eq!(NAMES.len(), 2));
/// ```
#[macro_export]
macro_rules! lazy_static {
    ($(#[$attribute:meta])* static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::__lazy_static!($(#[$attribute])* () static ref $name: $type = $init; $($rest)*);
    };
    ($(#[$attribute:meta])* pub static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::__lazy_static!($(#[$attribute])* (pub) static ref $name: $type = $init; $($rest)*);
    };
    ($(#[$attribute:meta])* pub ($($vis:tt)+) static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        $crate::__lazy_static!($(#[$attribute])* (pub ($($vis)+)) static ref $name: $type = $init; $($rest)*);
    };
    () => {};
}

#[doc(hidden)]
#[macro_export]
macro_rules! __lazy_static {
    ($(#[$attribute:meta])* ($($vis:tt)*) static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        #[allow(non_camel_case_types, dead_code, missing_copy_implementations)]
        $(#[$attribute])*
        $($vis)* struct $name {
            __private: (),
        }
        #[doc(hidden)]
        $($vis)* static $name: $name = $name { __private: () };
        impl ::core::ops::Deref for $name {
            type Target = $type;

            fn deref(&self) -> &$type {
                fn __init() -> $type {
                    $init
                }
                static __VALUE: $crate::lazy_static::Lazy<$type> = $crate::lazy_static::Lazy::new(__init);
                __VALUE.get()
            }
        }
        $crate::lazy_static!($($rest)*);
    };
}
