//! The current thread or task.

mod labels;

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use raddle::drop_in::ThreadId;

pub use labels::Labels;

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

type ByTask<T> = HashMap<TaskId, T>;

type Tags = ByTask<Arc<dyn Tag>>;

thread_local! {
    /// The labels and tags of the tasks of an execution, and the number of that execution.
    static TASKS: RefCell<(u64, ByTask<Labels>, Tags)> = RefCell::default();
}

fn with_tasks<R>(work: impl FnOnce(&mut ByTask<Labels>, &mut Tags) -> R) -> R {
    let here = raddle::drop_in::execution_number();
    // Labels of the program may look at others when they are dropped.
    let before = TASKS.with_borrow_mut(|(execution, labels, tags)| {
        let is_new = std::mem::replace(execution, here) != here;
        is_new.then(|| (std::mem::take(labels), std::mem::take(tags)))
    });
    drop(before);
    TASKS.with_borrow_mut(|(_, labels, tags)| work(labels, tags))
}

/// A new task has the labels and the tag of the task that spawns it, changed by that one's [`ChildLabelFn`].
pub(crate) fn inherit(parent: ThreadId, child: ThreadId) {
    let [parent, child] = [parent, child].map(|thread| TaskId(thread.index()));
    let labels = with_tasks(|labels, tags| {
        if let Some(tag) = tags.get(&parent).cloned() {
            tags.insert(child, tag);
        }
        labels.get(&parent).cloned()
    });
    let Some(mut labels) = labels else { return };
    if let Some(ChildLabelFn(change)) = labels.get().cloned() {
        change(child, &mut labels);
    }
    with_tasks(|all, _| all.insert(child, labels));
}

/// Changes the labels of a task that is about to start.
type Change = dyn Fn(TaskId, &mut Labels);

/// A label that changes the labels of every task that its task spawns.
#[derive(Clone)]
pub struct ChildLabelFn(pub Arc<Change>);

impl fmt::Debug for ChildLabelFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChildLabelFn")
    }
}

/// Calls a function with the labels of the task.
pub fn with_labels_for_task<F, T>(task_id: TaskId, f: F) -> T
where
    F: FnOnce(&mut Labels) -> T,
{
    with_tasks(|labels, _| f(labels.entry(task_id).or_default()))
}

/// Returns the label of this type that the task has.
pub fn get_label_for_task<T: Clone + fmt::Debug + 'static>(task_id: TaskId) -> Option<T> {
    with_tasks(|labels, _| labels.get(&task_id)?.get().cloned())
}

/// Gives the task a label. Returns the label of this type that it had.
pub fn set_label_for_task<T: Clone + fmt::Debug + 'static>(task_id: TaskId, value: T) -> Option<T> {
    with_labels_for_task(task_id, |labels| labels.insert(value))
}

/// Removes the label of this type from the task, and returns it.
pub fn remove_label_for_task<T: Clone + fmt::Debug + 'static>(task_id: TaskId) -> Option<T> {
    with_labels_for_task(task_id, Labels::remove)
}

/// Returns the name of the task. The name that its builder gave it is known to the task itself only.
pub fn get_name_for_task(task_id: TaskId) -> Option<TaskName> {
    let is_own = get_current_task() == Some(task_id);
    let built = || raddle::thread::current().name().map(TaskName::from);
    get_label_for_task(task_id).or_else(|| built().filter(|_| is_own))
}

/// Names the task. Reports show the name if it is the calling one. Returns the name that it had.
pub fn set_name_for_task(task_id: TaskId, task_name: impl Into<TaskName>) -> Option<TaskName> {
    let name = task_name.into();
    if get_current_task() == Some(task_id) {
        raddle::drop_in::name_thread(&name.0);
    }
    set_label_for_task(task_id, name)
}

/// A value that tells tasks apart. New tasks have the tag of the task that spawns them.
pub trait Tag: Taggable {
    /// Returns the value, for example for a downcast.
    fn as_any(&self) -> &dyn Any;
}

/// A type whose values may be tags.
pub trait Taggable: fmt::Debug {}

impl<T: Taggable + Any> Tag for T {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Tags the calling task. Returns the tag that it had.
///
/// # Panics
/// Panics outside of executions.
pub fn set_tag_for_current_task(tag: Arc<dyn Tag>) -> Option<Arc<dyn Tag>> {
    set_tag_for_task(me(), tag)
}

/// Returns the tag of the calling task.
///
/// # Panics
/// Panics outside of executions.
pub fn get_tag_for_current_task() -> Option<Arc<dyn Tag>> {
    get_tag_for_task(me())
}

/// Tags the task. Returns the tag that it had.
pub fn set_tag_for_task(task: TaskId, tag: Arc<dyn Tag>) -> Option<Arc<dyn Tag>> {
    with_tasks(|_, tags| tags.insert(task, tag))
}

/// Returns the tag of the task.
pub fn get_tag_for_task(task_id: TaskId) -> Option<Arc<dyn Tag>> {
    with_tasks(|_, tags| tags.get(&task_id).cloned())
}
