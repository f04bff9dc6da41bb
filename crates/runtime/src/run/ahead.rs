//! Operations for which it is chosen whose turn it is before they are announced. Most need not be announced then.

use raddle_core::{Chooser, Effect, Op, Site, ThreadId};
use raddle_engine::known::Known;
use raddle_engine::{Engine, Memory, Turn};

use super::{Phase, Run};
use crate::Backend;

impl<B: Backend, M: Memory, C: Chooser> Run<'_, B, M, C> {
    /// As [`submit`](Run::submit), for operations without operands: chooses first, so that nothing has to be
    /// announced if it is the caller's turn.
    #[inline(always)]
    pub(super) fn submit_ahead<K: Known>(
        &self,
        engine: *mut Engine<M, C>,
        head: u64,
        site: Site,
    ) -> Effect {
        let me = self.thread.get();
        let op = Op::from_words(head, 0, 0);
        let mut turn = Turn::END;
        if matches!(self.phase.get(), Phase::Running) {
            // SAFETY: as for `with_engine`.
            turn = unsafe { &mut *engine }.choose_ahead::<K>(me, &op);
        }
        // Two calls, and both end this function by a jump: it would otherwise return after a switch.
        if turn.is_of(me) {
            self.submit_own::<K>(engine, head, site, turn)
        } else {
            self.submit_chosen::<K>(engine, head, site, turn)
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
        let own = unsafe { &mut *engine };
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
            unsafe { &mut *engine }.look_ahead();
            return self.submit_without_lease::<K>(engine, head, 0, 0, site);
        }
        let me = self.thread.get();
        // SAFETY: as above.
        unsafe { &mut *engine }.announce::<K>(me, &Op::from_words(head, 0, 0), site);
        let this = if turn.is_of(me) { self } else { self.switch(me, ThreadId(turn.word())) };
        this.resume::<K>(me, head, 0, 0, site)
    }
}
