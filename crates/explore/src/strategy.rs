//! Strategies by name: the user's word for a chooser repeated, or an explorer.

use std::fmt;
use std::str::FromStr;

/// How executions are chosen.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// Every option alike, at every point: `random`.
    #[default]
    Random,
    /// The threads take turns: `round-robin`. One execution.
    RoundRobin,
    /// Probabilistic concurrency testing for bugs of this depth: `pct:3`.
    Pct {
        /// The depth, at least one.
        depth: u32,
    },
    /// Every interleaving: `dfs`.
    Dfs,
    /// One execution of every equivalence class: `dpor`.
    Dpor,
    /// Everything if that fits the budget, otherwise what can be had for it: `auto`.
    Auto,
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Strategy::Random => f.write_str("random"),
            Strategy::RoundRobin => f.write_str("round-robin"),
            Strategy::Pct { depth } => write!(f, "pct:{depth}"),
            Strategy::Dfs => f.write_str("dfs"),
            Strategy::Dpor => f.write_str("dpor"),
            Strategy::Auto => f.write_str("auto"),
        }
    }
}

/// A word that names no strategy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StrategyError {
    word: String,
}

impl fmt::Display for StrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unknown strategy `{}`; known are: random, round-robin, pct:D (with a depth D from 1 \
             to 100), dfs, dpor, auto",
            self.word
        )
    }
}

impl std::error::Error for StrategyError {}

impl FromStr for Strategy {
    type Err = StrategyError;

    fn from_str(word: &str) -> Result<Strategy, StrategyError> {
        let unknown = || StrategyError { word: word.to_owned() };
        match word.trim().split_once(':') {
            None => match word.trim() {
                "random" => Ok(Strategy::Random),
                "round-robin" => Ok(Strategy::RoundRobin),
                "dfs" => Ok(Strategy::Dfs),
                "dpor" => Ok(Strategy::Dpor),
                "auto" => Ok(Strategy::Auto),
                _ => Err(unknown()),
            },
            Some(("pct", depth)) => match depth.parse() {
                Ok(depth @ 1..=100) => Ok(Strategy::Pct { depth }),
                Ok(_) | Err(_) => Err(unknown()),
            },
            Some(_) => Err(unknown()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_as_they_were() {
        for word in ["random", "round-robin", "pct:1", "pct:100", "dfs", "dpor", "auto"] {
            assert_eq!(word.parse::<Strategy>().unwrap().to_string(), word);
        }
    }

    #[test]
    fn other_words_are_refused_with_what_would_do() {
        for word in ["", "rnd", "pct", "pct:0", "pct:101", "pct:x", "dfs:", "random:1"] {
            let error = word.parse::<Strategy>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{word}`")) && error.contains("pct:D"), "{error}");
        }
    }
}
