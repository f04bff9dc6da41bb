//! What a run offers to the port, without its types.

use std::any::Any;
use std::rc::Rc;

use raddle_core::{Effect, ObjectId, Site, ThreadId};
use raddle_engine::{Initial, Turn};

use super::lives::Joined;
use super::unwinding::Unwinding;
use crate::Body;
use crate::backend::HOST;
use crate::way_back::Visit;

/// How the body of a thread ended.
pub(crate) type Caught = Result<(), Box<dyn Any + Send>>;

/// The run, two words of an operation, the engine of the run, where it is announced, and the third word.
///
/// In this order, for operations without operands: the registers that are free then are those that numbers are
/// drawn with, and the others stay where they are until the operation is announced.
pub(crate) type Submit = unsafe fn(*const (), u64, Operand, *mut (), Site, Operand) -> Effect;

/// A word of an operation, or nothing at all if it [has no operands](super::Kind::is_bare): no register is set to zero then.
#[derive(Copy, Clone)]
pub(crate) union Operand {
    pub(crate) word: u64,
    pub(crate) none: (),
}

/// What a run offers, without its types.
#[derive(Copy, Clone)]
pub(crate) struct Entries {
    /// By [`Kind`](super::Kind). They take the words of the operation, which fit in registers.
    pub(crate) submit: [Submit; 12],
    pub(crate) declare: unsafe fn(*const (), Initial, Site) -> ObjectId,
    pub(crate) touch: unsafe fn(*const (), ObjectId, bool, Site),
    /// Whether plain accesses on this line are scheduling points.
    pub(crate) is_racy: unsafe fn(*const (), Site) -> bool,
    pub(crate) spurious: unsafe fn(*const (), Site) -> bool,
    pub(crate) call_object: unsafe fn(*const (), ObjectId, &str),
    pub(crate) allocated: unsafe fn(*const (), usize, usize),
    pub(crate) freed: unsafe fn(*const (), usize),
    /// An object was declared that is at this address.
    pub(crate) born: unsafe fn(*const (), ObjectId, usize),
    pub(crate) keep: unsafe fn(*const (), *mut u8, usize),
    pub(crate) newest: unsafe fn(*const (), ObjectId) -> u64,
    pub(crate) life: unsafe fn(*const (), ThreadId) -> ObjectId,
    /// Takes the number of a thread and a site.
    pub(crate) join: Visit,
    pub(crate) join_otherwise: unsafe fn(*const (), Joined, ThreadId, Site),
    pub(crate) parker: unsafe fn(*const (), ThreadId, Site) -> ObjectId,
    pub(crate) time: unsafe fn(*const ()) -> u64,
    pub(crate) advance: unsafe fn(*const (), u64),
    pub(crate) belongings: unsafe fn(*const ()) -> Option<Rc<dyn Any>>,
    pub(crate) endow: unsafe fn(*const (), Option<Rc<dyn Any>>),
    /// Takes the parts of a body and a site.
    pub(crate) spawn: Visit,
    pub(crate) spawn_unusually: unsafe fn(*const (), ThreadId, Body, Site) -> ThreadId,
    pub(crate) refuse_spawn: unsafe fn(*const (), ThreadId, Site) -> ThreadId,
    pub(crate) call_thread: unsafe fn(*const (), &str),
    pub(crate) work: unsafe fn(*const ()),
    pub(crate) finish: unsafe fn(*const (), Caught) -> Parting,
    pub(crate) exit: unsafe fn(*const ()) -> Parting,
    pub(crate) panicked: unsafe fn(*const ()),
    pub(crate) unwinding: unsafe fn(*const ()) -> Unwinding,
    pub(crate) take_panic: unsafe fn(*const (), ThreadId) -> Option<Box<dyn Any + Send>>,
    /// Whether a coroutine touches this address when its stack overflows.
    pub(crate) guards: unsafe fn(*const (), usize) -> bool,
    pub(crate) thread: unsafe fn(*const ()) -> ThreadId,
    pub(crate) token: unsafe fn(*const ()) -> String,
    /// Nothing outside a run.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only a watchdog asks"))]
    pub(crate) pulse: unsafe fn(*const ()) -> Option<Pulse>,
}

/// A sign of life of a run.
#[derive(Copy, Clone)]
#[cfg_attr(not(unix), expect(dead_code, reason = "only a watchdog looks at it"))]
pub(crate) struct Pulse {
    /// How many steps were made.
    pub(crate) steps: usize,
    /// Where the calling thread was seen last, if it was.
    pub(crate) last: Option<Site>,
}

/// Where a coroutine goes whose thread is ending.
///
/// Two words, which come back in registers.
pub(crate) struct Parting {
    /// The pool it belongs to.
    pub(crate) pool: *mut (),
    /// The thread that is ending, whether it has ended, and who goes on.
    words: u64,
}

impl Parting {
    /// From `from` to `to`, another thread, or the host if the run is over. If `from` has not `ended`,
    /// it [`exit`](super::exit)s when it comes back.
    #[inline(always)]
    pub(crate) fn new(pool: *mut (), from: ThreadId, to: Turn, ended: bool) -> Parting {
        let words = u64::from(to.word()) << 32 | u64::from(from.0) << 1 | u64::from(ended);
        debug_assert!(from.0 < 1 << 31, "raddle invariant broken: more threads than memory");
        Parting { pool, words }
    }

    #[inline(always)]
    pub(crate) fn from(&self) -> usize {
        ((self.words as u32) >> 1) as usize
    }

    /// The number of a thread, or the [host's](HOST).
    #[inline(always)]
    pub(crate) fn to(&self) -> usize {
        const { assert!(Turn::END.word() as i32 as usize == HOST) };
        (self.words as i64 >> 32) as usize
    }

    #[inline(always)]
    pub(crate) fn has_ended(&self) -> bool {
        self.words & 1 != 0
    }
}

/// What a run does otherwise than most. As large as a word that can be copied as one.
#[derive(Copy, Clone)]
#[repr(align(4))]
pub(crate) struct Ways {
    pub(crate) plain: Plain,
    /// Whether waits may end, and weak exchanges fail, without a reason.
    pub(crate) spurious: bool,
    /// Whether the allocator tells what the program allocates.
    pub(crate) heap: bool,
    /// Whether a thread has begun to unwind in it.
    pub(crate) unwound: bool,
}

/// What an access to a plain variable is.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Plain {
    /// Written down, no more.
    Noted,
    /// A scheduling point.
    Point,
    /// A scheduling point on some lines.
    PointIfRacy,
}

/// The entries outside a run: whoever calls them forgot to look.
pub(super) static OUTSIDE: Entries = Entries {
    submit: [|_, _, _, _, _, _| outside(); 12],
    declare: |_, _, _| outside(),
    touch: |_, _, _, _| outside(),
    is_racy: |_, _| outside(),
    spurious: |_, _| outside(),
    call_object: |_, _, _| outside(),
    allocated: |_, _, _| outside(),
    freed: |_, _| outside(),
    born: |_, _, _| outside(),
    keep: |_, _, _| outside(),
    newest: |_, _| outside(),
    life: |_, _| outside(),
    join: nowhere,
    join_otherwise: |_, _, _, _| outside(),
    parker: |_, _, _| outside(),
    time: |_| outside(),
    advance: |_, _| outside(),
    belongings: |_| outside(),
    endow: |_, _| outside(),
    spawn: nowhere,
    spawn_unusually: |_, _, _, _| outside(),
    refuse_spawn: |_, _, _| outside(),
    call_thread: |_, _| outside(),
    work: |_| outside(),
    finish: |_, _| outside(),
    exit: |_| outside(),
    panicked: |_| outside(),
    unwinding: |_| outside(),
    take_panic: |_, _| outside(),
    guards: |_, _| false,
    thread: |_| outside(),
    token: |_| outside(),
    pulse: |_| None,
};

unsafe extern "C" fn nowhere(_: *const (), _: *const (), _: *const (), _: *const ()) -> u64 {
    outside()
}

#[cold]
pub(super) fn outside() -> ! {
    panic!("raddle invariant broken: an operation was announced outside a run")
}
