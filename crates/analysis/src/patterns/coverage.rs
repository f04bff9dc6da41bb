//! MAP-coverage (Wang et al., ASE 2019): which of the memory-access patterns runs have exhibited.
//!
//! A run exhibits a pattern if its accesses come in that order, and those of each thread follow one
//! another: between them the thread touches none of the pattern's variables. A variable is what accesses
//! to one object have in common: all accesses (lines, or single events) that ever touched the same object
//! make up one. How many patterns there are is estimated by the formula of §2.4 of the paper on PCR.
//!
//! Deviation: looked back upon are the last [`WINDOW`] different accesses to a variable, and for patterns
//! with two variables the last [`RECENT`] accesses of each thread.

use std::collections::HashSet;

use raddle_core::{Access, Event, ObjectId, ObjectInfo, ObjectKind, Site, Trace};
use raddle_results::{Accesses, Coverage, VariableCoverage};

use super::data_access;
use super::keys::{Keying, PatternKey};
use super::table::{bits, number_of_shape};

/// How many different accesses to a variable are looked back upon.
const WINDOW: usize = 64;

/// How many accesses of a thread are looked back upon for patterns with two variables.
const RECENT: usize = 8;

/// The patterns seen so far.
#[derive(Clone, Debug, Default)]
pub struct MapCoverage {
    keying: Keying,
    accesses: Vec<OfAccess>,
    seen: HashSet<PatternKey>,
    quick: Seen,
    /// Of the patterns with two variables: an access to each.
    pairs: Vec<(u32, u32)>,
    objects: Vec<OfObject>,
    threads: Vec<Vec<Recent>>,
    run: u64,
}

/// An access, as far as it is told apart from others.
#[derive(Clone, Debug)]
struct OfAccess {
    site: Site,
    access: Access,
    /// Another access to the same variable, or itself: a forest.
    parent: u32,
    /// Of the access at the root of its tree: how many patterns its variable has been seen in, alone.
    covered: u64,
    reads: u64,
    writes: u64,
    /// A thread that made an access to the variable, and whether another did too.
    thread: u32,
    is_shared: bool,
}

/// What has happened to an object in a run.
#[derive(Clone, Debug, Default)]
struct OfObject {
    run: u64,
    /// The different accesses.
    slots: Vec<Slot>,
    /// The last access of each thread: when, and which. Zero if there was none.
    last: Vec<(u32, u32)>,
    /// There is one access only, and what can come of that has been seen.
    is_settled: bool,
}

/// An access to an object, with when it was made last. Times begin with one.
#[derive(Copy, Clone, Debug)]
struct Slot {
    access: u32,
    /// Where the line is that makes it, and whether it writes: to be found again quickly.
    line: (usize, bool),
    /// Who made it last, and when.
    thread: u32,
    time: u32,
    /// When somebody else made it last; zero for never.
    time_of_others: u32,
}

impl Slot {
    /// Somebody makes it. Whether that is the second who does.
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

/// The patterns on one variable of the first so many accesses, as bits: most are seen again and again.
const QUICK: u32 = 64;

/// For each last access a bit for each first one, and for each two of one thread one for each between.
#[derive(Clone, Debug)]
struct Seen {
    twos: [u64; QUICK as usize],
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
            self.objects.resize(trace.objects.len(), OfObject::default());
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
                self.remember(this);
            }
        }
    }

    /// Returns the patterns seen and an estimate of all.
    pub fn report(&self) -> Coverage {
        let roots = (0..self.accesses.len() as u32).filter(|&access| self.root(access) == access);
        let shared: Vec<&OfAccess> = roots
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
        // What were two variables when a pattern was seen may have turned out to be one.
        let pairs = self.pairs.iter().filter(|&&(x, y)| self.root(x) != self.root(y)).count();
        let covered = variables.iter().map(|variable| variable.covered).sum::<u64>() + pairs as u64;
        Coverage { by: self.keying.by(), covered, total, variables }
    }

    /// Returns the number of an access.
    pub fn number(&mut self, event: &Event, access: Access) -> u32 {
        let number = self.keying.number(event, access);
        if number as usize >= self.accesses.len() {
            let writes = access == Access::Update;
            self.accesses.push(OfAccess {
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

    /// An access to an object belongs to the variable that others to it belong to.
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

    /// Somebody makes an access.
    fn shared_with(&mut self, access: u32, thread: u32) {
        let root = self.root(access) as usize;
        let variable = &mut self.accesses[root];
        variable.is_shared |= variable.thread != thread;
    }

    fn bits_of(&self, thread: u8, variable: u8, access: u32) -> u32 {
        bits(thread, variable, self.accesses[access as usize].access)
    }

    /// The patterns with one variable that end with an access, whose number this gives.
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
            // Only when it was made counts, should another access come.
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
            self.see_singles(object, thread, this, (mine_time, mine));
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

    /// An access that the object has not had in this run.
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
            // The same line, at another address.
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

    /// Counts what has not been seen yet of the patterns that end with this access.
    #[cold]
    fn see_singles(
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
            self.see_single(shape, &[other.access, this]);
            let is_quick = this.max(other.access).max(mine) < QUICK;
            if is_quick {
                self.quick.twos[this as usize] |= 1 << other.access;
            }
            if mine_time != 0 && when > mine_time {
                let shape = 1 << 9
                    | self.bits_of(0, 0, mine) << 6
                    | self.bits_of(1, 0, other.access) << 3
                    | self.bits_of(0, 0, this);
                self.see_single(shape, &[mine, other.access, this]);
                if is_quick {
                    self.quick.threes[(this * QUICK + mine) as usize] |= 1 << other.access;
                }
            }
        }
        self.objects[object].slots = slots;
    }

    fn see_single(&mut self, shape: u32, accesses: &[u32]) {
        let Some(pattern) = number_of_shape(shape) else { return };
        if self.seen.insert(PatternKey::new(pattern, accesses)) {
            let root = self.root(accesses[0]);
            self.accesses[root as usize].covered += 1;
        }
    }

    /// The patterns with two variables that end with this access.
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

    /// Patterns of `first` and `last`, of one thread, with two of another's.
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
                    self.see_pair(order);
                }
            }
            later = Some(earlier);
        }
    }

    fn see_pair(&mut self, order: [Recent; 4]) {
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

    fn remember(&mut self, this: Recent) {
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

/// How many patterns there are on one variable with so many accesses.
fn single_total(reads: u64, writes: u64) -> f64 {
    let (r, w) = (reads as f64, writes as f64);
    2.0 * r * w + w * w + r * r * w + 3.0 * r * w * w + w * w * w
}

/// How many there are on two variables, by their reads and writes.
fn pair_total(x: (u64, u64), y: (u64, u64)) -> f64 {
    let [(rx, wx), (ry, wy)] = [x, y].map(|(reads, writes)| (reads as f64, writes as f64));
    3.0 * wx * wx * wy * wy + 6.0 * wx * rx * wy * ry
}
