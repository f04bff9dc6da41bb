//! The partial orders of a small program, by going through all its states: how many there are, how likely
//! a random walk is to take each, and how many preemptions each takes at least.
//!
//! A partial order is identified by how many writes to its object each access comes after: that orders writes
//! among each other, and each read among the writes.

use std::collections::HashMap;

use super::program::{LENGTH, Micro, OBJECTS, Step, THREADS};

/// The partial orders of a program.
#[derive(Clone, Debug)]
pub(crate) struct Orders {
    count: usize,
    /// How likely the least likely one is under a random walk.
    pub(crate) least_of_random_walk: f64,
    /// How many preemptions are enough for every one of them.
    pub(crate) most_preemptions: u32,
}

impl Orders {
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

/// Where a program is, and what its order is so far: three bits for each thread, then three for each
/// access.
type State = u64;

/// What is known of a state.
#[derive(Clone, Copy)]
struct Reached {
    probability: f64,
    /// By the thread that ran last: the fewest preemptions.
    preemptions: [u8; THREADS],
}

const UNREACHED: u8 = u8::MAX;

/// Goes through all states, one step after the other.
pub(crate) fn orders(micro: &Micro) -> Orders {
    let start = Reached { probability: 1.0, preemptions: [0; THREADS] };
    let mut layer: HashMap<State, Reached> = HashMap::from([(0, start)]);
    for step in 0..THREADS * LENGTH {
        let mut next: HashMap<State, Reached> = HashMap::with_capacity(2 * layer.len());
        for (&state, reached) in &layer {
            let at: [usize; THREADS] = std::array::from_fn(|thread| position(state, thread));
            let can_go = |thread: usize| at[thread] < LENGTH;
            let options = (0..THREADS).filter(|&thread| can_go(thread)).count();
            let written = written(micro, at);
            for thread in (0..THREADS).filter(|&thread| can_go(thread)) {
                let after = advance(state, thread, at[thread], written[object(micro, at, thread)]);
                let fewest = (0..THREADS)
                    .filter(|&last| reached.preemptions[last] != UNREACHED)
                    .map(|last| {
                        let preempts = step > 0 && last != thread && can_go(last);
                        reached.preemptions[last] + u8::from(preempts)
                    })
                    .min()
                    .unwrap_or(UNREACHED);
                let unreached = Reached { probability: 0.0, preemptions: [UNREACHED; THREADS] };
                let entry = next.entry(after).or_insert(unreached);
                entry.probability += reached.probability / options as f64;
                entry.preemptions[thread] = entry.preemptions[thread].min(fewest);
            }
        }
        layer = next;
    }
    let least = layer.values().map(|reached| reached.probability).fold(1.0, f64::min);
    let fewest = |reached: &Reached| reached.preemptions.iter().min().copied().unwrap_or(0);
    let most = layer.values().map(fewest).max().unwrap_or(0);
    Orders { count: layer.len(), least_of_random_walk: least, most_preemptions: u32::from(most) }
}

/// How many races a partial order has at most. Two accesses race that conflict, if nothing else orders them:
/// the later one's thread can be at it when the earlier one is performed, or right after that.
pub(crate) fn most_races(micro: &Micro) -> u32 {
    let mut search = Races { micro, word: Vec::new(), past: Vec::new(), most: 0 };
    search.extend([0; THREADS], [false; THREADS]);
    search.most
}

/// Goes through one interleaving for each partial order, by sleep sets.
struct Races<'a> {
    micro: &'a Micro,
    /// The interleaving: threads and positions.
    word: Vec<(usize, usize)>,
    /// By place in it: what comes before, in the partial order, by place.
    past: Vec<u32>,
    most: u32,
}

impl Races<'_> {
    fn extend(&mut self, at: [usize; THREADS], mut asleep: [bool; THREADS]) {
        if self.word.len() == THREADS * LENGTH {
            self.most = self.most.max(self.races());
        }
        for thread in 0..THREADS {
            if at[thread] == LENGTH || asleep[thread] {
                continue;
            }
            let stays_asleep = std::array::from_fn(|other| {
                asleep[other] && !self.conflict((thread, at[thread]), (other, at[other]))
            });
            let mut after = at;
            after[thread] += 1;
            self.past.push(self.past_of((thread, at[thread])));
            self.word.push((thread, at[thread]));
            self.extend(after, stays_asleep);
            self.word.pop();
            self.past.pop();
            asleep[thread] = true;
        }
    }

    fn conflict(&self, (one, at): (usize, usize), (other, other_at): (usize, usize)) -> bool {
        let (one, other) = (self.micro.threads[one][at], self.micro.threads[other][other_at]);
        one.object == other.object && (one.writes || other.writes)
    }

    /// What comes before the next access.
    fn past_of(&self, next: (usize, usize)) -> u32 {
        let mut past = 0;
        for (place, &before) in self.word.iter().enumerate() {
            if before.0 == next.0 || self.conflict(before, next) {
                past |= self.past[place] | 1 << place;
            }
        }
        past
    }

    fn races(&self) -> u32 {
        let mut races = 0;
        for (place, &(thread, at)) in self.word.iter().enumerate() {
            let previous = self.word[..place]
                .iter()
                .position(|&before| before == (thread, at.wrapping_sub(1)));
            let ordered = previous.map_or(0, |previous| self.past[previous]);
            for (earlier, &before) in self.word[..place].iter().enumerate() {
                races +=
                    u32::from(self.conflict(before, (thread, at)) && ordered >> earlier & 1 == 0);
            }
        }
        races
    }
}

fn position(state: State, thread: usize) -> usize {
    (state >> (3 * thread) & 7) as usize
}

/// The state after the next access of `thread`, which comes after this number of writes.
fn advance(state: State, thread: usize, at: usize, writes: u64) -> State {
    let place = 3 * (THREADS + thread * LENGTH + at);
    (state + (1 << (3 * thread))) | writes << place
}

fn object(micro: &Micro, at: [usize; THREADS], thread: usize) -> usize {
    micro.threads[thread][at[thread]].object
}

/// How often each object has been written.
fn written(micro: &Micro, at: [usize; THREADS]) -> [u64; OBJECTS] {
    let mut written = [0; OBJECTS];
    for (steps, &at) in micro.threads.iter().zip(&at) {
        for Step { object, writes } in &steps[..at] {
            written[*object] += u64::from(*writes);
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::super::program::{Mix, Spread};
    use super::*;

    /// All to one object: every interleaving is an order of its own.
    #[test]
    fn orders_of_one_object_are_interleavings() {
        let mut micro = Micro::random(Mix::Writes, Spread::Uniform, 0);
        let only = Step { object: 0, writes: true };
        // Two threads on one object, and two that read what no thread writes.
        micro.threads = [
            [only; 4],
            [only; 4],
            [Step { object: 1, writes: false }; 4],
            [Step { object: 2, writes: false }; 4],
        ];
        let orders = orders(&micro);
        assert_eq!(orders.count(), 70);
        // A A A A B B B B takes none, A B A B A B A B seven, less one for the first that ends.
        assert_eq!(orders.most_preemptions, 6);
    }

    #[test]
    fn probabilities_sum_up() {
        let micro = Micro::random(Mix::HalfReads, Spread::Skewed, 1);
        let orders = orders(&micro);
        assert!(orders.least_of_random_walk <= 1.0 / orders.count() as f64);
        assert!(orders.least_of_random_walk > 0.0);
    }
}
