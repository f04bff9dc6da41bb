//! MAP-coverage (Wang et al., ASE 2019): which of the memory-access patterns runs have exhibited.
//!
//! A run exhibits a pattern if its accesses occur in that order, and those of each thread are consecutive:
//! between them the thread accesses none of the pattern's variables. A variable is a set of accesses (lines,
//! or single events): all that ever accessed the same object. The number of all patterns is estimated by the
//! formula of §2.4 of the paper on PCR.
//!
//! Deviation: only the last [`WINDOW`] different accesses to a variable are considered, and for patterns with
//! two variables the last [`RECENT`] accesses of each thread.

use std::collections::HashSet;

use raddle_core::{Access, Event, ObjectId, ObjectInfo, ObjectKind, Site, Trace};
use raddle_results::{Accesses, Coverage, VariableCoverage};

use super::data_access;
use super::keys::{Keying, PatternKey};
use super::table::{bits, number_of_shape};

/// The number of different accesses to a variable that are kept.
const WINDOW: usize = 64;

/// The number of accesses of a thread that are kept for patterns with two variables.
const RECENT: usize = 8;

/// The patterns seen so far.
#[derive(Clone, Debug, Default)]
pub struct MapCoverage {
    keying: Keying,
    accesses: Vec<KnownAccess>,
    seen: HashSet<PatternKey>,
    quick: Seen,
    /// Of each seen pattern with two variables: an access to either.
    pairs: Vec<(u32, u32)>,
    objects: Vec<ObjectAccesses>,
    threads: Vec<Vec<Recent>>,
    run: u64,
}

/// A distinguished access.
#[derive(Clone, Debug)]
struct KnownAccess {
    site: Site,
    access: Access,
    /// Another access to the same variable, or itself: a union-find forest.
    parent: u32,
    /// At a root: the number of seen patterns on this variable alone.
    covered: u64,
    /// At a root: the number of accesses that read the variable.
    reads: u64,
    /// At a root: the number of accesses that write the variable.
    writes: u64,
    /// A thread that accesses the variable.
    thread: u32,
    /// Whether another thread does too.
    is_shared: bool,
}

/// The accesses to an object in one run.
#[derive(Clone, Debug, Default)]
struct ObjectAccesses {
    run: u64,
    /// The different accesses.
    slots: Vec<Slot>,
    /// The last access of each thread: time and number. Zero if there was none.
    last: Vec<(u32, u32)>,
    /// Whether there is only one access and all patterns of it have been seen.
    is_settled: bool,
}

/// An access to an object, with the times it occurred last. Times are counted from one.
#[derive(Copy, Clone, Debug)]
struct Slot {
    access: u32,
    /// The key of its site, and whether it writes: found faster than by number.
    line: (usize, bool),
    /// The last thread that made the access.
    thread: u32,
    /// The time of that.
    time: u32,
    /// The last time that another thread made it; zero for never.
    time_of_others: u32,
}

impl Slot {
    /// Records that a thread makes the access. Returns whether it is the second thread to do so.
    #[inline(always)]
    fn made_by(&mut self, thread: u32, time: u32) -> bool {
        let is_second = self.thread != thread && self.time_of_others == 0;
        if self.thread != thread {
            (self.thread, self.time_of_others) = (thread, self.time);
        }
        self.time = time;
        is_second
    }
}

#[derive(Copy, Clone, Debug)]
struct Recent {
    thread: u32,
    object: u32,
    access: u32,
    time: u32,
}

/// The number of accesses whose patterns on one variable are also kept as bits: most recur in every run.
const QUICK: u32 = 64;

/// The patterns of two accesses, and of three, as bits.
#[derive(Clone, Debug)]
struct Seen {
    /// By last access: a bit for each first one.
    twos: [u64; QUICK as usize],
    /// By last and first access: a bit for each one between.
    threes: Vec<u64>,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen { twos: [0; QUICK as usize], threes: vec![0; (QUICK * QUICK) as usize] }
    }
}

impl MapCoverage {
    /// Creates an empty coverage.
    pub fn new(by: Accesses) -> MapCoverage {
        MapCoverage { keying: Keying::new(by), ..MapCoverage::default() }
    }

    /// Returns whether the pattern of accesses with these numbers has been seen.
    pub fn has(&self, pattern: u8, accesses: &[u32]) -> bool {
        self.seen.contains(&PatternKey::new(pattern, accesses))
    }

    /// The number of patterns seen.
    pub fn covered(&self) -> u64 {
        self.seen.len() as u64
    }

    /// Adds the patterns of a finished run.
    pub fn learn(&mut self, trace: &Trace) {
        self.run += 1;
        if self.objects.len() < trace.objects.len() {
            self.objects.resize(trace.objects.len(), ObjectAccesses::default());
        }
        self.threads.iter_mut().for_each(Vec::clear);
        let is_data = |info: &&ObjectInfo| !matches!(info.kind, ObjectKind::Thread(_));
        let several = trace.objects.iter().filter(is_data).nth(1).is_some();
        for (position, event) in trace.events.iter().enumerate() {
            let object = event.op.object();
            if object == ObjectId::NONE {
                continue;
            }
            let Some(access) = data_access(event.op, event.effect) else { continue };
            let time = position as u32 + 1;
            let access = self.on_one_variable(event, access, time);
            if several {
                let this = Recent { thread: event.id.thread.0, object: object.0, access, time };
                self.on_two_variables(this);
                self.add_recent(this);
            }
        }
    }

    /// Returns the patterns seen and an estimate of all.
    pub fn report(&self) -> Coverage {
        let roots = (0..self.accesses.len() as u32).filter(|&access| self.root(access) == access);
        let shared: Vec<&KnownAccess> = roots
            .map(|root| &self.accesses[root as usize])
            .filter(|variable| variable.is_shared && variable.writes > 0)
            .collect();
        let variables: Vec<VariableCoverage> = shared
            .iter()
            .map(|variable| VariableCoverage {
                site: variable.site,
                reads: variable.reads,
                writes: variable.writes,
                covered: variable.covered,
                total: single_total(variable.reads, variable.writes),
            })
            .collect();
        let mut total: f64 = variables.iter().map(|variable| variable.total).sum();
        for (index, x) in shared.iter().enumerate() {
            for y in &shared[index + 1..] {
                total += pair_total((x.reads, x.writes), (y.reads, y.writes));
            }
        }
        // Two variables may have been merged after a pattern on both was seen.
        let pairs = self.pairs.iter().filter(|&&(x, y)| self.root(x) != self.root(y)).count();
        let covered = variables.iter().map(|variable| variable.covered).sum::<u64>() + pairs as u64;
        Coverage { by: self.keying.by(), covered, total, variables }
    }

    /// Returns the number of an access.
    pub fn number(&mut self, event: &Event, access: Access) -> u32 {
        let number = self.keying.number(event, access);
        if number as usize >= self.accesses.len() {
            let writes = access == Access::Update;
            self.accesses.push(KnownAccess {
                site: event.site,
                access,
                parent: number,
                covered: 0,
                reads: u64::from(!writes),
                writes: u64::from(writes),
                thread: event.id.thread.0,
                is_shared: false,
            });
        }
        number
    }

    fn root(&self, mut access: u32) -> u32 {
        while self.accesses[access as usize].parent != access {
            access = self.accesses[access as usize].parent;
        }
        access
    }

    /// Merges the variables of two accesses to one object.
    fn join(&mut self, access: u32, other: u32) {
        let (root, into) = (self.root(access), self.root(other));
        if into != root {
            let from = self.accesses[root as usize].clone();
            self.accesses[root as usize].parent = into;
            let joined = &mut self.accesses[into as usize];
            joined.covered += from.covered;
            joined.reads += from.reads;
            joined.writes += from.writes;
            joined.is_shared |= from.is_shared || joined.thread != from.thread;
        }
    }

    /// Records that a thread accesses the variable of `access`.
    fn shared_with(&mut self, access: u32, thread: u32) {
        let root = self.root(access) as usize;
        let variable = &mut self.accesses[root];
        variable.is_shared |= variable.thread != thread;
    }

    fn bits_of(&self, thread: u8, variable: u8, access: u32) -> u32 {
        bits(thread, variable, self.accesses[access as usize].access)
    }

    /// Adds the patterns with one variable that end with an access. Returns the number of the access.
    #[inline(always)]
    fn on_one_variable(&mut self, event: &Event, access: Access, time: u32) -> u32 {
        let thread = event.id.thread.0;
        let object = event.op.object().index();
        let state = &mut self.objects[object];
        if state.run != self.run {
            state.run = self.run;
            state.slots.clear();
            state.last.clear();
            state.is_settled = false;
        }
        if state.last.len() <= thread as usize {
            state.last.resize(thread as usize + 1, (0, 0));
        }
        let by_event = self.keying.by() == Accesses::ByEvent;
        let line = (event.site.key(), access == Access::Update);
        let slot = if state.is_settled && state.slots[0].line == line {
            // Only its time matters, in case another access follows.
            let slot = &mut state.slots[0];
            state.last[thread as usize] = (time, slot.access);
            slot.made_by(thread, time);
            return slot.access;
        } else {
            let known = state.slots.iter().position(|slot| slot.line == line);
            match known.filter(|_| line.0 != 0 && !by_event) {
                Some(slot) => slot,
                None => self.new_slot(event, access, line),
            }
        };
        let state = &mut self.objects[object];
        let this = state.slots[slot].access;
        let (mine_time, mine) = std::mem::replace(&mut state.last[thread as usize], (time, this));
        let mut news = false;
        let slots = &state.slots[..];
        for other in slots {
            let when = if other.thread == thread { other.time_of_others } else { other.time };
            if when == 0 {
                continue;
            }
            let is_between = mine_time != 0 && when > mine_time;
            news |= this >= QUICK || other.access >= QUICK || mine >= QUICK || {
                let bit = 1 << other.access;
                let three = (this * QUICK + mine) as usize;
                self.quick.twos[this as usize] & bit == 0
                    || is_between && self.quick.threes[three] & bit == 0
            };
        }
        if news {
            self.add_single_patterns(object, thread, this, (mine_time, mine));
        } else if let ([only], false) = (slots, by_event || this >= QUICK) {
            let bit = 1 << only.access;
            let three = (this * QUICK + this) as usize;
            let is_all = self.quick.twos[this as usize] & self.quick.threes[three] & bit != 0;
            self.objects[object].is_settled = is_all;
        }
        if self.objects[object].slots[slot].made_by(thread, time) {
            self.shared_with(this, thread);
        }
        this
    }

    /// Adds a slot for an access that the object has not had in this run.
    #[cold]
    fn new_slot(&mut self, event: &Event, access: Access, line: (usize, bool)) -> usize {
        let access = self.number(event, access);
        let thread = event.id.thread.0;
        let object = event.op.object().index();
        if let Some(other) = self.objects[object].slots.first().map(|slot| slot.access) {
            self.join(access, other);
        }
        self.shared_with(access, thread);
        let slots = &mut self.objects[object].slots;
        if let Some(known) = slots.iter().position(|slot| slot.access == access) {
            // The same line with another key.
            slots[known].line = line;
            return known;
        }
        if slots.len() == WINDOW {
            slots.remove(0);
        }
        slots.push(Slot { access, line, thread, time: 0, time_of_others: 0 });
        let last = slots.len() - 1;
        self.objects[object].is_settled = false;
        last
    }

    /// Adds the patterns with one variable that end with this access.
    #[cold]
    fn add_single_patterns(
        &mut self,
        object: usize,
        thread: u32,
        this: u32,
        (mine_time, mine): (u32, u32),
    ) {
        let slots = std::mem::take(&mut self.objects[object].slots);
        for other in &slots {
            let when = if other.thread == thread { other.time_of_others } else { other.time };
            if when == 0 {
                continue;
            }
            let shape = 1 << 6 | self.bits_of(0, 0, other.access) << 3 | self.bits_of(1, 0, this);
            self.add_single_pattern(shape, &[other.access, this]);
            let is_quick = this.max(other.access).max(mine) < QUICK;
            if is_quick {
                self.quick.twos[this as usize] |= 1 << other.access;
            }
            if mine_time != 0 && when > mine_time {
                let shape = 1 << 9
                    | self.bits_of(0, 0, mine) << 6
                    | self.bits_of(1, 0, other.access) << 3
                    | self.bits_of(0, 0, this);
                self.add_single_pattern(shape, &[mine, other.access, this]);
                if is_quick {
                    self.quick.threes[(this * QUICK + mine) as usize] |= 1 << other.access;
                }
            }
        }
        self.objects[object].slots = slots;
    }

    fn add_single_pattern(&mut self, shape: u32, accesses: &[u32]) {
        let Some(pattern) = number_of_shape(shape) else { return };
        if self.seen.insert(PatternKey::new(pattern, accesses)) {
            let root = self.root(accesses[0]);
            self.accesses[root as usize].covered += 1;
        }
    }

    /// Adds the patterns with two variables that end with this access.
    fn on_two_variables(&mut self, this: Recent) {
        let threads = std::mem::take(&mut self.threads);
        if let Some(mine) = threads.get(this.thread as usize) {
            // Back to this thread's last access to the same variable.
            let others = mine.iter().rev().take_while(|other| other.object != this.object);
            let mut passed: [u32; RECENT] = [u32::MAX; RECENT];
            for (index, first) in others.enumerate() {
                if !passed[..index].contains(&first.object) {
                    for (thread, theirs) in threads.iter().enumerate() {
                        if thread as u32 != this.thread {
                            self.between(*first, this, theirs);
                        }
                    }
                }
                passed[index] = first.object;
            }
        }
        self.threads = threads;
    }

    /// Adds the patterns of `first` and `last`, of one thread, with two accesses of another thread.
    fn between(&mut self, first: Recent, last: Recent, theirs: &[Recent]) {
        let on_both =
            |access: &&Recent| access.object == first.object || access.object == last.object;
        let mut later: Option<&Recent> = None;
        for earlier in theirs.iter().rev().filter(on_both) {
            if let Some(later) = later {
                if later.time < first.time {
                    return;
                }
                if later.object != earlier.object {
                    let is_inside = earlier.time > first.time;
                    let order = if is_inside {
                        [first, *earlier, *later, last]
                    } else {
                        [*earlier, first, *later, last]
                    };
                    self.add_pair_pattern(order);
                }
            }
            later = Some(earlier);
        }
    }

    fn add_pair_pattern(&mut self, order: [Recent; 4]) {
        let shape = order.iter().fold(1, |shape, access| {
            let thread = u8::from(access.thread != order[0].thread);
            let variable = u8::from(access.object != order[0].object);
            shape << 3 | self.bits_of(thread, variable, access.access)
        });
        let Some(pattern) = number_of_shape(shape) else { return };
        let accesses = order.map(|access| access.access);
        if self.seen.insert(PatternKey::new(pattern, &accesses)) {
            let other = order.iter().find(|access| access.object != order[0].object);
            self.pairs.extend(other.map(|other| (order[0].access, other.access)));
        }
    }

    fn add_recent(&mut self, this: Recent) {
        let thread = this.thread as usize;
        if self.threads.len() <= thread {
            self.threads.resize(thread + 1, Vec::new());
        }
        let recent = &mut self.threads[thread];
        if recent.len() == RECENT {
            recent.remove(0);
        }
        recent.push(this);
    }
}

/// Returns the number of patterns on one variable with these numbers of accesses.
fn single_total(reads: u64, writes: u64) -> f64 {
    let (r, w) = (reads as f64, writes as f64);
    2.0 * r * w + w * w + r * r * w + 3.0 * r * w * w + w * w * w
}

/// Returns the number of patterns on two variables with these reads and writes.
fn pair_total(x: (u64, u64), y: (u64, u64)) -> f64 {
    let [(rx, wx), (ry, wy)] = [x, y].map(|(reads, writes)| (reads as f64, writes as f64));
    3.0 * wx * wx * wy * wy + 6.0 * wx * rx * wy * ry
}
