//! The number of fingerprints of all orders of a few threads' accesses to one object equals the number of
//! equivalence classes, counted by other means.

use std::collections::BTreeSet;

use raddle_core::Access;
use raddle_core::fingerprint::{History, Name, event_on_object};

/// The state after some of the threads' accesses.
#[derive(Clone)]
struct State {
    names: Vec<Name>,
    /// By thread, the number of its accesses so far.
    made: Vec<usize>,
    history: History,
    fingerprint: u64,
}

/// Returns the fingerprints of all orders of `threads`' accesses.
fn fingerprints(threads: &[&[Access]]) -> BTreeSet<u64> {
    let names = (0..threads.len()).map(|thread| Name::MAIN.child(thread as u32)).collect();
    let made = vec![0; threads.len()];
    let start = State { names, made, history: History::default(), fingerprint: 0 };
    let mut found = BTreeSet::new();
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        let mut ended = true;
        for (thread, accesses) in threads.iter().enumerate() {
            let Some(&access) = accesses.get(state.made[thread]) else { continue };
            ended = false;
            let mut next = state.clone();
            let name = next.names[thread].advance();
            next.made[thread] += 1;
            let hash = event_on_object(name, access, &mut next.history);
            next.fingerprint = next.fingerprint.wrapping_add(hash);
            open.push(next);
        }
        if ended {
            found.insert(state.fingerprint);
        }
    }
    found
}

const READ: Access = Access::Read;
const UPDATE: Access = Access::Update;

#[test]
fn every_order_of_updates_has_its_own_fingerprint() {
    let updates = |count: usize| vec![UPDATE; count];
    let count = |threads: usize, each: usize| {
        let accesses = updates(each);
        fingerprints(&vec![&accesses[..]; threads]).len()
    };
    assert_eq!([count(2, 1), count(2, 2), count(2, 3), count(3, 1)], [2, 6, 20, 6]);
    assert_eq!(count(3, 2), 90);
    if !cfg!(miri) {
        assert_eq!([count(4, 2), count(3, 4), count(2, 9)], [2_520, 34_650, 48_620]);
    }
}

#[test]
fn the_order_of_reads_does_not_change_the_fingerprint() {
    assert_eq!(fingerprints(&[&[READ, READ], &[READ, READ], &[READ]]).len(), 1);
    // One Update: for each thread, the number of its reads before the Update.
    assert_eq!(fingerprints(&[&[READ, READ], &[READ], &[UPDATE]]).len(), 3 * 2);
    // Two Updates of one thread: each read is before, between or after them.
    assert_eq!(fingerprints(&[&[READ], &[READ], &[UPDATE, UPDATE]]).len(), 3 * 3);
}
