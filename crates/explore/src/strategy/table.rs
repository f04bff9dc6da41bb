//! The table of strategies. Everything else that knows a strategy by its word reads it from here.

use raddle_core::MemoryModel;
use raddle_strategy::{Delay, Pct, Pctwm, Pos, Random, Rapos, RoundRobin, Sampler, Surw, Urw};

use crate::{
    Bound, BoundedDfs, Bpor, Dfs, Dpor, Explorer, Graphs, Limit, Mcr, Pcr, Reduction, Repeat,
};

/// One strategy, or a family of them with numbers.
#[derive(Debug)]
pub struct Row {
    /// The word. A capital letter stands for a number; in a portfolio, for a strategy that samples.
    pub pattern: &'static str,
    /// What is run, in a few words.
    pub summary: &'static str,
    /// The memory models under which it works.
    pub memory: Models,
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
    Row {
        pattern: "auto",
        summary: "every class if that fits the budget; otherwise executions with few preemptions, then samples",
        memory: Models::All,
        make: Make::Plan(Plan::Auto),
    },
    Row {
        pattern: "dpor",
        summary: "one execution of every equivalence class (optimal partial-order reduction)",
        memory: Models::Sc,
        make: Make::Search(|_| Box::new(Dpor::default())),
    },
    Row {
        pattern: "bpor:P",
        summary: "every class with an execution of at most P preemptions (bounded partial-order reduction)",
        memory: Models::Sc,
        make: Make::Search(bpor),
    },
    Row {
        pattern: "bpor:fair:F",
        summary: "every class in which no thread yields more than F times more often than an enabled one",
        memory: Models::Sc,
        make: Make::Search(bpor),
    },
    Row {
        pattern: "bpor:P:fair:F",
        summary: "every class within both bounds",
        memory: Models::Sc,
        make: Make::Search(bpor),
    },
    Row {
        pattern: "bpor:0-P",
        summary: "`bpor` with 0 preemptions, then 1, and so on up to P",
        memory: Models::Sc,
        make: Make::Plan(Plan::Deepening),
    },
    Row {
        pattern: "bpor:0-P:fair:F",
        summary: "the same within a fair bound",
        memory: Models::Sc,
        make: Make::Plan(Plan::Deepening),
    },
    Row {
        pattern: "random",
        summary: "a uniform draw among the enabled threads at every step (random walk)",
        memory: Models::All,
        make: Make::Sampler(|_| Ok(Box::new(Random::default()))),
    },
    Row {
        pattern: "pos-star",
        summary: "random priorities of operations, drawn again after a conflict (partial order sampling, POS*)",
        memory: Models::All,
        make: Make::Sampler(|_| Ok(Box::new(Pos::default()))),
    },
    Row {
        pattern: "pos",
        summary: "the same, drawn again after any two accesses of one object (POS)",
        memory: Models::All,
        make: Make::Sampler(|_| Ok(Box::new(Pos::plain()))),
    },
    Row {
        pattern: "basic-pos",
        summary: "the same, never drawn again (BasicPOS)",
        memory: Models::All,
        make: Make::Sampler(|_| Ok(Box::new(Pos::basic()))),
    },
    Row {
        pattern: "pct",
        summary: "`pct:D` with a depth drawn for each execution",
        memory: Models::All,
        make: Make::Sampler(|_| Ok(Box::new(Pct::drawn()))),
    },
    Row {
        pattern: "pct:D",
        summary: "random priorities of threads that change at D − 1 steps (probabilistic concurrency testing)",
        memory: Models::All,
        make: Make::Sampler(|arguments| Ok(Box::new(Pct::new(arguments.depth()?)))),
    },
    Row {
        pattern: "pct:D:K",
        summary: "the same for executions of at most K steps",
        memory: Models::All,
        make: Make::Sampler(pct_with_steps),
    },
    Row {
        pattern: "rapos",
        summary: "random batches of independent operations (random partial order sampling)",
        memory: Models::All,
        make: Make::Sampler(|_| Ok(Box::new(Rapos::default()))),
    },
    Row {
        pattern: "urw",
        summary: "threads weighted by the operations they have left (uniform random walk)",
        memory: Models::All,
        make: Make::Sampler(|_| Ok(Box::new(Urw::default()))),
    },
    Row {
        pattern: "surw",
        summary: "every order of the accesses to one object alike, another object in each execution (selectively uniform random walk)",
        memory: Models::All,
        make: Make::Sampler(|_| Ok(Box::new(Surw::default()))),
    },
    Row {
        pattern: "delay:D",
        summary: "a round-robin scheduler with D delays at random steps",
        memory: Models::All,
        make: Make::Sampler(|arguments| Ok(Box::new(Delay::new(arguments.number('D'))))),
    },
    Row {
        pattern: "portfolio:A+B",
        summary: "several strategies that sample, one execution each in turn",
        memory: Models::All,
        make: Make::Plan(Plan::Portfolio),
    },
    Row {
        pattern: "pcr",
        summary: "executions that a solver makes to show memory-access patterns not seen yet (pattern constraint reduction)",
        memory: Models::Sc,
        make: Make::Search(|arguments| Box::new(Pcr::new(arguments.seed))),
    },
    Row {
        pattern: "mcr",
        summary: "executions that a solver makes so that an operation returns something else (maximal causality reduction)",
        memory: Models::Sc,
        make: Make::Search(|arguments| Box::new(Mcr::new(arguments.seed))),
    },
    Row {
        pattern: "pctwm:D:H",
        summary: "D communication events, each reading one of the H newest stores (probabilistic concurrency testing for weak memory)",
        memory: Models::Rc11,
        make: Make::Sampler(pctwm),
    },
    Row {
        pattern: "pctwm:D:H:K",
        summary: "the same for executions of at most K communication events",
        memory: Models::Rc11,
        make: Make::Sampler(pctwm),
    },
    Row {
        pattern: "pct-weak:D",
        summary: "`pct:D` with random stores for loads, for comparison",
        memory: Models::Rc11,
        make: Make::Sampler(|arguments| Ok(Box::new(Pct::new(arguments.depth()?)))),
    },
    Row {
        pattern: "c11-random",
        summary: "`random`, which also draws the stores for loads: what C11Tester does",
        memory: Models::Rc11,
        make: Make::Sampler(|_| Ok(Box::new(Random::default()))),
    },
    Row {
        pattern: "round-robin",
        summary: "one execution, in which the threads take turns",
        memory: Models::All,
        make: Make::Search(|arguments| Box::new(Repeat::once(RoundRobin, arguments.seed))),
    },
    Row {
        pattern: "dfs",
        summary: "every interleaving; under RC11, every execution graph",
        memory: Models::All,
        make: Make::Search(|arguments| match arguments.memory {
            MemoryModel::Sc => Box::new(Dfs::default()),
            MemoryModel::Rc11 => Box::new(Graphs::default()),
        }),
    },
    Row {
        pattern: "dfs:P",
        summary: "every interleaving of at most P preemptions",
        memory: Models::Sc,
        make: Make::Search(|arguments| {
            Box::new(BoundedDfs::new(Limit::Preemptions(arguments.number('P'))))
        }),
    },
    Row {
        pattern: "dfs:fair:F",
        summary: "every interleaving within a fair bound",
        memory: Models::Sc,
        make: Make::Search(bounded),
    },
    Row {
        pattern: "dfs:P:fair:F",
        summary: "every interleaving within both bounds",
        memory: Models::Sc,
        make: Make::Search(bounded),
    },
    Row {
        pattern: "dfs-delay:D",
        summary: "every interleaving of at most D delays of a round-robin scheduler",
        memory: Models::Sc,
        make: Make::Search(|arguments| {
            Box::new(BoundedDfs::new(Limit::Delays(arguments.number('D'))))
        }),
    },
    Row {
        pattern: "dpor-classic",
        summary: "every class at least once, by persistent and sleep sets, for comparison",
        memory: Models::Sc,
        make: Make::Search(bpor),
    },
    Row {
        pattern: "bpor-plain:P",
        summary: "`bpor:P` without its optimisations, for comparison",
        memory: Models::Sc,
        make: Make::Search(plain_bpor),
    },
    Row {
        pattern: "bpor-plain:fair:F",
        summary: "`bpor:fair:F` without its optimisations, for comparison",
        memory: Models::Sc,
        make: Make::Search(plain_bpor),
    },
    Row {
        pattern: "bpor-plain:P:fair:F",
        summary: "`bpor:P:fair:F` without its optimisations, for comparison",
        memory: Models::Sc,
        make: Make::Search(plain_bpor),
    },
];

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
