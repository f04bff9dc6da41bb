//! V12 and V13, axes of a chart: the bounds of a range are read at different times, so they may be out of order.

use raddle::cell::Shared;

use super::library::{Consulted, Monitor};
use super::{Form, Mistake, Operation, Test, ThreadSafe, operations};

/// The message of a range whose bounds are out of order.
const ILLEGAL_ARGUMENT: &str = "IllegalArgumentException";

#[derive(Clone, Copy)]
struct Range {
    lower: i32,
    upper: i32,
}

impl Range {
    fn new(lower: i32, upper: i32) -> Range {
        assert!(lower <= upper, "{ILLEGAL_ARGUMENT}: {lower} <= {upper}");
        Range { lower, upper }
    }

    fn centre(self) -> i32 {
        (self.lower + self.upper) / 2
    }
}

pub(super) struct NumberAxis {
    monitor: Monitor,
    range: Shared<Range>,
    automatic: Shared<bool>,
    /// Fields for drawing.
    marks: Consulted<7>,
}

impl ThreadSafe for NumberAxis {
    const NAME: &'static str = "v12-number-axis";
    const ABOUT: &'static str = "axis centred on a value reads its range several times";
    const CLASS: &'static str = "NumberAxis";
    const MISTAKE: Mistake = Mistake::Atomicity;
    const SYMPTOM: &'static str = ILLEGAL_ARGUMENT;
    const OPERATIONS: &'static [Operation<Self>] = operations![
        centre_range,
        set_low_range,
        set_high_range,
        adjust_automatically,
        refresh_marks,
    ];
    const FAILING: Test =
        Test::of(&["set_high_range"], [&["centre_range"], &["refresh_marks", "set_low_range"]]);

    fn new(form: Form) -> Self {
        NumberAxis {
            monitor: Monitor::new(form),
            range: Shared::new(Range::new(0, 1)),
            automatic: Shared::new(true),
            marks: Consulted::new(),
        }
    }
}

impl NumberAxis {
    /// Moves the range so that zero is in the middle.
    fn centre_range(&self) {
        let _guard = self.monitor.enter_if_fixed();
        let centre = self.range.get().centre();
        let lower = self.range.get().lower - centre;
        let upper = self.range.get().upper - centre;
        self.range.set(Range::new(lower, upper));
    }

    fn set_low_range(&self) {
        self.set_range(Range::new(0, 10));
    }

    fn set_high_range(&self) {
        self.set_range(Range::new(100, 110));
    }

    fn set_range(&self, range: Range) {
        let _guard = self.monitor.enter_if_fixed();
        self.automatic.set(false);
        self.range.set(range);
    }

    fn adjust_automatically(&self) {
        let _guard = self.monitor.enter_if_fixed();
        if self.automatic.get() {
            self.range.set(Range::new(0, 1));
        }
    }

    fn refresh_marks(&self) -> i32 {
        let _guard = self.monitor.enter_if_fixed();
        let size = i32::try_from(self.marks.consult()).expect("there are few marks");
        size - self.range.get().centre()
    }
}

pub(super) struct PeriodAxis {
    monitor: Monitor,
    first: Shared<i32>,
    last: Shared<i32>,
    /// Fields that convert periods to times.
    zone: Consulted<1>,
    /// Fields for drawing.
    ticks: Consulted<5>,
}

impl ThreadSafe for PeriodAxis {
    const NAME: &'static str = "v13-period-axis";
    const ABOUT: &'static str = "the bounds of a period are read while both are changed";
    const CLASS: &'static str = "PeriodAxis";
    const MISTAKE: Mistake = Mistake::DataRace;
    const SYMPTOM: &'static str = ILLEGAL_ARGUMENT;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![get_range, set_early_range, set_late_range, refresh_ticks];
    const FAILING: Test =
        Test::of(&["set_late_range"], [&["get_range"], &["refresh_ticks", "set_early_range"]]);

    fn new(form: Form) -> Self {
        PeriodAxis {
            monitor: Monitor::new(form),
            first: Shared::new(0),
            last: Shared::new(1),
            zone: Consulted::new(),
            ticks: Consulted::new(),
        }
    }
}

impl PeriodAxis {
    fn get_range(&self) -> i32 {
        let _guard = self.monitor.enter_if_fixed();
        let first = self.first.get();
        self.zone.consult();
        Range::new(first, self.last.get()).centre()
    }

    fn set_early_range(&self) {
        self.set_range(Range::new(0, 10));
    }

    fn set_late_range(&self) {
        self.set_range(Range::new(100, 110));
    }

    fn set_range(&self, range: Range) {
        let _guard = self.monitor.enter_if_fixed();
        self.first.set(range.lower);
        self.last.set(range.upper);
    }

    fn refresh_ticks(&self) -> u32 {
        let _guard = self.monitor.enter_if_fixed();
        self.ticks.consult()
    }
}
