//! Operations of the program's threads: each is announced, waits for its turn, and is performed.

use raddle_core::{Action, AtomicOp, Effect, FutexOp, ObjectId, Op, Site};

use crate::run::State;

impl State {
    /// Announces an operation, and returns when the calling thread has its turn.
    fn announce(&self, op: Op, site: Site) {
        let me = self.me();
        self.steps.set(self.steps.get() + 1);
        self.tell_frame(op, site);
        let (turn, is_led, takes_frames) = self.with_engine(|engine| {
            (engine.submit(me, op, site), engine.is_led(), engine.takes_frames())
        });
        self.is_led.set(is_led);
        self.frames.turn(takes_frames);
        self.wait(turn);
    }

    /// Announces an operation, waits for the turn, and performs it.
    pub(crate) fn act(&self, object: ObjectId, action: Action, site: Site) -> Effect {
        let op = Op::new(object, action);
        let me = self.me();
        self.announce(op, site);
        match self.with_engine(|engine| engine.perform(me, op, site)) {
            Some(effect) => effect,
            None => self.end(),
        }
    }

    /// Performs an operation on an atomic variable. `load` reads what memory holds when the thread has its turn, which
    /// may have been written by other means; `store` writes what memory holds after the operation.
    pub(crate) fn act_on_memory(
        &self,
        object: ObjectId,
        op: AtomicOp,
        site: Site,
        load: impl Fn() -> u64,
        store: impl Fn(u64),
    ) -> Effect {
        let op = Op::new(object, Action::Atomic(op));
        let me = self.me();
        self.announce(op, site);
        let old = load();
        let (effect, new) = self.with_engine(|engine| {
            if engine.newest(object) != old {
                self.needs_no_values();
                engine.overwrite(object, old);
            }
            (engine.perform(me, op, site), engine.newest(object))
        });
        if new != old {
            store(new);
        }
        match effect {
            Some(effect) => effect,
            None => self.end(),
        }
    }

    /// Performs an operation that needs the variable to hold the expected value when the thread has its turn, or else
    /// looks at the variable and returns `None`.
    pub(crate) fn act_if(
        &self,
        op: Op,
        expected: Option<u64>,
        now: impl Fn() -> u64,
        site: Site,
    ) -> Option<Effect> {
        let (me, object) = (self.me(), op.object());
        self.announce(op, site);
        let value = now();
        let is_expected = expected.is_none_or(|expected| value == expected);
        let effect = self.with_engine(|engine| {
            if engine.newest(object) != value {
                engine.overwrite(object, value);
            }
            if !is_expected {
                engine.perform_instead(me, Op::new(object, Action::Futex(FutexOp::Look)), site);
                return None;
            }
            Some(engine.perform(me, op, site))
        })?;
        Some(effect.unwrap_or_else(|| self.end()))
    }

    /// Performs an operation on a variable whose value is not one number. `announced` says how it accesses the
    /// variable. `at_turn` makes the operation when the thread has its turn: it returns the value to show, and the
    /// operation on it.
    pub(crate) fn act_at_turn(
        &self,
        object: ObjectId,
        announced: AtomicOp,
        site: Site,
        at_turn: impl FnOnce() -> (u64, AtomicOp),
    ) {
        let me = self.me();
        self.announce(Op::new(object, Action::Atomic(announced)), site);
        let (shown, op) = at_turn();
        let op = Op::new(object, Action::Atomic(op));
        let effect = self.with_engine(|engine| {
            engine.overwrite(object, shown);
            engine.perform(me, op, site)
        });
        if effect.is_none() {
            self.end();
        }
    }
}
