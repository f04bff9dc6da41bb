//! Operations: announced, waited for and performed.
//!
//! These functions are what the port calls, without anything in between: where nothing is optimised, each
//! function on the way stores its arguments, also if it is inlined. They take words and not an [`Op`], so that
//! the common path keeps them in registers whatever the others do. Their kind tells the compiler what is known
//! of the operation.

use raddle_core::{Chooser, Effect, Op, Site, ThreadId};
use raddle_engine::known::Known;
use raddle_engine::{Engine, Memory};

use super::{Phase, Run};
use crate::port::{Kind, Operand, Submit};
use crate::{Backend, bare, way_back};

/// The operation with these words. Those that are known need not be kept over a switch. A macro, for where nothing is
/// optimised.
macro_rules! op_of {
    ($kind:ident, $head:ident, $first:ident, $second:ident) => {
        if $kind::BARE {
            Op::from_words($head, 0, 0)
        } else {
            // SAFETY: promised by the caller of whoever asks.
            Op::from_words($head, unsafe { $first.word }, unsafe { $second.word })
        }
    };
}

impl<B: Backend, M: Memory, C: Chooser> Run<'_, B, M, C> {
    /// What announces an operation of this kind, waits for its turn and performs it.
    pub(super) const fn entry<K: Known>(kind: Kind) -> Submit {
        assert!(K::BARE || !kind.is_bare(), "raddle invariant broken: operands that are not told");
        if Engine::<M, C>::chooses_ahead::<K>() {
            Self::ahead::<K>
        } else if C::GRANTS_LEASES {
            Self::with_lease::<K>
        } else if way_back::PAYS && C::DRAWS && !M::WEAK && !(K::ANY || K::ATOMIC || K::CHANNEL) {
            Self::in_turn_and_back::<K>
        } else {
            Self::in_turn::<K>
        }
    }

    /// The same for the run itself.
    #[inline(always)]
    pub(super) fn submit<K: Known>(
        &self,
        head: u64,
        first: u64,
        second: u64,
        site: Site,
    ) -> Effect {
        let run = self as *const Self as *const ();
        let engine = self.engine as *mut ();
        let (first, second) = (Operand { word: first }, Operand { word: second });
        if C::GRANTS_LEASES {
            // SAFETY: both are of this run.
            return unsafe { Self::with_lease::<K>(run, head, first, engine, site, second) };
        }
        // SAFETY: likewise.
        unsafe { Self::in_turn::<K>(run, head, first, engine, site, second) }
    }

    /// Performs the operation at once if the calling thread has a lease that allows it.
    ///
    /// # Safety
    /// `run` points to a run under way, and `engine` to its engine. There are operands, unless the kind has none.
    #[inline(always)]
    unsafe fn with_lease<K: Known>(
        run: *const (),
        head: u64,
        first: Operand,
        engine: *mut (),
        site: Site,
        second: Operand,
    ) -> Effect {
        // SAFETY: promised by the caller.
        let this: &Self = unsafe { bare::follow!(run as Self) };
        let op = op_of!(K, head, first, second);
        // Not by `with_engine`: a closure would take the operation through memory.
        // SAFETY: as there.
        let leased = unsafe { bare::follow_mut!(engine as Engine<M, C>) };
        if let Some(effect) = leased.perform_on_lease::<K>(this.me(), op, site) {
            // Leases end where another phase begins.
            debug_assert!(matches!(this.phase(), Phase::Running));
            return effect;
        }
        // SAFETY: promised by the caller.
        unsafe { Self::without_lease::<K>(run, head, first, engine, site, second) }
    }

    /// Apart from the path with a lease, which then needs few registers and saves none.
    ///
    /// # Safety
    /// As for [`with_lease`](Run::with_lease).
    #[inline(never)]
    pub(super) unsafe fn without_lease<K: Known>(
        run: *const (),
        head: u64,
        first: Operand,
        engine: *mut (),
        site: Site,
        second: Operand,
    ) -> Effect {
        // SAFETY: promised by the caller.
        unsafe { Self::in_turn::<K>(run, head, first, engine, site, second) }
    }

    /// Waits for the turn of the calling thread, and performs the operation.
    ///
    /// # Safety
    /// As for [`with_lease`](Run::with_lease).
    #[inline(always)]
    unsafe fn in_turn<K: Known>(
        run: *const (),
        head: u64,
        first: Operand,
        engine: *mut (),
        site: Site,
        second: Operand,
    ) -> Effect {
        // SAFETY: promised by the caller.
        let this: &Self = unsafe { bare::follow!(run as Self) };
        let op = op_of!(K, head, first, second);
        let me = this.me();
        let turn = match this.phase() {
            Phase::Running => {
                // SAFETY: as for `with_engine`.
                let engine = unsafe { bare::follow_mut!(engine as Engine<M, C>) };
                engine.submit_again::<K>(me, &op, site)
            }
            Phase::Starting => {
                bare::set!(this.phase: Phase = Phase::Running);
                // SAFETY: as above.
                let engine = unsafe { bare::follow_mut!(engine as Engine<M, C>) };
                engine.submit_first::<K>(me, &op, site)
            }
            Phase::Unwinding | Phase::Teardown | Phase::Discarding => {
                this.submit_specially(op.head(), op.first(), op.second(), site)
            }
        };
        let this = if K::ATOMIC && Self::SWITCHES_IN_DOUBT {
            this.wait_in_doubt(me, turn, engine.cast())
        } else {
            this.wait(me, turn)
        };
        this.resume::<K>(me, &op, site)
    }

    /// The same, and goes [back](way_back) to the program by a jump. That pays where switches are the rule and
    /// threads do not all come back to the same place, as those do that have one variable in common. A chooser that
    /// is shown something makes it a call, because that is on the stack.
    ///
    /// # Safety
    /// As for [`with_lease`](Run::with_lease).
    #[inline(never)]
    unsafe fn in_turn_and_back<K: Known>(
        run: *const (),
        head: u64,
        first: Operand,
        engine: *mut (),
        site: Site,
        second: Operand,
    ) -> Effect {
        // SAFETY: promised by the caller.
        way_back::tell::<K>(unsafe { Self::in_turn::<K>(run, head, first, engine, site, second) })
    }

    /// It is the turn of the calling thread to perform what it announced. `None` if there is more to it than usual, and
    /// nothing has happened.
    #[inline(always)]
    pub(super) fn resume_as_usual<K: Known>(&self, op: &Op, site: Site) -> Option<Effect> {
        if !matches!(self.phase(), Phase::Running) {
            return None;
        }
        // SAFETY: as for `with_engine`.
        let engine = unsafe { bare::follow_mut!(self.engine as Engine<M, C>) };
        engine.perform_as_usual::<K>(self.me(), op, site)
    }

    /// The same with whatever there is to it.
    #[cold]
    #[inline(never)]
    pub(super) fn resume_unusually<K: Known>(&self, head: u64, site: Site) -> Effect {
        self.resume::<K>(self.me(), &Op::from_words(head, 0, 0), site)
    }

    /// It is the turn of `me`, the calling thread, to perform what it announced, or the run is over.
    #[inline(always)]
    pub(super) fn resume<K: Known>(&self, me: ThreadId, op: &Op, site: Site) -> Effect {
        // Not by way of the stack either; where nothing is optimised, that is the shorter way.
        let me = if cfg!(debug_assertions) { me } else { self.me() };
        if !matches!(self.phase(), Phase::Running) {
            if K::PASS && op.takes_message() {
                self.line_up_late(op.head());
            }
            return self.resume_specially(op.head(), op.first(), op.second(), site);
        }
        // SAFETY: as for `with_engine`.
        let engine = unsafe { bare::follow_mut!(self.engine as Engine<M, C>) };
        if !K::ANY && !M::WEAK {
            return engine.perform_known::<K>(me, op, site);
        }
        match engine.perform::<K>(me, *op, site) {
            Some(effect) => effect,
            None => self.end_within(op.head(), op.first(), op.second(), site),
        }
    }
}
