//! Tickets for a show: an ordinary crate whose tests raddle can check.

#[cfg(raddle)]
use raddle::{sync, thread};
#[cfg(not(raddle))]
use std::{sync, thread};

use sync::atomic::{AtomicU32, Ordering};

/// How many tickets are left.
pub struct Tickets {
    left: AtomicU32,
}

impl Tickets {
    /// Creates `left` tickets.
    pub const fn new(left: u32) -> Tickets {
        Tickets { left: AtomicU32::new(left) }
    }

    /// Sells a ticket if one is left. Bug: two buyers can get the same ticket.
    pub fn sell_wrongly(&self) -> bool {
        let left = self.left.load(Ordering::SeqCst);
        if left == 0 {
            return false;
        }
        self.left.store(left - 1, Ordering::SeqCst);
        true
    }

    /// Sells a ticket if one is left.
    pub fn sell(&self) -> bool {
        let less = |left: u32| left.checked_sub(1);
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).is_ok()
    }
}

/// Returns how many of two buyers get the only ticket.
pub fn sold(sell: fn(&Tickets) -> bool) -> usize {
    let tickets = Tickets::new(1);
    thread::scope(|scope| {
        let other = scope.spawn(|| sell(&tickets));
        [sell(&tickets), other.join().unwrap()].into_iter().filter(|sold| *sold).count()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg_attr(raddle, raddle::test)]
    #[cfg_attr(not(raddle), test)]
    fn one_ticket_is_sold_once() {
        assert_eq!(sold(Tickets::sell), 1);
    }

    /// Without raddle this assertion almost never fails, with raddle always.
    #[cfg(raddle)]
    #[raddle::test]
    #[should_panic = "assertion `left == right` failed: left: 2, right: 1"]
    fn one_ticket_is_sold_twice() {
        assert_eq!(sold(Tickets::sell_wrongly), 1);
    }

    #[cfg(raddle)]
    #[raddle::test]
    #[ignore = "fails; .ci/run pastes its replay line into a shell"]
    fn two_buyers_of_one_ticket() {
        assert_eq!(sold(Tickets::sell_wrongly), 1);
    }
}
