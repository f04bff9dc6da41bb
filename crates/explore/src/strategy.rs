//! Strategies by name: the user's word for a chooser repeated, or an explorer.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::Bound;

/// How executions are chosen.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// Every option alike, at every point: `random`.
    Random,
    /// The threads take turns: `round-robin`. One execution.
    RoundRobin,
    /// Probabilistic concurrency testing for bugs of this depth: `pct:3`.
    Pct {
        /// The depth, at least one.
        depth: u32,
    },
    /// The same where executions are known to have at most so many steps that count: `pct:3:100`.
    PctWithin {
        /// The depth, at least one.
        depth: u32,
        /// How many steps, at least as many as there are places at which priorities change: one less
        /// than the depth.
        steps: u32,
    },
    /// The same with a depth drawn for each execution: `pct`.
    PctDrawn,
    /// Probabilistic concurrency testing for weak memory, under RC11 only: `pctwm:2:1`.
    Pctwm {
        /// How many events communicate.
        depth: u32,
        /// Among how many of the newest stores they read, at least one.
        history: u32,
        /// How many communication events there are, if not learnt; at least `depth`: `pctwm:2:1:19`.
        events: Option<u32>,
    },
    /// Threads and sources at random, under RC11 only: `c11-random`. What C11Tester does.
    C11Random,
    /// Probabilistic concurrency testing with random sources, under RC11 only: `pct-weak:3`.
    PctWeak {
        /// The depth, at least one.
        depth: u32,
    },
    /// Partial order sampling without drawing again: `basic-pos`.
    BasicPos,
    /// Partial order sampling: `pos`.
    Pos,
    /// The same, with reads that do not race: `pos-star`.
    PosStar,
    /// Random batches of independent operations: `rapos`.
    Rapos,
    /// Every interleaving alike, as far as threads can be counted on: `urw`.
    Urw,
    /// Every order of the accesses to one object alike, another object each time: `surw`.
    Surw,
    /// A round-robin scheduler that is delayed so many times at random: `delay:2`.
    Delay {
        /// How many.
        delays: u32,
    },
    /// Several that sample, an execution each in turn: `portfolio:pos-star+pct:3`.
    Portfolio(&'static [Strategy]),
    /// Every interleaving: `dfs`.
    Dfs,
    /// Every interleaving within a bound: `dfs:2` (preemptions), `dfs:fair:1`, `dfs:2:fair:1`.
    DfsWithin(Bound),
    /// Every interleaving with at most so many delays of a round-robin scheduler: `dfs-delay:2`.
    DfsDelay {
        /// How many.
        delays: u32,
    },
    /// One execution of every equivalence class: `dpor`.
    Dpor,
    /// At least one of every class, by persistent and sleep sets: `dpor-classic`.
    DporClassic,
    /// At least one of every class within a bound: `bpor:2` (preemptions), `bpor:fair:1`,
    /// `bpor:2:fair:1`.
    Bpor(Bound),
    /// The same without what makes it fast, for comparison: `bpor-plain:2`.
    BporPlain(Bound),
    /// The same with 0, 1, 2 preemptions, one after the other: `bpor:0-2`, `bpor:0-2:fair:1`.
    BporUpTo(Bound),
    /// What a solver makes of earlier executions to see new memory-access patterns: `pcr`.
    Pcr,
    /// What a solver makes of earlier executions to let operations learn something else: `mcr`.
    Mcr,
    /// Everything if that fits the budget, otherwise what can be had for it: `auto`.
    #[default]
    Auto,
}

impl Strategy {
    /// Whether this is about weak memory and nothing else.
    pub(crate) fn needs_weak_memory(&self) -> bool {
        matches!(self, Strategy::Pctwm { .. } | Strategy::C11Random | Strategy::PctWeak { .. })
    }

    /// Whether this draws executions at random, and so can be part of a portfolio.
    pub fn is_sampling(&self) -> bool {
        match self {
            Strategy::Random
            | Strategy::Pct { .. }
            | Strategy::PctWithin { .. }
            | Strategy::PctDrawn
            | Strategy::Pctwm { .. }
            | Strategy::C11Random
            | Strategy::PctWeak { .. }
            | Strategy::BasicPos
            | Strategy::Pos
            | Strategy::PosStar
            | Strategy::Rapos
            | Strategy::Urw
            | Strategy::Surw
            | Strategy::Delay { .. } => true,
            Strategy::RoundRobin
            | Strategy::Portfolio(_)
            | Strategy::Dfs
            | Strategy::DfsWithin(_)
            | Strategy::DfsDelay { .. }
            | Strategy::Dpor
            | Strategy::DporClassic
            | Strategy::Bpor(_)
            | Strategy::BporPlain(_)
            | Strategy::BporUpTo(_)
            | Strategy::Pcr
            | Strategy::Mcr
            | Strategy::Auto => false,
        }
    }
}

impl Strategy {
    /// Whether runs after a failure tell as much as those before it. A search ends at its first
    /// failure: that run was cut off, and what others would have done in it is not known.
    pub(crate) fn can_keep_going(&self) -> bool {
        self.is_sampling() || matches!(self, Strategy::Portfolio(_) | Strategy::Auto)
    }

    /// Whether it can be followed, which one that was not made from a word need not be: its numbers
    /// may be out of range, or its portfolio empty.
    pub fn validate(&self) -> Result<(), StrategyError> {
        if self.is_possible() {
            return Ok(());
        }
        let word = self.to_string();
        Err(StrategyError { reason: mistake(&word), word })
    }

    fn is_possible(&self) -> bool {
        match self {
            Strategy::Pct { depth } => DEPTHS.contains(depth),
            Strategy::PctWithin { depth, steps } => {
                DEPTHS.contains(depth) && *steps >= depth.max(&2) - 1
            }
            Strategy::PctWeak { depth } => DEPTHS.contains(depth),
            Strategy::Pctwm { depth, history, events } => {
                let enough = events.is_none_or(|events| events >= *depth && events > 0);
                *depth <= *DEPTHS.end() && *history > 0 && enough
            }
            Strategy::Portfolio(members) => {
                !members.is_empty()
                    && members.iter().all(|member| member.is_sampling() && member.is_possible())
            }
            Strategy::Random
            | Strategy::RoundRobin
            | Strategy::PctDrawn
            | Strategy::C11Random
            | Strategy::BasicPos
            | Strategy::Pos
            | Strategy::PosStar
            | Strategy::Rapos
            | Strategy::Urw
            | Strategy::Surw
            | Strategy::Delay { .. }
            | Strategy::Dfs
            | Strategy::DfsWithin(_)
            | Strategy::DfsDelay { .. }
            | Strategy::Dpor
            | Strategy::DporClassic
            | Strategy::Bpor(_)
            | Strategy::BporPlain(_)
            | Strategy::BporUpTo(_)
            | Strategy::Pcr
            | Strategy::Mcr
            | Strategy::Auto => true,
        }
    }

    /// Which part of a portfolio makes a run, counted from zero.
    pub(crate) fn part(&self, run: u64) -> usize {
        let parts = if let Strategy::Portfolio(members) = self { members.len() } else { 1 };
        (run % parts as u64) as usize
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word())
    }
}

impl Strategy {
    /// The word that stands for it.
    pub fn word(&self) -> Cow<'static, str> {
        Cow::Owned(match self {
            Strategy::Random => return Cow::Borrowed("random"),
            Strategy::RoundRobin => return Cow::Borrowed("round-robin"),
            Strategy::Pct { depth } => format!("pct:{depth}"),
            Strategy::PctWithin { depth, steps } => format!("pct:{depth}:{steps}"),
            Strategy::PctDrawn => return Cow::Borrowed("pct"),
            Strategy::Pctwm { depth, history, events: None } => {
                format!("pctwm:{depth}:{history}")
            }
            Strategy::Pctwm { depth, history, events: Some(events) } => {
                format!("pctwm:{depth}:{history}:{events}")
            }
            Strategy::C11Random => return Cow::Borrowed("c11-random"),
            Strategy::PctWeak { depth } => format!("pct-weak:{depth}"),
            Strategy::BasicPos => return Cow::Borrowed("basic-pos"),
            Strategy::Pos => return Cow::Borrowed("pos"),
            Strategy::PosStar => return Cow::Borrowed("pos-star"),
            Strategy::Rapos => return Cow::Borrowed("rapos"),
            Strategy::Urw => return Cow::Borrowed("urw"),
            Strategy::Surw => return Cow::Borrowed("surw"),
            Strategy::Delay { delays } => format!("delay:{delays}"),
            Strategy::Portfolio(members) => {
                let words: Vec<String> = members.iter().map(Strategy::to_string).collect();
                format!("portfolio:{}", words.join("+"))
            }
            Strategy::Dfs => return Cow::Borrowed("dfs"),
            Strategy::DfsWithin(bound) => format!("dfs{}", suffix(bound, "")),
            Strategy::DfsDelay { delays } => format!("dfs-delay:{delays}"),
            Strategy::Dpor => return Cow::Borrowed("dpor"),
            Strategy::DporClassic => return Cow::Borrowed("dpor-classic"),
            Strategy::Bpor(bound) => format!("bpor{}", suffix(bound, "")),
            Strategy::BporPlain(bound) => format!("bpor-plain{}", suffix(bound, "")),
            Strategy::BporUpTo(bound) => format!("bpor{}", suffix(bound, "0-")),
            Strategy::Pcr => return Cow::Borrowed("pcr"),
            Strategy::Mcr => return Cow::Borrowed("mcr"),
            Strategy::Auto => return Cow::Borrowed("auto"),
        })
    }
}

/// A bound as it stands at the end of a word, with something before its preemptions.
fn suffix(bound: &Bound, before: &str) -> String {
    let preemptions = bound.preemptions.map(|most| format!(":{before}{most}"));
    let lead = bound.lead.map(|most| format!(":fair:{most}"));
    preemptions.into_iter().chain(lead).collect()
}

/// A word that names no strategy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StrategyError {
    word: String,
    /// What is wrong with it, if it is known what it was to be.
    reason: Option<String>,
}

impl fmt::Display for StrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = &self.reason {
            return write!(f, "strategy `{}`: {reason}", self.word);
        }
        write!(
            f,
            "unknown strategy `{}`; known are: random, round-robin, pct, pct:D (with a depth D \
             from 1 to 100), pct:D:K (in at most K steps), under RC11 also pctwm:D:H and pctwm:D:H:K \
             (with D communications from 0 to 100, history depth H of at least 1, and at least D \
             communication events K), pct-weak:D and c11-random, then basic-pos, pos, pos-star, \
             rapos, urw, \
             surw, delay:D (with D random delays), portfolio:A+B (with several of these but \
             round-robin), dpor, dpor-classic, bpor:P (with at most P preemptions), bpor:0-P, \
             bpor:fair:F (with a fair bound F), bpor:P:fair:F, bpor-plain:P, dfs, dfs:P, \
             dfs:fair:F, dfs:P:fair:F, dfs-delay:D, pcr, mcr, auto",
            self.word
        )
    }
}

impl std::error::Error for StrategyError {}

impl FromStr for Strategy {
    type Err = StrategyError;

    fn from_str(word: &str) -> Result<Strategy, StrategyError> {
        parse(word.trim())
            .ok_or_else(|| StrategyError { word: word.to_owned(), reason: mistake(word.trim()) })
    }
}

/// What is wrong with a word that is nearly one.
fn mistake(word: &str) -> Option<String> {
    let (name, rest) = word.split_once(':')?;
    match name {
        "pct" => {
            let (depth, steps) = match rest.split_once(':') {
                None => (number(rest)?, None),
                Some((depth, steps)) => (number(depth)?, Some(number(steps)?)),
            };
            let changes = depth.saturating_sub(1);
            Some(match steps {
                _ if !DEPTHS.contains(&depth) => format!(
                    "the depth of a bug is from {} to {}, such as in `pct:3`",
                    DEPTHS.start(),
                    DEPTHS.end()
                ),
                Some(0) => "an execution has at least one step, such as in `pct:3:100`".to_owned(),
                Some(steps) => format!(
                    "priorities change at {changes} steps, and there are only {steps}; ask for a \
                     depth of at most {}, or for more steps",
                    steps + 1
                ),
                None => return None,
            })
        }
        "portfolio" if rest.trim().is_empty() => {
            Some("it is empty; name one or more that sample: `portfolio:pos-star+pct:3`".to_owned())
        }
        "portfolio" => {
            let member = rest
                .split('+')
                .find(|member| !parse(member).is_some_and(|strategy| strategy.is_sampling()))?;
            Some(format!(
                "`{member}` is no strategy that samples, as the parts of a portfolio have to be; \
                 say for example `portfolio:pos-star+pct:3`"
            ))
        }
        _ => None,
    }
}

/// The depths that can be asked for.
const DEPTHS: std::ops::RangeInclusive<u32> = 1..=100;

fn parse(word: &str) -> Option<Strategy> {
    let Some((name, rest)) = word.split_once(':') else {
        return match word {
            "random" => Some(Strategy::Random),
            "round-robin" => Some(Strategy::RoundRobin),
            "pct" => Some(Strategy::PctDrawn),
            "c11-random" => Some(Strategy::C11Random),
            "basic-pos" => Some(Strategy::BasicPos),
            "pos" => Some(Strategy::Pos),
            "pos-star" => Some(Strategy::PosStar),
            "rapos" => Some(Strategy::Rapos),
            "urw" => Some(Strategy::Urw),
            "surw" => Some(Strategy::Surw),
            "dfs" => Some(Strategy::Dfs),
            "dpor" => Some(Strategy::Dpor),
            "dpor-classic" => Some(Strategy::DporClassic),
            "pcr" => Some(Strategy::Pcr),
            "mcr" => Some(Strategy::Mcr),
            "auto" => Some(Strategy::Auto),
            _ => None,
        };
    };
    match name {
        "pct" => {
            let strategy = match rest.split_once(':') {
                None => Strategy::Pct { depth: number(rest)? },
                Some((depth, steps)) => {
                    Strategy::PctWithin { depth: number(depth)?, steps: number(steps)? }
                }
            };
            strategy.is_possible().then_some(strategy)
        }
        "pct-weak" => {
            let strategy = Strategy::PctWeak { depth: number(rest)? };
            strategy.is_possible().then_some(strategy)
        }
        "pctwm" => pctwm(rest),
        "delay" => number(rest).map(|delays| Strategy::Delay { delays }),
        "portfolio" => {
            let members: Option<Vec<Strategy>> = rest.split('+').map(parse).collect();
            let members = members?;
            // Strategies are plain data that can be copied; this one stays for ever, small as it is.
            let keep = |members: Vec<Strategy>| Strategy::Portfolio(members.leak());
            members.iter().all(Strategy::is_sampling).then(|| keep(members))
        }
        "dfs" => bound(rest).map(Strategy::DfsWithin),
        "dfs-delay" => number(rest).map(|delays| Strategy::DfsDelay { delays }),
        "bpor" => match rest.strip_prefix("0-") {
            None => bound(rest).map(Strategy::Bpor),
            Some(rest) => {
                let bound = bound(rest)?;
                bound.preemptions.is_some().then_some(Strategy::BporUpTo(bound))
            }
        },
        "bpor-plain" => bound(rest).map(Strategy::BporPlain),
        _ => None,
    }
}

/// `2:1` or `2:1:19`.
fn pctwm(text: &str) -> Option<Strategy> {
    let numbers: Option<Vec<u32>> = text.split(':').map(number).collect();
    let (depth, history, events) = match numbers?[..] {
        [depth, history] => (depth, history, None),
        [depth, history, events] => (depth, history, Some(events)),
        _ => return None,
    };
    let strategy = Strategy::Pctwm { depth, history, events };
    strategy.is_possible().then_some(strategy)
}

/// `2`, `fair:1` or `2:fair:1`.
fn bound(text: &str) -> Option<Bound> {
    if let Some(lead) = text.strip_prefix("fair:") {
        return Some(Bound::fair(number(lead)?));
    }
    match text.split_once(":fair:") {
        None => Some(Bound::preemptions(number(text)?)),
        Some((preemptions, lead)) => Some(Bound::both(number(preemptions)?, number(lead)?)),
    }
}

/// A number, in digits alone.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_as_they_were() {
        for word in [
            "random",
            "round-robin",
            "pct:1",
            "pct:100",
            "pct:3:2",
            "pct:1:1",
            "pct",
            "pctwm:0:1",
            "pctwm:2:3",
            "pctwm:2:3:19",
            "pct-weak:2",
            "c11-random",
            "basic-pos",
            "pos",
            "pos-star",
            "rapos",
            "urw",
            "surw",
            "delay:2",
            "portfolio:pos-star+pct:3",
            "portfolio:random",
            "dfs",
            "dfs:0",
            "dfs:2",
            "dfs:fair:1",
            "dfs:2:fair:1",
            "dfs-delay:2",
            "dpor",
            "dpor-classic",
            "bpor:2",
            "bpor:0-2",
            "bpor:fair:0",
            "bpor:2:fair:1",
            "bpor:0-3:fair:1",
            "bpor-plain:2",
            "bpor-plain:fair:1",
            "pcr",
            "mcr",
            "auto",
        ] {
            assert_eq!(word.parse::<Strategy>().unwrap().to_string(), word);
        }
    }

    #[test]
    fn other_words_are_refused_with_what_would_do() {
        for word in [
            "",
            "rnd",
            "portfolio",
            "delay",
            "pos:2",
            "pct:",
            "pctwm",
            "pctwm:1",
            "pctwm:1:0",
            "pctwm:3:1:2",
            "pctwm:101:1",
            "pct-weak:0",
            "pct:x",
            "pct:3:",
            "pct:3:x",
            "dfs:",
            "random:1",
            "bpor",
            "bpor:",
            "bpor:x",
            "bpor:0-fair:1",
            "bpor:1-2",
            "bpor:2:fair",
            "bpor:+2",
            "dfs-delay",
            "dpor:2",
        ] {
            let error = word.parse::<Strategy>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{word}`")) && error.contains("pct:D"), "{error}");
        }
    }

    #[test]
    fn words_that_are_nearly_right_are_told_what_is_wrong() {
        for (word, reason) in [
            ("pct:0", "from 1 to 100"),
            ("pct:101", "from 1 to 100"),
            ("pct:0:7", "from 1 to 100"),
            ("pct:5:3", "change at 4 steps, and there are only 3; ask for a depth of at most 4"),
            ("pct:1:0", "at least one step"),
            ("portfolio:", "it is empty"),
            ("portfolio:pos+", "`` is no strategy that samples"),
            ("portfolio:pos+dpor", "`dpor` is no strategy that samples"),
            ("portfolio:portfolio:pos+urw", "`portfolio:pos` is no strategy that samples"),
            ("portfolio:round-robin+pos", "`round-robin` is no strategy that samples"),
            ("portfolio:pos+pct:0", "`pct:0` is no strategy that samples"),
        ] {
            let error = word.parse::<Strategy>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{word}`")) && error.contains(reason), "{error}");
        }
    }

    #[test]
    fn what_was_not_made_from_a_word_is_looked_at() {
        let empty = Strategy::Portfolio(&[]).validate().unwrap_err().to_string();
        assert!(empty.contains("it is empty"), "{empty}");
        let shallow = Strategy::Pct { depth: 0 }.validate().unwrap_err().to_string();
        assert!(shallow.contains("`pct:0`: the depth of a bug is from 1"), "{shallow}");
        let search = Strategy::Portfolio(&[Strategy::Pos, Strategy::Dfs]).validate().unwrap_err();
        assert!(search.to_string().contains("`dfs` is no strategy that samples"), "{search}");
        assert_eq!(Strategy::Portfolio(&[Strategy::Pos, Strategy::PctDrawn]).validate(), Ok(()));
        assert_eq!(Strategy::PctWithin { depth: 1, steps: 1 }.validate(), Ok(()));
    }
}
