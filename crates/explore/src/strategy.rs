//! Strategies by name: the user's word for a sampler, a search, or a plan.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use raddle_core::MemoryModel;
use raddle_strategy::Sampler;

use crate::{Bound, Explorer, Refusal, Repeat};

mod table;

pub(crate) use table::Plan;
use table::{Arguments, Make, STRATEGIES};
pub use table::{Kind, Models, Row};

/// How executions are chosen: a row of the [table](Strategy::table), with its numbers.
///
/// Made from its word: `"pct:3".parse()`.
#[derive(Copy, Clone)]
pub struct Strategy {
    row: &'static Row,
    /// The numbers in place of the pattern's capital letters.
    numbers: [u32; 3],
    /// The members of a portfolio.
    members: &'static [Strategy],
}

impl Strategy {
    /// Returns all strategies, in the order in which users see them.
    pub fn table() -> &'static [Row] {
        STRATEGIES
    }

    /// Returns what the strategy is.
    pub fn kind(&self) -> Kind {
        self.row.kind()
    }

    /// Returns the word that stands for the strategy.
    pub fn word(&self) -> Cow<'static, str> {
        if let Make::Plan(Plan::Portfolio) = self.row.make {
            let words: Vec<String> = self.members.iter().map(Strategy::to_string).collect();
            return Cow::Owned(format!("{PORTFOLIO}{}", words.join("+")));
        }
        let pattern = self.row.pattern;
        if !pattern.contains(is_number) {
            return Cow::Borrowed(pattern);
        }
        let mut numbers = self.numbers.iter();
        let mut word = String::new();
        for letter in pattern.chars() {
            match numbers.as_slice().first() {
                Some(number) if is_number(letter) => {
                    word.push_str(&number.to_string());
                    numbers.next();
                }
                Some(_) | None => word.push(letter),
            }
        }
        Cow::Owned(word)
    }

    /// Returns the strategy of a word that the table has.
    pub(crate) fn known(word: &str) -> Strategy {
        parse(word).expect("raddle invariant broken: a word that is not in the table of strategies")
    }

    /// Returns the plan, if this is one.
    pub(crate) fn plan(&self) -> Option<Plan> {
        match self.row.make {
            Make::Plan(plan) => Some(plan),
            Make::Sampler(_) | Make::Search(_) => None,
        }
    }

    /// Returns a new sampler. `None` if the strategy does not sample.
    pub(crate) fn sampler(&self) -> Option<Box<dyn Sampler>> {
        match self.row.make {
            Make::Sampler(make) => {
                let sampler = make(&self.arguments(MemoryModel::Sc, 0));
                Some(sampler.expect("raddle invariant broken: the numbers were checked"))
            }
            Make::Search(_) | Make::Plan(_) => None,
        }
    }

    /// Returns a new explorer. `None` if the strategy is a plan.
    pub(crate) fn explorer(&self, memory: MemoryModel, seed: u64) -> Option<Box<dyn Explorer>> {
        match self.row.make {
            Make::Search(make) => Some(make(&self.arguments(memory, seed))),
            Make::Sampler(_) | Make::Plan(_) => Some(Box::new(Repeat::new(self.sampler()?, seed))),
        }
    }

    /// Returns the members of a portfolio. Empty for other strategies.
    pub(crate) fn members(&self) -> &'static [Strategy] {
        self.members
    }

    /// Returns the bounds of the strategy, if its word has any.
    pub(crate) fn bound(&self) -> Bound {
        self.arguments(MemoryModel::Sc, 0).bound()
    }

    /// Returns whether the strategy can continue after a failure. A search cannot: the failing run was cut
    /// off, and its further steps are not known.
    pub fn can_keep_going(&self) -> bool {
        match self.row.make {
            Make::Sampler(_) | Make::Plan(Plan::Portfolio | Plan::Auto) => true,
            Make::Search(_) | Make::Plan(Plan::Deepening) => false,
        }
    }

    /// Refuses a strategy that does not work under `memory`.
    pub(crate) fn check_memory(&self, memory: MemoryModel) -> Result<(), Refusal> {
        let strategy = self.word();
        match (self.row.memory, memory) {
            (Models::Sc, MemoryModel::Rc11) => Err(Refusal::NotWeak { strategy }),
            (Models::Rc11, MemoryModel::Sc) => Err(Refusal::OnlyWeak { strategy }),
            (Models::All | Models::Sc, MemoryModel::Sc)
            | (Models::All | Models::Rc11, MemoryModel::Rc11) => {
                self.members.iter().try_for_each(|member| member.check_memory(memory))
            }
        }
    }

    fn arguments(&self, memory: MemoryModel, seed: u64) -> Arguments {
        Arguments { pattern: self.row.pattern, numbers: self.numbers, memory, seed }
    }
}

/// `auto`.
impl Default for Strategy {
    fn default() -> Strategy {
        Strategy::known("auto")
    }
}

impl PartialEq for Strategy {
    fn eq(&self, other: &Strategy) -> bool {
        (self.row.pattern, self.numbers, self.members)
            == (other.row.pattern, other.numbers, other.members)
    }
}

impl Eq for Strategy {}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word())
    }
}

impl fmt::Debug for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Strategy({})", self.word())
    }
}

impl FromStr for Strategy {
    type Err = StrategyError;

    fn from_str(word: &str) -> Result<Strategy, StrategyError> {
        parse(word.trim()).map_err(|reason| StrategyError { word: word.to_owned(), reason })
    }
}

/// A word that names no strategy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StrategyError {
    word: String,
    /// What is wrong with the word, if it fits a pattern.
    reason: Option<String>,
}

impl fmt::Display for StrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reason) = &self.reason {
            return write!(f, "strategy `{}`: {reason}", self.word);
        }
        write!(f, "unknown strategy `{}`; known are: ", self.word)?;
        for (place, row) in STRATEGIES.iter().enumerate() {
            let separator = if place == 0 { "" } else { ", " };
            let note = if row.memory == Models::Rc11 { " (under RC11)" } else { "" };
            write!(f, "{separator}{}{note}", row.pattern)?;
        }
        f.write_str("; a capital letter is a number, A and B are strategies that sample")
    }
}

impl std::error::Error for StrategyError {}

/// What the word of a portfolio begins with.
const PORTFOLIO: &str = "portfolio:";

/// Returns the strategy of a word, or what is wrong with a word that fits a pattern.
fn parse(word: &str) -> Result<Strategy, Option<String>> {
    if let Some(members) = word.strip_prefix(PORTFOLIO) {
        return parse_portfolio(members).map_err(Some);
    }
    let fit = |row: &'static Row| Some((row, numbers_of(row.pattern, word)?));
    let (row, numbers) = STRATEGIES.iter().find_map(fit).ok_or(None)?;
    let strategy = Strategy { row, numbers, members: &[] };
    if let Make::Sampler(make) = row.make {
        make(&strategy.arguments(MemoryModel::Sc, 0)).map_err(Some)?;
    }
    Ok(strategy)
}

fn parse_portfolio(members: &str) -> Result<Strategy, String> {
    if members.trim().is_empty() {
        return Err(format!(
            "it is empty; name one or more strategies that sample: `{PORTFOLIO}pos-star+pct:3`"
        ));
    }
    let member = |word: &str| match parse(word) {
        Ok(strategy) if strategy.kind() == Kind::Sampler => Ok(strategy),
        Ok(_) | Err(_) => Err(format!(
            "`{word}` is no strategy that samples, as the parts of a portfolio have to be; say for \
             example `{PORTFOLIO}pos-star+pct:3`"
        )),
    };
    let members: Vec<Strategy> = members.split('+').map(member).collect::<Result<_, _>>()?;
    let is_portfolio = |row: &&Row| matches!(row.make, Make::Plan(Plan::Portfolio));
    let row = STRATEGIES.iter().find(is_portfolio);
    let row = row.expect("raddle invariant broken: the table has no portfolio");
    // A strategy is `Copy`, so that its members are never freed; they are few.
    Ok(Strategy { row, numbers: [0; 3], members: members.leak() })
}

/// Returns the numbers in `word` in place of the capital letters of `pattern`. `None` if it does not fit.
fn numbers_of(pattern: &str, word: &str) -> Option<[u32; 3]> {
    let mut numbers = [0; 3];
    let mut place = 0;
    let mut rest = word;
    for letter in pattern.chars() {
        if is_number(letter) {
            let end = rest.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(rest.len());
            numbers[place] = rest[..end].parse().ok()?;
            place += 1;
            rest = &rest[end..];
        } else {
            rest = rest.strip_prefix(letter)?;
        }
    }
    rest.is_empty().then_some(numbers)
}

/// Returns whether a letter of a pattern stands for a number.
fn is_number(letter: char) -> bool {
    letter.is_ascii_uppercase()
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

    /// Every row makes what it says, under every memory model that it names.
    #[test]
    fn rows_make_what_they_say() {
        for row in Strategy::table() {
            let word: String = match row.pattern {
                "portfolio:A+B" => "portfolio:random+pos".into(),
                pattern => pattern.chars().map(|c| if is_number(c) { '3' } else { c }).collect(),
            };
            let strategy: Strategy = word.parse().unwrap();
            assert_eq!(strategy.row.pattern, row.pattern, "{word} fits another row first");
            for memory in [MemoryModel::Sc, MemoryModel::Rc11] {
                let models = match memory {
                    MemoryModel::Sc => [Models::All, Models::Sc],
                    MemoryModel::Rc11 => [Models::All, Models::Rc11],
                };
                assert_eq!(strategy.check_memory(memory).is_ok(), models.contains(&row.memory));
            }
            let made =
                (strategy.sampler().is_some(), strategy.explorer(MemoryModel::Sc, 1).is_some());
            let expected = match row.kind() {
                Kind::Sampler => (true, true),
                Kind::Search => (false, true),
                Kind::Plan => (false, false),
            };
            assert_eq!(made, expected, "{word}");
        }
    }

    #[test]
    fn other_words_are_refused_with_a_list_of_all() {
        for word in [
            "",
            "rnd",
            "portfolio",
            "delay",
            "pos:2",
            "pct:",
            "pctwm",
            "pctwm:1",
            "pct:x",
            "pct:3:",
            "pct:3:x",
            "pct:99999999999",
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
            assert!(error.contains(&format!("`{word}`")), "{error}");
            assert!(Strategy::table().iter().all(|row| error.contains(row.pattern)), "{error}");
        }
    }

    #[test]
    fn words_that_fit_a_pattern_are_refused_with_a_reason() {
        for (word, reason) in [
            ("pct:0", "from 1 to 100"),
            ("pct:101", "from 1 to 100"),
            ("pct:0:7", "from 1 to 100"),
            ("pct:5:3", "change at 4 steps, and there are only 3; ask for a depth of at most 4"),
            ("pct:1:0", "at least one step"),
            ("pct-weak:0", "from 1 to 100"),
            ("pctwm:1:0", "at least one store"),
            ("pctwm:3:1:2", "only 2 communication events"),
            ("pctwm:0:1:0", "only 0 communication events"),
            ("pctwm:101:1", "at most 100 events"),
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
}
