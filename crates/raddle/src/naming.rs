//! Names that a program gives its objects, for reports.

use std::sync::Arc;

use raddle_core::Site;

/// Calls `object` by a name of the program's own in reports: `queue` in place of `mutex 1`.
///
/// It is for the execution under way, like the object; outside a check it does nothing.
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

/// What [`name`] can give a name to.
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
