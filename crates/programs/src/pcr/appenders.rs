//! V17, V18 and V19, log appenders: a field is tested and then read again.

use raddle::cell::Shared;
use raddle::sync::{Mutex, MutexGuard};

use super::library::{Consulted, Monitor, NULL_POINTER, Reference};
use super::{Form, Mistake, Operation, Test, ThreadSafe, operations};

/// The class of the paper's Fig. 2. The list itself is synchronised, but the reference to the list is not.
pub(super) struct AppenderAttachable {
    monitor: Monitor,
    /// Whether there is a list.
    list: Reference<()>,
    appenders: Mutex<Vec<u32>>,
}

/// The appender that the tests attach and search for.
const APPENDER: u32 = 1;

impl ThreadSafe for AppenderAttachable {
    const NAME: &'static str = "v17-appenders";
    const ABOUT: &'static str = "the list of appenders is removed while it is searched";
    const CLASS: &'static str = "AppenderAttachableImpl";
    const MISTAKE: Mistake = Mistake::DataRace;
    const SYMPTOM: &'static str = NULL_POINTER;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![add_appender, is_attached, remove_all_appenders, is_empty];
    const FAILING: Test =
        Test::of(&["add_appender"], [&["is_attached"], &["remove_all_appenders"]]);

    fn new(form: Form) -> Self {
        let appenders = Mutex::default();
        AppenderAttachable { monitor: Monitor::new(form), list: Reference::null(), appenders }
    }
}

impl AppenderAttachable {
    /// Returns the list, or `None` if the field is null.
    #[track_caller]
    fn list(&self) -> MutexGuard<'_, Vec<u32>> {
        self.list.used();
        self.appenders.lock().expect("no thread panicked while it held the lock")
    }

    fn add_appender(&self) {
        let _guard = self.monitor.enter_if_fixed();
        if self.list.is_null() {
            // A new list is empty, as is one that was removed.
            self.list.set(());
        }
        self.list().push(APPENDER);
    }

    fn is_attached(&self) -> bool {
        let _guard = self.monitor.enter_if_fixed();
        if self.list.is_null() {
            return false;
        }
        let size = self.list().len();
        (0..size).any(|index| self.list().get(index) == Some(&APPENDER))
    }

    fn remove_all_appenders(&self) {
        let _guard = self.monitor.enter_if_fixed();
        if !self.list.is_null() {
            self.close_appenders();
            self.list().clear();
            self.list.set_null();
        }
    }

    /// Visits every appender. Returns their number.
    fn close_appenders(&self) -> usize {
        let size = self.list().len();
        (0..size).filter(|&index| self.list().get(index).is_some()).count()
    }

    fn is_empty(&self) -> bool {
        let _guard = self.monitor.enter_if_fixed();
        self.list.is_null() || self.list().is_empty()
    }
}

pub(super) struct FileAppender {
    monitor: Monitor,
    file_name: Reference<u32>,
    open: Shared<bool>,
    /// Other options of the appender.
    options: Consulted<6>,
}

impl ThreadSafe for FileAppender {
    const NAME: &'static str = "v18-file-appender";
    const ABOUT: &'static str = "the file name is tested, and read again to open the file";
    const CLASS: &'static str = "FileAppender";
    const MISTAKE: Mistake = Mistake::Atomicity;
    const SYMPTOM: &'static str = NULL_POINTER;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![activate_options, set_file, remove_file, get_options, close];
    const FAILING: Test =
        Test::of(&["set_file"], [&["activate_options"], &["get_options", "remove_file"]]);

    fn new(form: Form) -> Self {
        FileAppender {
            monitor: Monitor::new(form),
            file_name: Reference::null(),
            open: Shared::new(false),
            options: Consulted::new(),
        }
    }
}

impl FileAppender {
    fn activate_options(&self) -> Option<u32> {
        let _guard = self.monitor.enter_if_fixed();
        if self.file_name.is_null() {
            return None;
        }
        self.open.set(true);
        Some(self.file_name.used())
    }

    fn set_file(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.file_name.set(1);
    }

    fn remove_file(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.file_name.set_null();
    }

    fn get_options(&self) -> u32 {
        let _guard = self.monitor.enter_if_fixed();
        self.options.consult()
    }

    fn close(&self) {
        let _guard = self.monitor.enter();
        self.open.set(false);
    }
}

pub(super) struct NullAppender {
    monitor: Monitor,
    threshold: Reference<u32>,
    closed: Shared<bool>,
    /// Other fields of the appender.
    properties: Consulted<4>,
}

impl ThreadSafe for NullAppender {
    const NAME: &'static str = "v19-null-appender";
    const ABOUT: &'static str = "the threshold is removed between the test and the comparison";
    const CLASS: &'static str = "NullAppender";
    const MISTAKE: Mistake = Mistake::Atomicity;
    const SYMPTOM: &'static str = NULL_POINTER;
    const OPERATIONS: &'static [Operation<Self>] = operations![
        is_as_severe_as_threshold,
        set_threshold,
        remove_threshold,
        get_properties,
        close,
    ];
    const FAILING: Test = Test::of(
        &["set_threshold"],
        [&["is_as_severe_as_threshold"], &["get_properties", "remove_threshold"]],
    );

    fn new(form: Form) -> Self {
        NullAppender {
            monitor: Monitor::new(form),
            threshold: Reference::null(),
            closed: Shared::new(false),
            properties: Consulted::new(),
        }
    }
}

impl NullAppender {
    fn is_as_severe_as_threshold(&self) -> bool {
        let _guard = self.monitor.enter_if_fixed();
        self.threshold.is_null() || self.threshold.used() <= 2
    }

    fn set_threshold(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.threshold.set(1);
    }

    fn remove_threshold(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.threshold.set_null();
    }

    fn get_properties(&self) -> u32 {
        let _guard = self.monitor.enter_if_fixed();
        self.properties.consult()
    }

    fn close(&self) {
        let _guard = self.monitor.enter();
        self.closed.set(true);
    }
}
