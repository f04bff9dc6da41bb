//! Programs that do work of their own between accesses, as the applications of PCTWM's table 4 do: a log, a
//! key-value store and transactions. They share as those do: by locks, and by atomic counters, flags and versions.

use std::fmt::Write;
use std::sync::Arc;

use raddle::sync::Mutex;
use raddle::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};

use super::{join, spawn};

/// Threads format records and put them into the slots of a shared log, as in Iris.
pub(super) fn log() {
    const RECORDS: u64 = 40;
    struct Log {
        next: AtomicU64,
        written: AtomicU64,
        slots: Vec<Mutex<String>>,
    }
    let slots = (0..3 * RECORDS).map(|_| Mutex::new(String::new())).collect();
    let log = Arc::new(Log { next: AtomicU64::new(0), written: AtomicU64::new(0), slots });
    let body = |log: &Log, me: u64| {
        for number in 0..RECORDS {
            let mut record = String::new();
            for field in 0..8 {
                let value = digest(me * RECORDS + number, field);
                write!(record, "{field}={value:x} ").expect("a string can be written to");
            }
            let slot = log.next.fetch_add(1, Relaxed) as usize;
            *log.slots[slot].lock().expect("no thread panics") = record;
            log.written.fetch_add(1, Release);
        }
    };
    join((0..3).map(|me| spawn(&log, me, body)).collect());
    assert_eq!(log.written.load(Acquire), 3 * RECORDS);
}

/// Threads insert and look up strings in a map of shards, as in Mabain.
pub(super) fn store() {
    const SHARDS: u64 = 16;
    struct Store {
        is_closed: AtomicBool,
        hits: AtomicU64,
        shards: Vec<Mutex<Vec<(String, u64)>>>,
    }
    let shards = (0..SHARDS).map(|_| Mutex::new(Vec::new())).collect();
    let store =
        Arc::new(Store { is_closed: AtomicBool::new(false), hits: AtomicU64::new(0), shards });
    let body = |store: &Store, me: u64| {
        for number in 0..40 {
            if store.is_closed.load(Acquire) {
                return;
            }
            let key = format!("key-{:x}", digest(number, 5) % 64);
            let hash = key.bytes().fold(me, |hash, byte| digest(hash, byte.into()));
            let shard = &store.shards[(key.len() as u64 + digest(number, 5)) as usize % 16];
            let mut shard = shard.lock().expect("no thread panics");
            match shard.iter_mut().find(|(other, _)| *other == key) {
                Some((_, value)) => {
                    *value ^= hash;
                    store.hits.fetch_add(1, Relaxed);
                }
                None => shard.push((key, hash)),
            }
        }
    };
    join((0..4).map(|me| spawn(&store, me, body)).collect());
    assert!(store.hits.load(Relaxed) > 0);
}

/// Threads make optimistic transactions on records with versions, as in Silo.
pub(super) fn transactions() {
    const RECORDS: u64 = 32;
    /// The lowest bit of a version: the record is locked.
    const LOCKED: u64 = 1;
    struct Record {
        version: AtomicU64,
        value: AtomicU64,
    }
    let record = |_| Record { version: AtomicU64::new(0), value: AtomicU64::new(7) };
    let records: Arc<Vec<Record>> = Arc::new((0..RECORDS).map(record).collect());
    let body = |records: &Vec<Record>, me: u64| {
        for number in 0..30 {
            let first = digest(me, number) % RECORDS;
            let reads = [first, (first + 5) % RECORDS, (first + 11) % RECORDS];
            let mut seen = [0; 3];
            let mut sum = 0;
            for (seen, &read) in seen.iter_mut().zip(&reads) {
                *seen = records[read as usize].version.load(Acquire);
                let value = records[read as usize].value.load(Relaxed);
                sum = (0..200).fold(sum ^ value, digest);
            }
            let target = &records[first as usize];
            let is_locked = |version: u64| version & LOCKED != 0;
            let lock = target.version.compare_exchange(seen[0], seen[0] | LOCKED, AcqRel, Relaxed);
            if seen.iter().any(|&version| is_locked(version)) || lock.is_err() {
                if lock.is_ok() && !is_locked(seen[0]) {
                    target.version.store(seen[0], Release);
                }
                continue;
            }
            target.value.store(sum, Relaxed);
            target.version.store(seen[0] + 2, Release);
        }
    };
    join((0..3).map(|me| spawn(&records, me, body)).collect());
}

/// Some arithmetic.
fn digest(one: u64, other: u64) -> u64 {
    (one ^ other).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31) ^ other
}
