//! Accesses that are about to happen: whether they are wrong, and whether they race.

use raddle_core::Site;
use raddle_engine::Initial;

use crate::heap::{self, Wrong};
use crate::races::{Access, Race};
use crate::run::{__raddle_failure, State, site};
use crate::variables::Use;

impl State {
    /// Ends the run if an access that is about to happen is wrong: of freed memory, or beyond a block.
    #[inline]
    pub(crate) fn check_access(&self, address: usize, size: usize, pc: usize) {
        let wrong = if heap::contains(address) {
            self.heap.borrow().check(address, size)
        } else {
            self.freed.borrow().find(address, size).map(Wrong::Freed)
        };
        if let Some(wrong) = wrong {
            self.fail_by_access(wrong, size, pc);
        }
    }

    #[cold]
    fn fail_by_access(&self, wrong: Wrong, size: usize, pc: usize) -> ! {
        let bytes =
            |size: usize| if size == 1 { "1 byte".to_owned() } else { format!("{size} bytes") };
        let block = |size: usize, allocated: Site| {
            format!("a block of {}, allocated at {allocated}", bytes(size))
        };
        let size = bytes(size);
        let message = match wrong {
            Wrong::Freed(site) => format!("the program uses memory after it was freed at {site}"),
            Wrong::Beyond { size: all, allocated } => {
                format!("an access to {size} goes beyond the end of {}", block(all, allocated))
            }
            Wrong::Before { size: all, allocated } => {
                format!("an access to {size} is before the beginning of {}", block(all, allocated))
            }
            Wrong::Nowhere => format!("an access to {size} of the heap is in no block"),
        };
        self.fail(message, Some(site(pc).to_string()))
    }

    /// Looks for a race of an access that is about to happen.
    #[inline]
    pub(crate) fn look_for_race(&self, access: Access) {
        if self.finds_races.get() && !self.has_raced.get() && !self.is_led.get() {
            let race = self.with_engine(|engine| {
                self.races.borrow_mut().access(self.me(), access, &self.heap.borrow(), engine)
            });
            self.note_race(race, access.site);
        }
    }

    /// Puts a race into the trace.
    pub(crate) fn note_race(&self, race: Option<Race>, site: Site) {
        let Some(race) = race else { return };
        self.has_raced.set(true);
        if self.is_debugged.get() {
            // The run continues to its end; this is where a debugger stops.
            __raddle_failure();
        }
        let object = self.object(race.address, Use::Raced, || Initial::Cell, site);
        self.with_engine(|engine| {
            engine.touched(race.first.on(object));
            engine.touched(race.second.on(object));
        });
    }
}
