//! Runs that do more than others: what they record, and what they do after a panic.

use alloc::boxed::Box;
use alloc::string::{String, ToString as _};

use raddle_core::{
    Description, Details, Ending, EventId, Note, NoteKind, Panic, Site, Special, Stack, ThreadId,
};

use super::Engine;
use crate::Memory;

impl<M: Memory> Engine<M> {
    /// Sets what the next runs do besides what every run does. The substrate follows [`Special::stacks`] and
    /// [`Special::orders`].
    pub fn set_special(&mut self, special: Option<Special>) {
        self.special = special.map(Box::new);
    }

    /// Returns what the runs do besides what every run does, or `None` if nothing.
    #[inline(always)]
    pub fn special(&self) -> Option<&Special> {
        self.special.as_deref()
    }

    /// Returns the id of the next event of a thread.
    pub fn coming_event(&self, thread: ThreadId) -> EventId {
        self.next_event(thread)
    }

    /// Ends the run because of a panic that escaped a thread, unless it is to be [led](Special::leads_panics) to its
    /// end.
    pub fn fail(&mut self, panic: Panic) {
        if self.special().is_some_and(|special| special.leads_panics) {
            self.lead_after(panic);
        } else {
            self.end_with(Ending::Panicked(panic));
        }
    }

    /// Leads the run to its end after a panic. Its trace ends with the first one.
    #[cold]
    fn lead_after(&mut self, panic: Panic) {
        if self.is_leading() || self.state.is_over() {
            return;
        }
        let thread = panic.thread;
        self.give_up_with(Ending::Panicked(panic), Some(thread));
        self.followed = self.prefix.len();
    }

    /// Returns whether panics no longer matter, because the run is led to its end after one.
    pub fn is_led_after_panic(&self) -> bool {
        self.is_leading() && self.special().is_some_and(|special| special.leads_panics)
    }

    /// Records a line of `by`, if the run records lines.
    #[cold]
    pub fn note(&mut self, by: ThreadId, kind: NoteKind, text: String, site: Site) {
        if self.special().is_some_and(|special| special.records) {
            let place = (site != Site::UNKNOWN).then(|| site.to_string());
            self.add_note(by, kind, text, place);
        }
    }

    /// Records a panic that left `by` and did not end the run.
    #[cold]
    pub fn note_panic(&mut self, by: ThreadId, message: String, place: Option<String>) {
        self.add_note(by, NoteKind::Panic, message, place);
    }

    fn add_note(&mut self, by: ThreadId, kind: NoteKind, text: String, place: Option<String>) {
        if !self.state.is_over() {
            let after = self.trace.events.len();
            self.details().notes.push(Note { thread: by, after, place, kind, text });
        }
    }

    /// Records what is known of an object.
    #[cold]
    pub fn describe(&mut self, description: Description) {
        self.details().descriptions.push(description);
    }

    /// Records a stack.
    #[cold]
    pub fn record_stack(&mut self, stack: Stack) {
        self.details().stacks.push(stack);
    }

    fn details(&mut self) -> &mut Details {
        self.trace.details.get_or_insert_default()
    }
}
