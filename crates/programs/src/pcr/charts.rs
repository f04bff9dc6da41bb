//! V14, V15 and V16, the data of a chart: lists without synchronisation.

use super::library::{Consulted, List, MODIFIED, Monitor, NULL_POINTER};
use super::{Form, Mistake, Operation, Test, ThreadSafe, operations};

pub(super) struct TimeSeries {
    monitor: Monitor,
    periods: List<u32, 4>,
}

impl ThreadSafe for TimeSeries {
    const NAME: &'static str = "v14-time-series";
    const ABOUT: &'static str =
        "series adds in order, and reads an element that is counted but not written";
    const CLASS: &'static str = "TimeSeries";
    const MISTAKE: Mistake = Mistake::DataRace;
    const SYMPTOM: &'static str = NULL_POINTER;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![add_early, add_late, last_period, item_count];
    const FAILING: Test =
        Test::of(&[], [&["add_early"], &["item_count", "item_count", "add_late"]]);

    fn new(form: Form) -> Self {
        TimeSeries { monitor: Monitor::new(form), periods: List::new() }
    }
}

impl TimeSeries {
    fn add_early(&self) {
        self.add(1);
    }

    fn add_late(&self) {
        self.add(2);
    }

    /// Adds a period that is later than all others.
    fn add(&self, period: u32) {
        let _guard = self.monitor.enter_if_fixed();
        let count = self.periods.len();
        if count == 0 || self.periods.get(count - 1) < period {
            self.periods.add(period);
        }
    }

    fn last_period(&self) -> Option<u32> {
        let _guard = self.monitor.enter_if_fixed();
        let count = self.periods.len();
        (count > 0).then(|| self.periods.get(count - 1))
    }

    fn item_count(&self) -> usize {
        let _guard = self.monitor.enter_if_fixed();
        self.periods.len()
    }
}

pub(super) struct XyPlot {
    monitor: Monitor,
    axes: List<u32, 4>,
    /// Fields for drawing.
    look: Consulted<7>,
}

impl ThreadSafe for XyPlot {
    const NAME: &'static str = "v15-xy-plot";
    const ABOUT: &'static str = "plot cloned while an axis is put into the map of axes";
    const CLASS: &'static str = "XYPlot";
    const MISTAKE: Mistake = Mistake::DataRace;
    const SYMPTOM: &'static str = MODIFIED;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![clone_plot, set_domain_axis, clear_domain_axes, draw];
    const FAILING: Test =
        Test::of(&["set_domain_axis"], [&["clone_plot"], &["draw", "set_domain_axis"]]);

    fn new(form: Form) -> Self {
        XyPlot { monitor: Monitor::new(form), axes: List::new(), look: Consulted::new() }
    }
}

impl XyPlot {
    fn clone_plot(&self) -> Vec<u32> {
        let _guard = self.monitor.enter_if_fixed();
        let mut axes = Vec::new();
        self.axes.iterate(|axis| axes.push(axis));
        axes
    }

    fn set_domain_axis(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.axes.add(1);
    }

    fn clear_domain_axes(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.axes.clear();
    }

    fn draw(&self) -> u32 {
        let _guard = self.monitor.enter_if_fixed();
        self.look.consult()
    }
}

pub(super) struct XySeries {
    monitor: Monitor,
    values: List<u32, 4>,
    listeners: List<u32, 4>,
    /// Other fields of the data set.
    description: Consulted<3>,
}

/// A listener.
const LISTENER: u32 = 1;

impl ThreadSafe for XySeries {
    const NAME: &'static str = "v16-xy-series";
    const ABOUT: &'static str = "a listener is added while the listeners are notified";
    const CLASS: &'static str = "XYSeries";
    const MISTAKE: Mistake = Mistake::DataRace;
    const SYMPTOM: &'static str = MODIFIED;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![add_value, clear_values, get_description, add_listener, remove_listener];
    const FAILING: Test =
        Test::of(&["add_listener"], [&["get_description", "add_value"], &["add_listener"]]);

    fn new(form: Form) -> Self {
        XySeries {
            monitor: Monitor::new(form),
            values: List::new(),
            listeners: List::new(),
            description: Consulted::new(),
        }
    }
}

impl XySeries {
    fn add_value(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.values.add(1);
        self.notify();
    }

    fn clear_values(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.values.clear();
        self.notify();
    }

    fn get_description(&self) -> u32 {
        let _guard = self.monitor.enter_if_fixed();
        self.description.consult()
    }

    fn notify(&self) {
        self.listeners.iterate(|listener| assert_eq!(listener, LISTENER));
    }

    fn add_listener(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.listeners.add(LISTENER);
    }

    fn remove_listener(&self) {
        let _guard = self.monitor.enter_if_fixed();
        self.listeners.remove(LISTENER);
    }
}
