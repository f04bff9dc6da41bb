//! The types of [`lazy_static!`](crate::lazy_static!).

pub use raddle::drop_in::Lazy;

/// Statics of [`lazy_static!`](crate::lazy_static!).
pub trait LazyStatic {
    #[doc(hidden)]
    fn initialize(lazy: &Self);
}

/// Initialises a static now, if it is not yet.
///
/// ```
/// shuttle::lazy_static! {
///     static ref NAMES: Vec<&'static str> = vec!["a", "b"];
/// }
///
/// shuttle::check_random(|| shuttle::lazy_static::initialize(&NAMES), 1);
/// ```
pub fn initialize<T: LazyStatic>(lazy: &T) {
    LazyStatic::initialize(lazy);
}
