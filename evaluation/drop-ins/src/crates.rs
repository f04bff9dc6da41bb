//! The crates whose Loom tests are run.

/// A published crate with Loom tests.
pub(crate) struct Crate {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// The package of raddle that has the version of Loom the crate asks for.
    pub(crate) patch: &'static str,
    /// The cfg with which the crate uses Loom.
    pub(crate) cfg: &'static str,
    /// What `cargo test` builds.
    pub(crate) target: &'static [&'static str],
    /// Which tests run: those whose names contain this.
    pub(crate) filter: &'static str,
    /// The variables with which the crate's own CI builds and runs its Loom tests.
    pub(crate) variables: &'static [(&'static str, &'static str)],
    /// The tests that fail with raddle because of a bug of the crate, and the bug.
    pub(crate) bugs: &'static [(&'static str, &'static str)],
}

/// A queued `Acquire` that is polled again while the semaphore closes reads `CLOSED` by a relaxed load, without the lock,
/// and takes itself for not queued. Its waiter is freed although the queue, or a thread that has just dequeued it, may
/// still use it.
const CLOSED_WHILE_QUEUED: &str = "use after free: ";

const BOUND_2: &[(&str, &str)] = &[("LOOM_MAX_PREEMPTIONS", "2")];
const BOUND_3: &[(&str, &str)] = &[("LOOM_MAX_PREEMPTIONS", "3")];

/// In the order of the table.
pub(crate) static CRATES: &[Crate] = &[
    Crate {
        name: "oneshot",
        version: "0.2.1",
        patch: "loom",
        cfg: "oneshot_loom",
        target: &["--features", "loom", "--test", "loom"],
        filter: "",
        variables: &[("LOOM_MAX_BRANCHES", "100000")],
        bugs: &[],
    },
    Crate {
        name: "concurrent-queue",
        version: "2.5.0",
        patch: "loom",
        cfg: "loom",
        target: &["--features", "loom", "--test", "loom"],
        filter: "",
        variables: &[],
        bugs: &[],
    },
    Crate {
        name: "parking",
        version: "2.2.1",
        patch: "loom",
        cfg: "loom",
        target: &["--features", "loom", "--test", "loom"],
        filter: "",
        variables: &[],
        bugs: &[],
    },
    Crate {
        name: "sharded-slab",
        version: "0.1.7",
        patch: "loom-0.5",
        cfg: "loom",
        target: &["--lib"],
        filter: "",
        variables: BOUND_2,
        bugs: &[],
    },
    Crate {
        name: "diatomic-waker",
        version: "0.2.3",
        patch: "loom",
        cfg: "diatomic_waker_loom",
        target: &["--lib", "--all-features"],
        filter: "",
        variables: &[],
        bugs: &[],
    },
    Crate {
        name: "st3",
        version: "0.4.1",
        patch: "loom-0.5",
        cfg: "st3_loom",
        target: &["--test", "integration"],
        filter: "",
        variables: BOUND_3,
        bugs: &[],
    },
    Crate {
        name: "maitake-sync",
        version: "0.3.0",
        patch: "loom",
        cfg: "loom",
        target: &["--lib"],
        filter: "loom",
        variables: BOUND_2,
        bugs: &[
            ("semaphore::tests::loom::close", CLOSED_WHILE_QUEUED),
            ("semaphore::tests::loom::concurrent_close", CLOSED_WHILE_QUEUED),
        ],
    },
    Crate {
        name: "async-event",
        version: "0.2.1",
        patch: "loom-0.5",
        cfg: "async_event_loom",
        target: &["--lib"],
        filter: "",
        variables: &[],
        bugs: &[],
    },
    Crate {
        name: "left-right",
        version: "0.11.8",
        patch: "loom",
        cfg: "loom",
        target: &["--test", "loom"],
        filter: "",
        variables: BOUND_3,
        bugs: &[],
    },
    // Its primitives, from its own sources: Loom's place is taken inside them.
    Crate {
        name: "tokio",
        version: "1.54.1",
        patch: "loom",
        cfg: "loom",
        target: &["--lib", "--features", "full,test-util"],
        filter: "sync::tests",
        variables: &[
            ("LOOM_MAX_PREEMPTIONS", "2"),
            ("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true"),
        ],
        bugs: &[],
    },
];
