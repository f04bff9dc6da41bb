//! The drop of a reference-counted value: the thread that drops the last reference frees it.
//!
//! The references are dropped by release decrements. The last thread performs an acquire fence before it frees the value.
//! In the bugged form there is no fence. Then the last thread has read the others' decrements without synchronising with
//! them, so its write is not ordered after their reads: a race, and under RC11 a use after free.

use raddle::cell::Shared;
use raddle::sync::Arc;
use raddle::sync::atomic::{
    AtomicU32,
    Ordering::{Acquire, Release},
    fence,
};

use super::super::Form;
use super::{Failure, Instance, Model, ONCE, Origin, Program, Space, join};

pub(super) const PROGRAM: Program = Program {
    name: "arc-drop",
    origin: Origin::Classic,
    about: "the last of three references frees the value, without the acquire fence",
    failure: Failure::Race,
    model: Model::Sc,
    space: Space::Small,
    threads: 4,
    tries: ONCE,
    body,
};

const REFERENCES: u32 = 3;
const VALUE: u32 = 1;
const FREED: u32 = 0;

struct Counted {
    references: AtomicU32,
    value: Shared<u32>,
}

fn body(instance: Instance) {
    let counted =
        Arc::new(Counted { references: AtomicU32::new(REFERENCES), value: Shared::new(VALUE) });
    let threads = (0..REFERENCES)
        .map(|_| {
            let counted = counted.clone();
            instance.spawn(move || {
                assert_eq!(counted.value.get(), VALUE, "used after it was freed");
                counted.give_up(instance.form);
            })
        })
        .collect();
    join(threads);
    assert_eq!(counted.value.get(), FREED, "not freed");
}

impl Counted {
    fn give_up(&self, form: Form) {
        if self.references.fetch_sub(1, Release) == 1 {
            if form == Form::Fixed {
                fence(Acquire);
            }
            self.value.set(FREED);
        }
    }
}
