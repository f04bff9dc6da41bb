//! What the `raddle` command asks for: settings, already read and checked, in one variable of the environment.
//!
//! Each line is a name, `=`, and a value. The command and the library are of one version, so that every name is known
//! to both; `docs/design/native.md` explains why settings are not read here.

use std::ffi::CString;
use std::fs;
use std::time::Duration;

use raddle_core::MemoryModel;
use raddle_explore::{Explain, Leaks, OnStepLimit, Settings, Strategy};

/// The variable. It is removed before the program begins.
pub(crate) const VARIABLE: &str = "RADDLE_NATIVE_PLAN";

/// A check to make.
pub(crate) struct Plan {
    pub(crate) settings: Settings,
    pub(crate) time: Option<Duration>,
    pub(crate) watchdog: Option<Duration>,
    pub(crate) replay: Option<String>,
    pub(crate) backend: Backend,
    pub(crate) granularity: Granularity,
    pub(crate) races: Races,
    /// The places that race, found by an earlier check: addresses.
    pub(crate) points: Option<Vec<usize>>,
    pub(crate) begin: Begin,
    /// The folder that is emptied before each run.
    pub(crate) fresh: Option<CString>,
    /// What the program is to write.
    pub(crate) expected: Option<Vec<u8>>,
    /// Whether to tell how far the check is.
    pub(crate) tells_progress: bool,
    /// The most steps of a run after the step limit, if they are not a few.
    pub(crate) tail: Option<usize>,
    /// The process that waits for the result. Zero if none has to.
    pub(crate) parent: isize,
    /// Whether the process is in a debugger, which shows its only run. Then the result is not written.
    pub(crate) is_debugged: bool,
    /// Whether sites are stacks of calls.
    pub(crate) stacks: bool,
    /// The file descriptor for the result.
    pub(crate) output: usize,
}

/// Which plain accesses are scheduling points.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Granularity {
    Sync,
    /// Those at places that race.
    Racy,
    All,
}

/// What becomes of a data race, if races are failures.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Races {
    /// It ends the check.
    AtOnce,
    /// It ends the check if it leads to no other failure.
    WithConsequences,
}

/// Where runs begin.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Begin {
    Main,
    /// With the first thread that the program creates: a test of Rust's test harness. See
    /// [`first_thread`](crate::first_thread).
    FirstThread,
}

/// How runs are made.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Backend {
    /// Each run in a child of the host.
    Fork,
    /// All runs in the host's process, whose memory is put back after each.
    Snapshot,
}

impl Plan {
    /// Reads a plan. Returns the line that cannot be understood.
    pub(crate) fn parse(text: &str) -> Result<Plan, String> {
        let mut plan = Plan {
            settings: Settings::new("", Strategy::default()),
            time: None,
            watchdog: None,
            replay: None,
            backend: Backend::Snapshot,
            granularity: Granularity::Sync,
            races: Races::AtOnce,
            points: None,
            begin: Begin::Main,
            fresh: None,
            expected: None,
            tells_progress: false,
            tail: None,
            parent: 0,
            is_debugged: false,
            stacks: false,
            output: 2,
        };
        for line in text.lines() {
            let (name, value) = line.split_once('=').ok_or(line)?;
            plan.set(name, value).ok_or(line)?;
        }
        Ok(plan)
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        let settings = &mut self.settings;
        match name {
            "name" => settings.name = value.to_owned().into(),
            "strategy" => settings.strategy = value.parse().ok()?,
            "memory" => {
                settings.memory = match value {
                    "sc" => MemoryModel::Sc,
                    "rc11" => MemoryModel::Rc11,
                    _ => return None,
                }
            }
            "seed" => settings.seed = value.parse().ok()?,
            "runs" => settings.runs = value.parse().ok()?,
            "max_steps" => settings.max_steps = value.parse().ok()?,
            "on_step_limit" => {
                settings.on_step_limit = match value {
                    "fail" => OnStepLimit::Fail,
                    "discard" => OnStepLimit::Discard,
                    _ => return None,
                }
            }
            "races" => settings.races = value.parse().ok()?,
            "consequences" => {
                self.races = match value {
                    "true" => Races::WithConsequences,
                    "false" => Races::AtOnce,
                    _ => return None,
                }
            }
            "points" => {
                let (image, _) = crate::names::image();
                let place = |word: &str| Some(image.wrapping_add_signed(word.parse().ok()?));
                self.points = Some(value.split(',').map(place).collect::<Option<_>>()?);
            }
            "granularity" => {
                self.granularity = match value {
                    "sync" => Granularity::Sync,
                    "racy" => Granularity::Racy,
                    "all" => Granularity::All,
                    _ => return None,
                };
                settings.plain_points = self.granularity != Granularity::Sync;
            }
            "keep_going" => settings.keep_going = value.parse().ok()?,
            "leaks" => {
                settings.warnings.leaks = match value {
                    "ignore" => Leaks::Ignore,
                    "note" => Leaks::Note,
                    "fail" => Leaks::Fail,
                    _ => return None,
                }
            }
            "lock_order" => settings.warnings.lock_order = value.parse().ok()?,
            "explain" => {
                settings.explain = match value {
                    "off" => Explain::Off,
                    "quick" => Explain::Quick,
                    "full" => Explain::Full,
                    _ => return None,
                }
            }
            "time" => self.time = Some(Duration::from_millis(value.parse().ok()?)),
            "watchdog" => self.watchdog = Some(Duration::from_millis(value.parse().ok()?)),
            "replay" => self.replay = Some(value.to_owned()),
            "backend" => {
                self.backend = match value {
                    "fork" => Backend::Fork,
                    "snapshot" => Backend::Snapshot,
                    _ => return None,
                }
            }
            "begin" => {
                self.begin = match value {
                    "main" => Begin::Main,
                    "first-thread" => Begin::FirstThread,
                    _ => return None,
                }
            }
            "fresh" => self.fresh = Some(CString::new(value).ok()?),
            "expect" => self.expected = Some(fs::read(value).ok()?),
            "progress" => self.tells_progress = value.parse().ok()?,
            "tail" => self.tail = Some(value.parse().ok()?),
            "parent" => self.parent = value.parse().ok()?,
            "debugged" => self.is_debugged = value.parse().ok()?,
            "stacks" => self.stacks = value.parse().ok()?,
            "output" => self.output = value.parse().ok()?,
            _ => return None,
        }
        Some(())
    }
}
