//! V1 and V2, the data sources of a connection pool. All instances are in one map of their class. Registering an instance
//! iterates over the map under the lock of the class, to find an unused key. Closing an instance removes it from the map
//! without the lock.

use super::library::{Consulted, List, MODIFIED, Monitor};
use super::{Form, Mistake, Operation, Test, ThreadSafe, operations};

/// The superclass: the map and its lock, which are static in Java.
struct Instances {
    class: Monitor,
    keys: List<u32, 4>,
}

/// The key of the instance under test.
const KEY: u32 = 1;

impl Instances {
    fn new(form: Form) -> Instances {
        let instances = Instances { class: Monitor::new(form), keys: List::new() };
        instances.keys.add(KEY);
        instances
    }

    fn register(&self) {
        let _guard = self.class.enter();
        let mut last = 0;
        self.keys.iterate(|key| last = last.max(key));
        self.keys.add(last + 1);
    }

    fn remove(&self) {
        let _guard = self.class.enter_if_fixed();
        self.keys.remove(KEY);
    }

    fn close_all(&self) {
        let _guard = self.class.enter();
        self.keys.clear();
    }
}

pub(super) struct PerUserPoolDataSource {
    instances: Instances,
    /// The parameters of each user's pool.
    limits: Consulted<6>,
}

impl ThreadSafe for PerUserPoolDataSource {
    const NAME: &'static str = "v1-user-pools";
    const ABOUT: &'static str =
        "data source closed while the map of all data sources is iterated over";
    const CLASS: &'static str = "PerUserPoolDataSource";
    const MISTAKE: Mistake = Mistake::DataRace;
    const SYMPTOM: &'static str = MODIFIED;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![get_reference, close, close_all, get_limits];
    const FAILING: Test = Test::of(&[], [&["get_reference"], &["close"]]);

    fn new(form: Form) -> Self {
        PerUserPoolDataSource { instances: Instances::new(form), limits: Consulted::new() }
    }
}

impl PerUserPoolDataSource {
    fn get_reference(&self) {
        self.instances.register();
    }

    fn close(&self) {
        self.limits.consult();
        self.instances.remove();
    }

    fn close_all(&self) {
        self.instances.close_all();
    }

    fn get_limits(&self) -> u32 {
        self.limits.consult()
    }
}

pub(super) struct SharedPoolDataSource {
    instances: Instances,
    /// The parameters of the shared pool.
    limits: Consulted<7>,
}

impl ThreadSafe for SharedPoolDataSource {
    const NAME: &'static str = "v2-shared-pool";
    const ABOUT: &'static str = "as v1, after two reads of the pool";
    const CLASS: &'static str = "SharedPoolDataSource";
    const MISTAKE: Mistake = Mistake::Atomicity;
    const SYMPTOM: &'static str = MODIFIED;
    const OPERATIONS: &'static [Operation<Self>] =
        operations![get_reference, close, close_all, get_pool];
    const FAILING: Test = Test::of(&[], [&["get_reference"], &["get_pool", "close"]]);

    fn new(form: Form) -> Self {
        SharedPoolDataSource { instances: Instances::new(form), limits: Consulted::new() }
    }
}

impl SharedPoolDataSource {
    fn get_reference(&self) {
        self.instances.register();
    }

    fn get_pool(&self) -> u32 {
        self.limits.consult()
    }

    fn close(&self) {
        self.limits.consult();
        self.instances.remove();
    }

    fn close_all(&self) {
        self.instances.close_all();
    }
}
