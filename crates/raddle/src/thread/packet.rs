//! A thread of a run and what it returns, shared by the thread and its `JoinHandle`.
//!
//! Two sides have hold of a packet: the thread, which runs its body and leaves the result, and the
//! handle. Whoever lets go last frees it. The thread's side stays on the OS thread of the run; the
//! handle can be anywhere. As long as it is in the run it was made in, nothing can come between
//! looking whether the other side is gone and writing down that this one is, so that no atomic
//! read-modify-write is needed. A handle that is dropped on another OS thread in the very moment in
//! which the thread ends may leave the packet to nobody: its memory and the result are leaked.

#![allow(clippy::transmute_ptr_to_ref, reason = "what `bare` follows is not checked in any build")]

use std::alloc::Layout;
use std::cell::{Cell, UnsafeCell};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use raddle_core::ThreadId as Id;
use raddle_runtime::port::Inside;
use raddle_runtime::{Body, Fate, bare, blocks};

use super::Thread;
use super::belongings::Ending;

/// The side of the handle.
pub(super) struct Packet<T>(NonNull<Head<T>>);

/// What the handle knows of a packet.
#[repr(C)]
struct Head<T> {
    /// Set when one of the two sides has let go.
    is_left: AtomicBool,
    /// Whether there is a value.
    has_value: Cell<bool>,
    /// That of the whole packet, if it does not come from kept blocks.
    layout: Option<Layout>,
    /// Belongs to the handle.
    thread: Thread,
    /// Written by the thread before its end, and then the handle's.
    value: UnsafeCell<MaybeUninit<T>>,
}

/// A whole packet; its beginning is what the handle knows.
#[repr(C)]
struct Whole<F, T> {
    head: Head<T>,
    /// Taken by the thread when it begins, or dropped if it never does.
    body: ManuallyDrop<F>,
}

// SAFETY: a handle may go to another OS thread, where it can do no more than be dropped: everything
// else looks first whether the caller is part of the run, see `Thread::here`. The value it may drop
// there can be sent. `is_left` orders that after all that the thread did.
unsafe impl<T> Send for Packet<T> {}
// SAFETY: a shared handle shows the `Thread`, which can be shared.
unsafe impl<T> Sync for Packet<T> {}

impl<F, T> Whole<F, T> {
    const OWN_LAYOUT: Option<Layout> = {
        let layout = Layout::new::<Self>();
        if blocks::fits(layout) { None } else { Some(layout) }
    };
}

/// A thread that will run `f`: its body, and its packet.
#[inline(always)]
pub(super) fn new<F, T>(inside: Inside, f: F, thread: Thread) -> (Body, Packet<T>)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let memory = match const { Whole::<F, T>::OWN_LAYOUT } {
        None => blocks::allocate_in(inside),
        Some(layout) => blocks::allocate(layout),
    };
    let whole = memory.cast::<Whole<F, T>>();
    let place = whole.as_ptr();
    // SAFETY: the memory is fresh and of the right layout.
    let place = unsafe { bare::follow_mut!(place as MaybeUninit<Whole<F, T>>) };
    *place = MaybeUninit::new(Whole {
        head: Head {
            is_left: AtomicBool::new(false),
            has_value: Cell::new(false),
            layout: const { Whole::<F, T>::OWN_LAYOUT },
            thread,
            value: UnsafeCell::new(MaybeUninit::uninit()),
        },
        body: ManuallyDrop::new(f),
    });
    let fate = const { &Fate { run: run::<F, T>, give_up: give_up::<F, T> } };
    // SAFETY: both take the thread's side of a packet of these types, which this is.
    let body = unsafe { Body::new(whole.cast(), fate) };
    (body, Packet(whole.cast()))
}

/// # Safety
/// `data` is the thread's side of a packet of these types, whose body nobody has taken.
unsafe fn run<F: FnOnce() -> T, T>(data: NonNull<()>) {
    let whole = data.cast::<Whole<F, T>>().as_ptr();
    // However the body ends.
    let side = Side::<T>(data.cast());
    // SAFETY: the packet is there as long as `side` is.
    let body = unsafe { &raw mut (*whole).body };
    // SAFETY: likewise, and nobody else touches the body.
    let body = unsafe { bare::follow_mut!(body as ManuallyDrop<F>) };
    // SAFETY: nobody has taken it, and nobody will look at it again.
    let function = unsafe { ManuallyDrop::take(body) };
    let value = {
        let _ending = Ending;
        function()
    };
    let head = side.0.as_ptr();
    // SAFETY: as above.
    let head = unsafe { bare::follow!(head as Head<T>) };
    let place = head.value.get();
    // SAFETY: the thread has not ended, so that the value is still its own.
    *unsafe { bare::follow_mut!(place as MaybeUninit<T>) } = MaybeUninit::new(value);
    bare::set!(head.has_value: bool = true);
}

/// # Safety
/// As for [`run`].
unsafe fn give_up<F, T>(data: NonNull<()>) {
    let whole = data.cast::<Whole<F, T>>().as_ptr();
    let _side = Side::<T>(data.cast());
    // SAFETY: the packet is there as long as the side is, and nobody else touches the body.
    let body = unsafe { &mut (*whole).body };
    // SAFETY: nobody has taken it, and nobody will look at it again.
    unsafe { ManuallyDrop::drop(body) };
}

/// The thread's side of a packet.
struct Side<T>(NonNull<Head<T>>);

impl<T> Drop for Side<T> {
    #[inline(always)]
    fn drop(&mut self) {
        let head = self.0.as_ptr();
        // SAFETY: this side has not let go.
        let head = unsafe { bare::follow!(head as Head<T>) };
        // What the other side did with the packet comes before its end.
        if bare::is_set(&head.is_left) {
            // SAFETY: both sides have let go.
            unsafe { free(self.0) };
        } else {
            bare::set_flag(&head.is_left);
        }
    }
}

impl<T> Packet<T> {
    /// The thread.
    #[inline(always)]
    pub(super) fn thread(&self) -> &Thread {
        let head = self.0.as_ptr();
        // SAFETY: this side has not let go, and the thread's side does not touch this field.
        unsafe { &bare::follow!(head as Head<T>).thread }
    }

    /// The thread goes by this number in its run.
    #[inline(always)]
    pub(super) fn is_started_as(&mut self, id: Id) {
        // SAFETY: likewise, and nobody has borrowed it from this side.
        unsafe { (*self.0.as_ptr()).thread.started_as(id) };
    }

    /// Lets go of the packet of a thread that has ended, for what the thread returned, if it did.
    ///
    /// # Safety
    /// The caller is part of the run of the thread, which is this one, and the thread has ended.
    #[inline(always)]
    pub(super) unsafe fn redeem(self, inside: Inside) -> Option<T> {
        let head = self.0.as_ptr();
        // SAFETY: this side has not let go.
        let head = unsafe { bare::follow!(head as Head<T>) };
        let mut value = None;
        if bare::get!(head.has_value: bool) {
            bare::set!(head.has_value: bool = false);
            let place = head.value.get();
            // SAFETY: the thread has ended: the value belongs to the handle.
            let place = unsafe { bare::follow!(place as MaybeUninit<T>) };
            // SAFETY: there is one, and by `has_value` there is none any more.
            value = Some(unsafe { place.assume_init_read() });
        }
        #[expect(clippy::redundant_pattern_matching, reason = "a call where nothing is optimised")]
        let is_simple = matches!(head.layout, None) && head.thread.is_simple();
        if is_simple && bare::is_set(&head.is_left) {
            let memory = self.0.cast();
            std::mem::forget(self);
            // SAFETY: both sides have let go, and nothing in it needs to be dropped.
            unsafe { blocks::give_back_in(inside, memory) };
        }
        value
    }
}

impl<T> Drop for Packet<T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: this side has not let go.
        let is_left = unsafe { &self.0.as_ref().is_left };
        let is_last = if self.thread().here().is_some() {
            is_left.load(Ordering::Relaxed) || {
                is_left.store(true, Ordering::Relaxed);
                false
            }
        } else {
            is_left.swap(true, Ordering::AcqRel)
        };
        if is_last {
            // SAFETY: both sides have let go.
            unsafe { free(self.0) };
        }
    }
}

/// # Safety
/// Nobody uses the packet any more, and its body was taken or dropped.
#[inline(always)]
unsafe fn free<T>(packet: NonNull<Head<T>>) {
    let memory = packet.cast();
    // SAFETY: it is initialised, nobody else uses it, and the memory is not looked at again.
    let head = unsafe { packet.read() };
    let Head { layout, thread, value, has_value, is_left: _ } = head;
    let layout = layout.unwrap_or(Layout::new::<()>());
    // SAFETY: `new` allocated it so; what comes from kept blocks can have any layout that does.
    unsafe { blocks::give_back(memory, layout) };
    drop(thread);
    if has_value.get() {
        // SAFETY: it was written and not taken.
        drop(unsafe { value.into_inner().assume_init() });
    }
}

#[cfg(test)]
mod tests {
    // The handle knows the beginning of a packet whatever the body is.
    #[test]
    fn the_head_comes_first() {
        assert_eq!(std::mem::offset_of!(super::Whole<[u128; 3], u8>, head), 0);
    }
}
