//! `lazy_static!`.

/// Declares statics that are initialised on first use in each execution, and dropped when main ends.
///
/// ```
/// shuttle::lazy_static! {
///     static ref NAMES: Vec<&'static str> = vec!["a", "b"];
/// }
///
/// shuttle::check_random(|| assert_eq!(NAMES.len(), 2), 10);
/// ```
#[macro_export]
macro_rules! lazy_static {
    ($(#[$attribute:meta])* $vis:vis static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        #[allow(non_camel_case_types, dead_code, missing_copy_implementations)]
        $(#[$attribute])*
        $vis struct $name {
            __private: (),
        }
        #[doc(hidden)]
        $vis static $name: $name = $name { __private: () };
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
        impl $crate::lazy_static::LazyStatic for $name {
            fn initialize(lazy: &Self) {
                let _ = &**lazy;
            }
        }
        $crate::lazy_static!($($rest)*);
    };
    () => {};
}
