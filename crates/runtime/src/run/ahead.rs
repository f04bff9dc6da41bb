//! Operations for which it is chosen whose turn it is before they are announced. Most need not be announced then.

use raddle_core::{Chooser, Effect, Op, Site, ThreadId};
use raddle_engine::known::Known;
use raddle_engine::{Engine, Memory, Turn};

use super::{Phase, Run};
use crate::{Backend, bare};

impl<B: Backend, M: Memory, C: Chooser> Run<'_, B, M, C> {
    /// As [`in_turn`](Run::in_turn), for operations without operands: chooses first, so that nothing has to be
    /// announced if it is the caller's turn.
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub(super) unsafe fn ahead<K: Known>(
        run: *const (),
        head: u64,
        _first: u64,
        _second: u64,
        site: Site,
        engine: *mut (),
    ) -> Effect {
        // SAFETY: promised by the caller.
        let this: &Self = unsafe { bare::follow!(run as Self) };
        let engine: *mut Engine<M, C> = engine.cast();
        let me = this.me();
        let mut turn = Turn::END;
        if matches!(this.phase(), Phase::Running) {
            // SAFETY: as for `with_engine`.
            turn = unsafe { bare::follow_mut!(engine as Engine<M, C>) }
                .choose_ahead::<K>(me, &Op::from_words(head, 0, 0));
        }
        // Two calls, and both end this function by a jump: it would otherwise return after a switch.
        if turn.is_of(me) {
            this.submit_own::<K>(engine, head, site, turn)
        } else {
            this.submit_chosen::<K>(engine, head, site, turn)
        }
    }

    /// Performs an operation that was not announced, because it was chosen before that it is the caller's turn.
    #[inline(never)]
    fn submit_own<K: Known>(
        &self,
        engine: *mut Engine<M, C>,
        head: u64,
        site: Site,
        turn: Turn,
    ) -> Effect {
        let op = Op::from_words(head, 0, 0);
        // SAFETY: as for `with_engine`.
        let own = unsafe { bare::follow_mut!(engine as Engine<M, C>) };
        match own.perform_unannounced::<K>(ThreadId(turn.word()), &op, site) {
            Some(effect) => effect,
            None => self.submit_chosen::<K>(engine, head, site, turn),
        }
    }

    /// Announces an operation after it was chosen whose turn it is then; or before, if that is the end.
    #[inline(never)]
    fn submit_chosen<K: Known>(
        &self,
        engine: *mut Engine<M, C>,
        head: u64,
        site: Site,
        turn: Turn,
    ) -> Effect {
        if matches!(turn, Turn::END) {
            // SAFETY: as for `with_engine`.
            unsafe { bare::follow_mut!(engine as Engine<M, C>) }.look_ahead();
            let run: *const Self = self;
            // SAFETY: both are of this run.
            return unsafe {
                Self::without_lease::<K>(run.cast(), head, 0, 0, site, engine.cast())
            };
        }
        let me = self.me();
        let op = Op::from_words(head, 0, 0);
        // SAFETY: as above.
        unsafe { bare::follow_mut!(engine as Engine<M, C>) }.announce::<K>(me, &op, site);
        let this = if turn.is_of(me) { self } else { self.switch(me, ThreadId(turn.word())) };
        this.resume::<K>(me, &op, site)
    }
}
