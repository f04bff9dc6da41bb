//! Schedulers of users as raddle's explorers.

use std::cell::RefCell;

use raddle::strategy::{
    Action, Choices, Chooser, Covered, Event, Explorer, Pick, Point, Schedule, Trace,
};

use super::{Scheduler, Task, TaskId};

thread_local! {
    /// The scheduler of the check that begins on this OS thread. A scheduler need not be `Send`.
    static NEXT: RefCell<Option<Box<dyn Scheduler>>> = const { RefCell::new(None) };
}

/// Lets the scheduler choose in the next check on this OS thread.
pub(crate) fn install(settings: raddle::Config, scheduler: Box<dyn Scheduler>) -> raddle::Config {
    NEXT.set(Some(scheduler));
    settings.runs(u64::MAX).explorer(|_seed| Bridge { chooser: Asked(NEXT.take()) })
}

struct Bridge {
    chooser: Asked,
}

/// `None` if the check has asked for a second explorer, for which there is no scheduler.
struct Asked(Option<Box<dyn Scheduler>>);

impl Explorer for Bridge {
    fn next(&mut self, prefix: &mut Schedule) -> bool {
        prefix.clear();
        self.chooser.0.as_mut().is_some_and(|scheduler| scheduler.new_execution().is_some())
    }

    fn choices(&mut self) -> Choices<'_> {
        Choices::Chooser(&mut self.chooser)
    }

    fn learn(&mut self, _run: u64, _trace: &Trace) {}

    fn covered(&self, _is_done: bool) -> Covered {
        Covered::Nothing
    }

    fn skips_equivalent(&self) -> bool {
        false
    }
}

impl Chooser for Asked {
    fn choose(&mut self, at: &Point<'_>, past: &[Event]) -> Pick {
        let Some(scheduler) = &mut self.0 else { return Pick::Abandon };
        match at {
            Point::Thread(threads) => {
                let mut tasks: Vec<Task> = threads
                    .enabled
                    .iter()
                    .map(|thread| Task { id: TaskId::from(thread.index()) })
                    .collect();
                tasks.sort_by_key(Task::id);
                let tasks: Vec<&Task> = tasks.iter().collect();
                let running = past.last().map(|event| event.id.thread);
                let is_yielding = running.is_some_and(|running| {
                    let pending = &threads.pending[running.index()];
                    matches!(pending.op.action(), Action::Pause(_))
                });
                let current = running.map(|running| TaskId::from(running.index()));
                let Some(next) = scheduler.next_task(&tasks, current, is_yielding) else {
                    return Pick::Abandon;
                };
                let option =
                    threads.enabled.iter().position(|thread| thread.index() == usize::from(next));
                Pick::Take(option.expect("the scheduler chose a task that cannot run"))
            }
            Point::Value { bound, .. } => {
                Pick::Take((scheduler.next_u64() % u64::from(*bound)) as usize)
            }
            // The newest store, as under sequential consistency.
            Point::Source { options, .. } | Point::Place { options, .. } => {
                Pick::Take(options.len() - 1)
            }
        }
    }
}
