//! Names of objects in reports.

use std::sync::Arc;

use raddle_core::Site;

/// Names `object` in reports: `queue` instead of `mutex 1`.
///
/// The name holds for the current execution. Outside a check this function does nothing.
///
/// ```
/// use raddle::sync::{Arc, Mutex};
///
/// let report = raddle::Config::new().run(|| {
///     let queue = Arc::new(Mutex::new(vec![1]));
///     raddle::name(&queue, "queue");
///     let _first = queue.lock().unwrap();
///     let _second = queue.lock().unwrap();
/// });
/// assert!(raddle::text(&report).contains("queue.lock"));
/// ```
#[track_caller]
pub fn name(object: &(impl Named + ?Sized), name: &str) {
    object.call(name, Site::caller());
}

/// Puts a line into the lane of the calling thread in the report of a failure. Takes the arguments of [`format!`].
///
/// The arguments are evaluated only in the execution that is reported, so notes cost nothing in others. They must not
/// access anything that raddle sees. Outside a check nothing happens.
///
/// ```
/// use raddle::sync::Mutex;
///
/// let report = raddle::Config::new().run(|| {
///     let queue = Mutex::new(vec![1]);
///     let length = queue.lock().unwrap().len();
///     raddle::note!("length {length}");
///     assert_eq!(length, 2);
/// });
/// assert!(raddle::text(&report).contains("length 1"));
/// ```
#[macro_export]
macro_rules! note {
    ($($argument:tt)*) => {
        if $crate::__test::records() {
            $crate::__test::note(::std::format!($($argument)*));
        }
    };
}

/// Objects that [`name`] accepts.
pub trait Named {
    #[doc(hidden)]
    fn call(&self, name: &str, site: Site);
}

impl<T: Named + ?Sized> Named for &T {
    fn call(&self, name: &str, site: Site) {
        (**self).call(name, site);
    }
}

impl<T: Named + ?Sized> Named for Box<T> {
    fn call(&self, name: &str, site: Site) {
        (**self).call(name, site);
    }
}

impl<T: Named + ?Sized> Named for Arc<T> {
    fn call(&self, name: &str, site: Site) {
        (**self).call(name, site);
    }
}
