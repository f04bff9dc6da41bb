//! Small random programs: four threads with four accesses each, to four objects.

use std::fmt::{self, Write};

use raddle_strategy::Rng;

pub(crate) const THREADS: usize = 4;
pub(crate) const LENGTH: usize = 4;
pub(crate) const OBJECTS: usize = 4;
const EVENTS: usize = THREADS * LENGTH;

/// How accesses are spread over objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// 4, 4, 4 and 4.
    Uniform,
    /// 2, 2, 6 and 6.
    Skewed,
}

/// What accesses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mix {
    Writes,
    HalfReads,
}

/// An access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) object: usize,
    pub(crate) writes: bool,
}

/// A program: what each thread does.
#[derive(Clone, Debug)]
pub(crate) struct Micro {
    pub(crate) threads: [[Step; LENGTH]; THREADS],
}

impl Micro {
    /// The program that follows from `seed`.
    pub(crate) fn random(mix: Mix, spread: Spread, seed: u64) -> Micro {
        let mut rng = Rng::new(raddle_strategy::mix(seed, 0x90f));
        let counts = match spread {
            Spread::Uniform => [4, 4, 4, 4],
            Spread::Skewed => [2, 2, 6, 6],
        };
        let mut objects: Vec<usize> =
            counts.iter().enumerate().flat_map(|(object, count)| vec![object; *count]).collect();
        shuffle(&mut objects, &mut rng);
        let mut writes = match mix {
            Mix::Writes => vec![true; EVENTS],
            Mix::HalfReads => (0..EVENTS).map(|event| event < EVENTS / 2).collect(),
        };
        shuffle(&mut writes, &mut rng);
        Micro::of(|event| Step { object: objects[event], writes: writes[event] })
    }

    /// From threads with the names of the objects they access, capital where they write.
    pub(crate) fn from_text(text: &str) -> Micro {
        let names: Vec<u8> = text.bytes().filter(|name| *name != b' ').collect();
        let object = |name: u8| usize::from(name.to_ascii_uppercase() - b'A');
        Micro::of(|event| Step {
            object: object(names[event]),
            writes: names[event].is_ascii_uppercase(),
        })
    }

    fn of(step: impl Fn(usize) -> Step) -> Micro {
        let thread = |thread: usize| std::array::from_fn(|at| step(thread * LENGTH + at));
        Micro { threads: std::array::from_fn(thread) }
    }
}

impl fmt::Display for Micro {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, steps) in self.threads.iter().enumerate() {
            if number > 0 {
                f.write_char(' ')?;
            }
            for step in steps {
                let name = char::from(b'A' + step.object as u8);
                f.write_char(if step.writes { name } else { name.to_ascii_lowercase() })?;
            }
        }
        Ok(())
    }
}

fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_spread_and_mixed_as_asked() {
        for seed in 0..20 {
            let micro = Micro::random(Mix::HalfReads, Spread::Skewed, seed);
            let steps: Vec<_> = micro.threads.iter().flatten().collect();
            let mut counts = [0; OBJECTS];
            steps.iter().for_each(|step| counts[step.object] += 1);
            assert_eq!(counts, [2, 2, 6, 6]);
            assert_eq!(steps.iter().filter(|step| step.writes).count(), EVENTS / 2);
            let again = Micro::from_text(&micro.to_string());
            assert_eq!(again.threads, micro.threads);
        }
    }
}
