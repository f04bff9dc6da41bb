//! Operations for which it is chosen whose turn it is before they are announced. Most need not be announced then.

use raddle_core::{Chooser, Effect, Op, Site, ThreadId};
use raddle_engine::known::Known;
use raddle_engine::{Engine, Memory, Turn};

use super::{Phase, Run};
use crate::{Backend, bare, way_back};

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
        engine: *mut (),
        site: Site,
        _second: u64,
    ) -> Effect {
        // SAFETY: promised by the caller.
        let this: &Self = unsafe { bare::follow!(run as Self) };
        let engine: *mut Engine<M, C> = engine.cast();
        let me = this.me();
        let is_running = matches!(this.phase(), Phase::Running);
        // All ways end in a call, and so by a jump: it would otherwise return after a switch.
        if const { Self::is_in_doubt::<K>() } && is_running {
            // SAFETY: as for `with_engine`.
            let chooser = unsafe { bare::follow_mut!(engine as Engine<M, C>) };
            if !chooser.has_little_choice() {
                let turn = chooser.choose_ahead::<K>(me, &Op::from_words(head, 0, 0));
                return this.submit_chosen::<K>(head, turn, engine, site);
            }
        }
        let mut turn = Turn::END;
        if is_running {
            // SAFETY: likewise.
            turn = unsafe { bare::follow_mut!(engine as Engine<M, C>) }
                .choose_ahead::<K>(me, &Op::from_words(head, 0, 0));
        }
        if turn.is_of(me) {
            this.submit_own::<K>(head, turn, engine, site)
        } else {
            this.submit_chosen::<K>(head, turn, engine, site)
        }
    }

    /// Whether it may well be anybody's turn, so that a switch to oneself is better than a branch.
    const fn is_in_doubt<K: Known>() -> bool {
        Self::SWITCHES_IN_DOUBT && (K::POST || K::RECEIVE)
    }

    /// Performs an operation that was not announced, because it was chosen before that it is the caller's turn.
    #[inline(never)]
    fn submit_own<K: Known>(
        &self,
        head: u64,
        turn: Turn,
        engine: *mut Engine<M, C>,
        site: Site,
    ) -> Effect {
        let op = Op::from_words(head, 0, 0);
        // SAFETY: as for `with_engine`.
        let own = unsafe { bare::follow_mut!(engine as Engine<M, C>) };
        match own.perform_unannounced::<K>(ThreadId(turn.word()), &op, site) {
            Some(effect) => effect,
            None => self.submit_chosen::<K>(head, turn, engine, site),
        }
    }

    /// Announces an operation after it was chosen whose turn it is then; or before, if that is the end.
    #[inline(never)]
    fn submit_chosen<K: Known>(
        &self,
        head: u64,
        turn: Turn,
        engine: *mut Engine<M, C>,
        site: Site,
    ) -> Effect {
        if matches!(turn, Turn::END) {
            // SAFETY: as for `with_engine`.
            unsafe { bare::follow_mut!(engine as Engine<M, C>) }.look_ahead();
            let run: *const Self = self;
            // SAFETY: both are of this run.
            return unsafe {
                Self::without_lease::<K>(run.cast(), head, 0, engine.cast(), site, 0)
            };
        }
        let me = self.me();
        let op = Op::from_words(head, 0, 0);
        // SAFETY: as above.
        unsafe { bare::follow_mut!(engine as Engine<M, C>) }.announce::<K>(me, &op, site);
        let is_own = !const { Self::is_in_doubt::<K>() } && turn.is_of(me);
        let this = if is_own { self } else { self.switch(me, ThreadId(turn.word())) };
        if !way_back::PAYS {
            return this.resume::<K>(me, &op, site);
        }
        way_back::tell::<K>(this.resume::<K>(me, &op, site))
    }
}
