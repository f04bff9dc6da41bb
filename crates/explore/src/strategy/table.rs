//! The table of strategies.
//!
//! Each strategy is one row. The parser, its error texts, portfolios, `auto`, and refusals of memory models read the
//! rows, and a test compares the lists in `docs/guide.md` with them. A new sampler is a file in
//! `crates/strategy` and a row here.

use raddle_core::MemoryModel;
use raddle_strategy::{Delay, Pct, Pctwm, Pos, Random, Rapos, RoundRobin, Sampler, Surw, Urw};

use crate::{
    Bound, BoundedDfs, Bpor, Dfs, Dpor, Explorer, Graphs, Limit, Mcr, Pcr, Reduction, Repeat, Trust,
};

/// One strategy, or a family of them with numbers.
#[derive(Debug)]
pub struct Row {
    /// The word. A capital letter stands for a number; in a portfolio, for a strategy that samples.
    pub pattern: &'static str,
    /// The memory models under which it works.
    pub memory: Models,
    /// What it runs.
    pub summary: &'static str,
    /// When to use it.
    pub use_case: &'static str,
    pub(super) make: Make,
}

/// The memory models that a strategy knows.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Models {
    /// All.
    All,
    /// Sequential consistency.
    Sc,
    /// RC11.
    Rc11,
}

/// What a strategy is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Draws executions at random. It can be a member of a portfolio, and continue after a failure.
    Sampler,
    /// Decides each run by the runs before it.
    Search,
    /// Combines others.
    Plan,
}

/// The constructor of a strategy.
#[derive(Debug)]
pub(super) enum Make {
    /// Returns what is wrong with the numbers, if anything.
    Sampler(fn(&Arguments) -> Result<Box<dyn Sampler>, String>),
    Search(fn(&Arguments) -> Box<dyn Explorer>),
    Plan(Plan),
}

/// A strategy that combines others.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Plan {
    /// One bound on preemptions after the other.
    Deepening,
    /// Several samplers in turn.
    Portfolio,
    /// A search if it fits the budget, otherwise samples.
    Auto,
}

/// What a strategy is made from.
#[derive(Copy, Clone, Debug)]
pub(super) struct Arguments {
    pub(super) pattern: &'static str,
    /// The numbers in place of the pattern's capital letters.
    pub(super) numbers: [u32; 3],
    pub(super) memory: MemoryModel,
    pub(super) seed: u64,
}

impl Arguments {
    /// Returns the number in place of `letter`. `None` if the pattern has no such letter.
    fn get(&self, letter: char) -> Option<u32> {
        let mut letters = self.pattern.chars().filter(char::is_ascii_uppercase);
        letters.position(|other| other == letter).map(|place| self.numbers[place])
    }

    fn number(&self, letter: char) -> u32 {
        self.get(letter).expect("raddle invariant broken: a pattern without a letter that is used")
    }

    /// Returns the bound of a pattern with P preemptions, a fair bound F, or both.
    pub(super) fn bound(&self) -> Bound {
        Bound { preemptions: self.get('P'), lead: self.get('F') }
    }

    /// Returns the depth of a bug.
    fn depth(&self) -> Result<u32, String> {
        match self.number('D') {
            depth @ 1..=MAX_DEPTH => Ok(depth),
            _ => Err(format!("the depth of a bug is from 1 to {MAX_DEPTH}, such as in `pct:3`")),
        }
    }
}

impl Row {
    /// Returns what the strategy is.
    pub fn kind(&self) -> Kind {
        match self.make {
            Make::Sampler(_) => Kind::Sampler,
            Make::Search(_) => Kind::Search,
            Make::Plan(_) => Kind::Plan,
        }
    }
}

/// The largest depth of a bug.
const MAX_DEPTH: u32 = 100;

/// All strategies, in the order in which they are listed for users.
pub(super) static STRATEGIES: &[Row] = &[
    row(
        "auto",
        Models::All,
        "up to 12 probes (`round-robin`, then `pct`); then `dpor` if all executions fit the budget; \
         otherwise `bpor` with few preemptions for a part of the budget, then `pos-star`. With `rc11`: \
         `dpor` if all executions fit the budget, otherwise samples. The report says how far each \
         came.",
        "the default",
        Make::Plan(Plan::Auto),
    ),
    row(
        "dpor",
        Models::All,
        "one execution of every class of equivalent executions (optimal dynamic partial-order \
         reduction); with `rc11`, one of every execution graph (TruSt), or as `dfs` if threads use \
         futexes, or if `RwLock::try_write` competes with several readers",
        "small tests: a clean result is a proof for this test",
        Make::Search(|arguments| match arguments.memory {
            MemoryModel::Sc => Box::new(Dpor::default()),
            MemoryModel::Rc11 => Box::new(Trust::default()),
        }),
    ),
    row(
        "bpor:P",
        Models::All,
        "every class that needs at most P preemptions (bounded partial-order reduction); with `rc11`, \
         every execution graph that some order of its steps runs with at most P preemptions, and \
         others on the way to them",
        "if `dpor` does not finish: most bugs need few preemptions",
        Make::Search(|arguments| match arguments.memory {
            MemoryModel::Sc => bpor(arguments),
            MemoryModel::Rc11 => Box::new(Trust::bounded(arguments.number('P'))),
        }),
    ),
    row(
        "bpor:fair:F",
        Models::Sc,
        "every class in which no thread yields more than F times more often than other runnable \
         threads",
        "if threads wait in loops with `yield_now` or `spin_loop`",
        Make::Search(bpor),
    ),
    row(
        "bpor:P:fair:F",
        Models::Sc,
        "every class within both bounds",
        "if `bpor:fair:F` does not finish",
        Make::Search(bpor),
    ),
    row(
        "bpor:0-P",
        Models::Sc,
        "`bpor` with 0 preemptions, then with 1, and so on up to P",
        "to find the failure with the fewest preemptions",
        Make::Plan(Plan::Deepening),
    ),
    row(
        "bpor:0-P:fair:F",
        Models::Sc,
        "`bpor:0-P` within a fair bound",
        "the same, if threads wait in loops",
        Make::Plan(Plan::Deepening),
    ),
    row(
        "mcr",
        Models::Sc,
        "executions that a solver constructs so that an operation gets another result, until \
         there are none left (maximal causality reduction)",
        "programs with few distinct results",
        Make::Search(|arguments| Box::new(Mcr::new(arguments.seed))),
    ),
    row(
        "pcr",
        Models::Sc,
        "executions that a solver constructs to show memory-access patterns not seen yet, until \
         there are none left (pattern constraint reduction); the report states the share that was \
         seen. A clean result is not a proof.",
        "expensive executions, and bugs of few accesses such as check-then-act",
        Make::Search(|arguments| Box::new(Pcr::new(arguments.seed))),
    ),
    row(
        "dfs",
        Models::All,
        "every interleaving, one by one; with `rc11`, every execution graph",
        "for comparison",
        Make::Search(|arguments| match arguments.memory {
            MemoryModel::Sc => Box::new(Dfs::default()),
            MemoryModel::Rc11 => Box::new(Graphs::default()),
        }),
    ),
    row(
        "dfs:P",
        Models::Sc,
        "every interleaving with at most P preemptions",
        "for comparison",
        Make::Search(|arguments| {
            Box::new(BoundedDfs::new(Limit::Preemptions(arguments.number('P'))))
        }),
    ),
    row(
        "dfs:fair:F",
        Models::Sc,
        "every interleaving within a fair bound",
        "for comparison",
        Make::Search(bounded),
    ),
    row(
        "dfs:P:fair:F",
        Models::Sc,
        "every interleaving within both bounds",
        "for comparison",
        Make::Search(bounded),
    ),
    row(
        "dfs-delay:D",
        Models::Sc,
        "every interleaving with at most D delays of a round-robin scheduler",
        "for comparison",
        Make::Search(|arguments| Box::new(BoundedDfs::new(Limit::Delays(arguments.number('D'))))),
    ),
    row(
        "dpor-classic",
        Models::Sc,
        "every class at least once, by persistent sets and sleep sets (dynamic partial-order \
         reduction as first published)",
        "for comparison",
        Make::Search(bpor),
    ),
    row(
        "bpor-plain:P",
        Models::Sc,
        "`bpor:P` without optimisations",
        "for comparison",
        Make::Search(plain_bpor),
    ),
    row(
        "bpor-plain:fair:F",
        Models::Sc,
        "`bpor:fair:F` without optimisations",
        "for comparison",
        Make::Search(plain_bpor),
    ),
    row(
        "bpor-plain:P:fair:F",
        Models::Sc,
        "`bpor:P:fair:F` without optimisations",
        "for comparison",
        Make::Search(plain_bpor),
    ),
    row(
        "round-robin",
        Models::All,
        "one execution, in which threads take turns",
        "a quick try",
        Make::Search(|arguments| Box::new(Repeat::once(RoundRobin, arguments.seed))),
    ),
    row(
        "pos-star",
        Models::All,
        "every pending operation has a random priority, which is drawn again after a step that \
         conflicts with it (partial order sampling, POS*)",
        "tests that are too large to search",
        Make::Sampler(|_| Ok(Box::new(Pos::default()))),
    ),
    row(
        "pos",
        Models::All,
        "`pos-star`, with priorities drawn again after any access to the same object (POS)",
        "for comparison",
        Make::Sampler(|_| Ok(Box::new(Pos::plain()))),
    ),
    row(
        "basic-pos",
        Models::All,
        "`pos-star`, with priorities that are never drawn again (BasicPOS)",
        "for comparison",
        Make::Sampler(|_| Ok(Box::new(Pos::basic()))),
    ),
    row(
        "random",
        Models::All,
        "a random runnable thread at each step (random walk)",
        "for comparison, and for programs that mostly race",
        Make::Sampler(|_| Ok(Box::new(Random::default()))),
    ),
    row(
        "pct:D",
        Models::All,
        "threads have random priorities, which change at D − 1 random steps (probabilistic \
         concurrency testing). The probability to find a bug that needs D ordering decisions has \
         a lower bound, which the report states.",
        "bugs that need few decisions at exact places of long executions",
        Make::Sampler(|arguments| Ok(Box::new(Pct::new(arguments.depth()?)))),
    ),
    row(
        "pct",
        Models::All,
        "`pct:D` with a random depth for each execution",
        "if you do not know the depth",
        Make::Sampler(|_| Ok(Box::new(Pct::drawn()))),
    ),
    row(
        "pct:D:K",
        Models::All,
        "`pct:D` for executions of at most K steps",
        "if you know the length of executions",
        Make::Sampler(pct_with_steps),
    ),
    row(
        "surw",
        Models::All,
        "all orders of the accesses to one object with equal probability, another object in each \
         execution; the first execution shows what threads do (selectively uniform random walk)",
        "bugs around one busy object",
        Make::Sampler(|_| Ok(Box::new(Surw::default()))),
    ),
    row(
        "urw",
        Models::All,
        "all interleavings with nearly equal probability (uniform random walk)",
        "for comparison",
        Make::Sampler(|_| Ok(Box::new(Urw::default()))),
    ),
    row(
        "rapos",
        Models::All,
        "random batches of independent operations (random partial order sampling)",
        "for comparison",
        Make::Sampler(|_| Ok(Box::new(Rapos::default()))),
    ),
    row(
        "delay:D",
        Models::All,
        "a round-robin scheduler with D random delays",
        "for comparison",
        Make::Sampler(|arguments| Ok(Box::new(Delay::new(arguments.number('D'))))),
    ),
    row(
        "portfolio:A+B",
        Models::All,
        "one execution of each sampler in turn; the report says which found what",
        "if you do not know which sampler fits",
        Make::Plan(Plan::Portfolio),
    ),
    row(
        "pctwm:D:H",
        Models::Rc11,
        "D events read stores of other threads, each one of the H newest; all other events read \
         what their thread knows (probabilistic concurrency testing for weak memory)",
        "bugs of memory orderings",
        Make::Sampler(pctwm),
    ),
    row(
        "pctwm:D:H:K",
        Models::Rc11,
        "`pctwm:D:H` for executions of at most K communication events",
        "if you know their number",
        Make::Sampler(pctwm),
    ),
    row(
        "c11-random",
        Models::Rc11,
        "a random runnable thread at each step, and a random store for each load (C11Tester)",
        "for comparison",
        Make::Sampler(|_| Ok(Box::new(Random::default()))),
    ),
    row(
        "pct-weak:D",
        Models::Rc11,
        "`pct:D` for threads, and a random store for each load",
        "for comparison",
        Make::Sampler(|arguments| Ok(Box::new(Pct::new(arguments.depth()?)))),
    ),
];

const fn row(
    pattern: &'static str,
    memory: Models,
    summary: &'static str,
    use_case: &'static str,
    make: Make,
) -> Row {
    Row { pattern, memory, summary, use_case, make }
}

fn bpor(arguments: &Arguments) -> Box<dyn Explorer> {
    Box::new(Bpor::new(arguments.bound(), Reduction::Optimised))
}

fn plain_bpor(arguments: &Arguments) -> Box<dyn Explorer> {
    Box::new(Bpor::new(arguments.bound(), Reduction::Plain))
}

fn bounded(arguments: &Arguments) -> Box<dyn Explorer> {
    Box::new(Bpor::new(arguments.bound(), Reduction::None))
}

fn pct_with_steps(arguments: &Arguments) -> Result<Box<dyn Sampler>, String> {
    let (depth, steps) = (arguments.depth()?, arguments.number('K'));
    if steps == 0 {
        return Err("an execution has at least one step, such as in `pct:3:100`".into());
    }
    if steps < depth - 1 {
        return Err(format!(
            "priorities change at {} steps, and there are only {steps}; ask for a depth of at most {}, \
             or for more steps",
            depth - 1,
            steps + 1
        ));
    }
    Ok(Box::new(Pct::with_steps(depth, steps as usize)))
}

fn pctwm(arguments: &Arguments) -> Result<Box<dyn Sampler>, String> {
    let (depth, history) = (arguments.number('D'), arguments.number('H'));
    if depth > MAX_DEPTH {
        return Err(format!("at most {MAX_DEPTH} events communicate, such as in `pctwm:2:1`"));
    }
    if history == 0 {
        return Err("a load has at least one store to read, such as in `pctwm:2:1`".into());
    }
    Ok(Box::new(match arguments.get('K') {
        None => Pctwm::new(depth, history),
        Some(events) if events < depth.max(1) => {
            return Err(format!(
                "there are {depth} events that communicate, and only {events} communication events; \
                 ask for more of these, such as in `pctwm:2:1:19`"
            ));
        }
        Some(events) => Pctwm::with_events(depth, history, events as usize),
    }))
}
