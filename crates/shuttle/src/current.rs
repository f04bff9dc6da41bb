//! The current thread or task.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

/// The number of a thread or task in its execution. Main is 0.
#[derive(PartialEq, Eq, Hash, Clone, Copy, PartialOrd, Ord)]
pub struct TaskId(usize);

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match get_name_for_task(*self) {
            Some(name) => write!(f, "{name:?}({})", self.0),
            None => f.debug_tuple("TaskId").field(&self.0).finish(),
        }
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl From<usize> for TaskId {
    fn from(id: usize) -> TaskId {
        TaskId(id)
    }
}

impl From<TaskId> for usize {
    fn from(task: TaskId) -> usize {
        task.0
    }
}

/// The name of a task.
#[derive(Clone, PartialEq, Eq)]
pub struct TaskName(String);

impl From<String> for TaskName {
    fn from(name: String) -> TaskName {
        TaskName(name)
    }
}

impl From<&str> for TaskName {
    fn from(name: &str) -> TaskName {
        TaskName(name.to_owned())
    }
}

impl From<TaskName> for String {
    fn from(name: TaskName) -> String {
        name.0
    }
}

impl fmt::Debug for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the number of steps of the execution so far.
pub fn context_switches() -> usize {
    raddle::drop_in::steps()
}

/// Begins to count the steps anew. No effect: the limit holds for the whole execution.
pub fn reset_step_count() {}

/// Returns the calling thread, or `None` outside of executions.
pub fn get_current_task() -> Option<TaskId> {
    raddle::drop_in::thread_index().map(TaskId)
}

/// Returns the calling thread, or `None` outside of executions.
pub fn try_get_current_task() -> Option<TaskId> {
    get_current_task()
}

/// Returns the calling thread.
///
/// ```
/// shuttle::check_random(|| assert_eq!(usize::from(shuttle::current::me()), 0), 1);
/// ```
///
/// # Panics
/// Panics outside of executions.
pub fn me() -> TaskId {
    get_current_task().expect("there is no current task outside of a test")
}

type Values = HashMap<(TaskId, TypeId), Box<dyn Any>>;

thread_local! {
    /// The labels of the tasks of an execution, and the number of that execution.
    static LABELS: RefCell<(u64, Values)> = RefCell::new((0, HashMap::new()));
}

fn with_labels<R>(work: impl FnOnce(&mut Values) -> R) -> R {
    LABELS.with_borrow_mut(|(execution, values)| {
        let here = raddle::drop_in::execution_number();
        if *execution != here {
            *execution = here;
            values.clear();
        }
        work(values)
    })
}

/// Returns the label of this type that the task has.
pub fn get_label_for_task<T: Clone + fmt::Debug + 'static>(task_id: TaskId) -> Option<T> {
    with_labels(|labels| labels.get(&(task_id, TypeId::of::<T>()))?.downcast_ref().cloned())
}

/// Gives the task a label. Returns the label of this type that it had.
pub fn set_label_for_task<T: Clone + fmt::Debug + 'static>(task_id: TaskId, value: T) -> Option<T> {
    let before = with_labels(|labels| labels.insert((task_id, TypeId::of::<T>()), Box::new(value)));
    before?.downcast().ok().map(|before| *before)
}

/// Removes the label of this type from the task, and returns it.
pub fn remove_label_for_task<T: Clone + fmt::Debug + 'static>(task_id: TaskId) -> Option<T> {
    let before = with_labels(|labels| labels.remove(&(task_id, TypeId::of::<T>())));
    before?.downcast().ok().map(|before| *before)
}

/// Returns the name of the task.
pub fn get_name_for_task(task_id: TaskId) -> Option<TaskName> {
    get_label_for_task(task_id)
}

/// Names the task. Reports show the name if it is the calling one. Returns the name that it had.
pub fn set_name_for_task(task_id: TaskId, task_name: impl Into<TaskName>) -> Option<TaskName> {
    let name = task_name.into();
    if get_current_task() == Some(task_id) {
        raddle::drop_in::name_thread(&name.0);
    }
    set_label_for_task(task_id, name)
}
