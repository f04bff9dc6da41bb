//! What the program calls its threads and objects.

use raddle_core::{ObjectId, ThreadId};

use super::Crew;
use crate::{Backend, port};

impl<B: Backend> Crew<B> {
    pub(super) fn call_thread(&self, thread: ThreadId, name: &str) {
        let mut names = self.thread_names.borrow_mut();
        let run = port::run_number();
        match names.iter_mut().find(|known| known.0 == thread) {
            // Most programs give the same names in every run.
            Some(known) if known.1 == name => known.2 = run,
            Some(known) => (known.1, known.2) = (name.to_owned(), run),
            None => names.push((thread, name.to_owned(), run)),
        }
    }

    /// What the program called its threads in the last run.
    pub(crate) fn thread_names(&self) -> Vec<(ThreadId, String)> {
        let (run, names) = (self.epochs.last(), self.thread_names.borrow());
        let here = names.iter().filter(|known| known.2 == run);
        here.map(|known| (known.0, known.1.clone())).collect()
    }

    pub(super) fn call_object(&self, object: ObjectId, name: &str) {
        let mut names = self.extras.get().object_names.borrow_mut();
        // In the order of their objects, of which the newest is named most often.
        match names.binary_search_by_key(&object, |known| known.0) {
            Ok(place) => names[place].1 = name.to_owned(),
            Err(place) => names.insert(place, (object, name.to_owned())),
        }
    }

    pub(crate) fn object_names(&self) -> Vec<(ObjectId, String)> {
        self.extras.look().object_names.borrow().clone()
    }
}
