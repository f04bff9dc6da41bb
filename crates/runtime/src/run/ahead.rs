//! Operations for which it is chosen whose turn it is before they are announced. Most need not be announced then.

use raddle_core::{Chooser, Effect, Op, Site, ThreadId};
use raddle_engine::known::{Known, PassOp};
use raddle_engine::{Engine, Memory, Turn};

use super::{Phase, Run};
use crate::port::Operand;
use crate::{Backend, bare, way_back};

impl<B: Backend, M: Memory, C: Chooser> Run<'_, B, M, C> {
    /// As [`in_turn`](Run::in_turn), for operations without operands: chooses first, so that nothing has to be
    /// announced if it is the caller's turn.
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn ahead<K: Known>(
        run: *const (),
        head: u64,
        _first: Operand,
        engine: *mut (),
        site: Site,
        _second: Operand,
    ) -> Effect {
        // SAFETY: promised by the caller.
        let this: &Self = unsafe { bare::follow!(run as Self) };
        let engine: *mut Engine<M, C> = engine.cast();
        const { assert!(K::BARE) };
        // If the run is in another phase than most of it, nothing can be drawn ahead.
        // All ways end in a call, and so by a jump: it would otherwise return after a switch.
        if const { Self::is_in_doubt::<K>() } {
            // SAFETY: as for `with_engine`.
            let chooser = unsafe { bare::follow_mut!(engine as Engine<M, C>) };
            if chooser.has_no_choice() {
                return this.submit_alone::<K>(head, Turn::of(this.me()), engine, site);
            }
            if chooser.has_little_choice() {
                return this.submit_among_few::<K>(head, engine, site);
            }
            if !chooser.may_draw_ahead::<K>(this.me(), &Op::from_words(head, 0, 0)) {
                return this.submit_unchosen::<K>(head, engine, site);
            }
            let turn = chooser.draw();
            return this.submit_certain::<K>(head, turn, engine, site);
        }
        this.submit_by_branch::<K>(head, engine, site)
    }

    /// Chooses, and looks whether it is one's own turn.
    #[inline(always)]
    fn submit_by_branch<K: Known>(
        &self,
        head: u64,
        engine: *mut Engine<M, C>,
        site: Site,
    ) -> Effect {
        let me = self.me();
        // SAFETY: as for `with_engine`.
        let chooser = unsafe { bare::follow_mut!(engine as Engine<M, C>) };
        if !chooser.may_draw_ahead::<K>(me, &Op::from_words(head, 0, 0)) {
            return self.submit_unchosen::<K>(head, engine, site);
        }
        let turn = chooser.draw();
        if turn.is_of(me) {
            self.submit_own::<K>(head, turn, engine, site)
        } else {
            self.submit_certain::<K>(head, turn, engine, site)
        }
    }

    /// As [`submit_chosen`](Run::submit_chosen), for what was found to be possible.
    #[inline(always)]
    fn submit_certain<K: Known>(
        &self,
        head: u64,
        turn: Turn,
        engine: *mut Engine<M, C>,
        site: Site,
    ) -> Effect {
        if K::POST || K::RECEIVE {
            self.submit_chosen::<PassOp>(head, turn, engine, site)
        } else {
            self.submit_chosen::<K>(head, turn, engine, site)
        }
    }

    /// Apart from what is done among many, which then saves no registers.
    #[inline(never)]
    fn submit_among_few<K: Known>(
        &self,
        head: u64,
        engine: *mut Engine<M, C>,
        site: Site,
    ) -> Effect {
        self.submit_by_branch::<K>(head, engine, site)
    }

    /// Performs an operation of the only thread that can go on.
    #[inline(never)]
    fn submit_alone<K: Known>(
        &self,
        head: u64,
        turn: Turn,
        engine: *mut Engine<M, C>,
        site: Site,
    ) -> Effect {
        let op = Op::from_words(head, 0, 0);
        // SAFETY: as for `with_engine`.
        let own = unsafe { bare::follow_mut!(engine as Engine<M, C>) };
        match own.perform_alone::<K>(ThreadId(turn.word()), &op, site) {
            Some(effect) => effect,
            None => self.submit_among_few::<K>(head, engine, site),
        }
    }

    /// Whether it may well be anybody's turn, so that a switch to oneself is better than a branch.
    const fn is_in_doubt<K: Known>() -> bool {
        Self::SWITCHES_IN_DOUBT && (K::POST || K::RECEIVE || K::PASS)
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
            None => self.submit_certain::<K>(head, turn, engine, site),
        }
    }

    /// Announces an operation for which nothing could be chosen before.
    #[inline(never)]
    fn submit_unchosen<K: Known>(
        &self,
        head: u64,
        engine: *mut Engine<M, C>,
        site: Site,
    ) -> Effect {
        if matches!(self.phase(), Phase::Running | Phase::Starting) {
            // SAFETY: as for `with_engine`.
            unsafe { bare::follow_mut!(engine as Engine<M, C>) }.look_ahead();
        }
        let run: *const Self = self;
        let none = Operand { none: () };
        // SAFETY: both are of this run, and operations that are chosen ahead have no operands.
        unsafe { Self::without_lease::<K>(run.cast(), head, none, engine.cast(), site, none) }
    }

    /// Announces an operation after it was chosen whose turn it is then.
    #[inline(never)]
    fn submit_chosen<K: Known>(
        &self,
        head: u64,
        turn: Turn,
        engine: *mut Engine<M, C>,
        site: Site,
    ) -> Effect {
        let me = self.me();
        let op = Op::from_words(head, 0, 0);
        // SAFETY: as for `with_engine`.
        unsafe { bare::follow_mut!(engine as Engine<M, C>) }.announce::<K>(me, &op, site);
        let is_own = !const { Self::is_in_doubt::<K>() } && turn.is_of(me);
        let this = if is_own { self } else { self.switch(me, ThreadId(turn.word())) };
        if !way_back::PAYS {
            return this.resume::<K>(me, &op, site);
        }
        if K::PASS {
            // By a return if not: the compiler would otherwise have both end in one place.
            return match this.resume_as_usual::<K>(&op, site) {
                Some(effect) => way_back::tell::<K>(effect),
                None => this.resume_unusually::<K>(head, site),
            };
        }
        way_back::tell::<K>(this.resume::<K>(me, &op, site))
    }
}
