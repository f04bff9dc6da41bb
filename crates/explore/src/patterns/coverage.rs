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

use raddle_core::{Access, Accesses, Coverage, Event, ObjectId, Site, Trace, VariableCoverage};

use super::data_access;
use super::keys::{Keying, address, pattern_key};
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
    seen: HashSet<u64>,
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
    /// Addresses of lines from which accesses need not be looked at: all patterns are covered.
    quiet: [(usize, bool); 2],
    /// The different accesses, each with who made it last and when.
    recent: Vec<Recent>,
    /// The last access of each thread.
    last: Vec<Recent>,
}

#[derive(Copy, Clone, Debug)]
struct Recent {
    thread: u32,
    object: u32,
    access: u32,
    position: u32,
}

impl MapCoverage {
    /// Nothing seen yet.
    pub fn new(by: Accesses) -> MapCoverage {
        MapCoverage { keying: Keying::new(by), ..MapCoverage::default() }
    }

    /// Whether a pattern of accesses with these numbers has been seen.
    pub(crate) fn has(&self, pattern: u8, accesses: &[u32]) -> bool {
        self.seen.contains(&pattern_key(pattern, accesses))
    }

    /// How many patterns have been seen.
    pub fn covered(&self) -> u64 {
        self.seen.len() as u64
    }

    /// A run has ended.
    pub fn learn(&mut self, trace: &Trace) {
        let may_skip = self.keying.by() == Accesses::BySite && self.is_one_variable();
        let known = self.accesses.len();
        self.go_through(trace, may_skip);
        if may_skip && self.accesses.len() > known {
            // Something new may be in patterns with what was not looked at.
            self.go_through(trace, false);
        }
    }

    /// What has been seen, of how many.
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

    /// Whether there are no patterns with two variables to be seen, as far as is known.
    fn is_one_variable(&self) -> bool {
        let mut roots =
            (0..self.accesses.len() as u32).filter(|&access| self.root(access) == access);
        roots.next();
        roots.next().is_none()
    }

    fn go_through(&mut self, trace: &Trace, may_skip: bool) {
        self.run += 1;
        if self.objects.len() < trace.objects.len() {
            self.objects.resize(trace.objects.len(), OfObject::default());
        }
        self.threads.iter_mut().for_each(Vec::clear);
        for (position, event) in trace.events.iter().enumerate() {
            let object = event.op.object();
            if object == ObjectId::NONE {
                continue;
            }
            let Some(access) = data_access(event.op, event.effect) else { continue };
            let state = &mut self.objects[object.index()];
            if state.run != self.run {
                state.run = self.run;
                state.quiet = [(0, false); 2];
                state.recent.clear();
                state.last.clear();
            }
            let line = (address(event.site), access == Access::Update);
            if line.0 != 0 && state.quiet.contains(&line) {
                continue;
            }
            let number = self.number(event, access);
            self.join(object.index(), number, event.id.thread.0);
            if may_skip && self.is_saturated(number) {
                let quiet = &mut self.objects[object.index()].quiet;
                *quiet = [line, quiet[0]];
                continue;
            }
            let this = Recent {
                thread: event.id.thread.0,
                object: object.0,
                access: number,
                position: position as u32,
            };
            self.on_one_variable(this);
            self.on_two_variables(this);
            self.remember(this);
        }
    }

    /// The number of an access.
    pub(crate) fn number(&mut self, event: &Event, access: Access) -> u32 {
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
    fn join(&mut self, object: usize, access: u32, thread: u32) {
        let mut root = self.root(access);
        if let Some(other) = self.objects[object].recent.first() {
            let into = self.root(other.access);
            if into != root {
                let OfAccess { covered, reads, writes, thread, is_shared, .. } =
                    self.accesses[root as usize].clone();
                self.accesses[root as usize].parent = into;
                let joined = &mut self.accesses[into as usize];
                joined.covered += covered;
                joined.reads += reads;
                joined.writes += writes;
                joined.is_shared |= is_shared || joined.thread != thread;
                root = into;
            }
        }
        let variable = &mut self.accesses[root as usize];
        variable.is_shared |= variable.thread != thread;
    }

    /// Whether every pattern on the variable of an access, alone, has been seen.
    fn is_saturated(&self, access: u32) -> bool {
        let variable = &self.accesses[self.root(access) as usize];
        variable.covered as f64 == single_total(variable.reads, variable.writes)
    }

    fn bits_of(&self, thread: u8, variable: u8, access: u32) -> u32 {
        bits(thread, variable, self.accesses[access as usize].access)
    }

    fn on_one_variable(&mut self, this: Recent) {
        let state = std::mem::take(&mut self.objects[this.object as usize]);
        let mine = state.last.iter().find(|last| last.thread == this.thread);
        for other in state.recent.iter().filter(|other| other.thread != this.thread) {
            let shape =
                1 << 6 | self.bits_of(0, 0, other.access) << 3 | self.bits_of(1, 0, this.access);
            self.see_single(shape, &[other.access, this.access]);
            if let Some(mine) = mine.filter(|mine| mine.position < other.position) {
                let shape = 1 << 9
                    | self.bits_of(0, 0, mine.access) << 6
                    | self.bits_of(1, 0, other.access) << 3
                    | self.bits_of(0, 0, this.access);
                self.see_single(shape, &[mine.access, other.access, this.access]);
            }
        }
        self.objects[this.object as usize] = state;
    }

    fn see_single(&mut self, shape: u32, accesses: &[u32]) {
        let Some(pattern) = number_of_shape(shape) else { return };
        if self.seen.insert(pattern_key(pattern, accesses)) {
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
                if later.position < first.position {
                    return;
                }
                if later.object != earlier.object {
                    let is_inside = earlier.position > first.position;
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
        if self.seen.insert(pattern_key(pattern, &accesses)) {
            let other = order.iter().find(|access| access.object != order[0].object);
            self.pairs.extend(other.map(|other| (order[0].access, other.access)));
        }
    }

    fn remember(&mut self, this: Recent) {
        let state = &mut self.objects[this.object as usize];
        let same = |recent: &Recent| recent.access == this.access && recent.thread == this.thread;
        if let Some(index) = state.recent.iter().position(same) {
            state.recent[index].position = this.position;
        } else {
            if state.recent.len() == WINDOW {
                state.recent.remove(0);
            }
            state.recent.push(this);
        }
        match state.last.iter_mut().find(|last| last.thread == this.thread) {
            Some(last) => *last = this,
            None => state.last.push(this),
        }
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
