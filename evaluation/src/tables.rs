//! All tables by name.

use clap::ValueEnum;

use crate::pctwm::Which;
use crate::plot::Plot;
use crate::table::{Size, Table};
use crate::{
    bpor, exhaustive, first_bug, graphs, litmus, micro, pcr, pct3, pctwm, pos_fig2, pos3, rc11_cost,
    sampling_speed, speed, wsq_figures,
};

/// A table that can be measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Name {
    /// Time per execution beside Shuttle's and Loom's
    Speed,
    /// Exhaustive search to the end, beside Loom's and Shuttle's
    Exhaustive,
    /// Bounded partial order reduction: coverage against runs and time
    Bpor,
    /// BPOR: runs and time to known bugs
    #[value(name = "bpor-1")]
    Bpor1,
    /// Pattern constraint reduction: schedules and time to the first failure, beside MAPTest
    #[value(name = "pcr-4")]
    Pcr4,
    /// PCR: failing executions in a fixed time
    #[value(name = "pcr-5")]
    Pcr5,
    /// PCR beside MCR: schedules, constraints and time
    #[value(name = "pcr-6")]
    Pcr6,
    /// How fast strategies cover memory-access patterns
    #[value(name = "pcr-fig6")]
    PcrFig6,
    /// PCR on the short programs of SCTBench, beside samplers
    #[value(name = "pcr-sctbench")]
    PcrSctBench,
    /// What coverage and solving cost
    #[value(name = "pcr-cost")]
    PcrCost,
    /// PCTWM, table 1: events and communication events
    #[value(name = "pctwm-1")]
    Pctwm1,
    /// PCTWM, table 2: hit rates by depth
    #[value(name = "pctwm-2")]
    Pctwm2,
    /// PCTWM, table 3: hit rates by history depth
    #[value(name = "pctwm-3")]
    Pctwm3,
    /// PCTWM, figure 5: the best hit rates of C11Tester, PCT and PCTWM
    #[value(name = "pctwm-fig5")]
    PctwmFig5,
    /// PCTWM, figure 6: hit rates with more relaxed stores
    #[value(name = "pctwm-fig6")]
    PctwmFig6,
    /// Random walk under RC11 beside the same under sequential consistency
    #[value(name = "rc11-cost")]
    Rc11Cost,
    /// Every execution graph under RC11, beside depth-first search
    Graphs,
    /// Litmus tests searched to the end, beside Loom
    LitmusSpeed,
    /// The running example of the POS paper, whose probabilities are known
    PosFig2,
    /// Coverage of the partial orders of small programs, beside the POS paper's
    #[value(name = "pos-1")]
    Pos1,
    /// Coverage of the partial orders of small programs, half of the accesses being reads
    #[value(name = "pos-2")]
    Pos2,
    /// Bug hit ratios on SCTBench, beside the POS paper's
    #[value(name = "pos-3")]
    Pos3,
    /// Bug hit ratios on the PCT paper's programs and examples, beside its bounds
    #[value(name = "pct-3")]
    Pct3,
    /// A work-stealing queue with more stealers and items
    PctFig9,
    /// A work-stealing queue beside a stress test
    PctFig10,
    /// A work-stealing queue: which pairs of events are covered
    PctFig11,
    /// Schedules to the first failure, over SCTBench
    FirstBug,
    /// Schedules to the first failure of SafeStack, about a million
    Safestack,
    /// Time per step of samplers beside random walk's
    SamplingSpeed,
}

impl Name {
    /// Measures the table, and returns it with its plots. `command` is the command that repeats the
    /// measurement.
    pub(crate) fn measure(self, size: Size, command: String) -> Result<(Table, Vec<Plot>), String> {
        let table = match self {
            Name::Speed => speed::table(size, command)?,
            Name::Exhaustive => exhaustive::table(size, command)?,
            Name::Pctwm1 => pctwm::table(Which::One, size, command),
            Name::Pctwm2 => pctwm::table(Which::Two, size, command),
            Name::Pctwm3 => pctwm::table(Which::Three, size, command),
            Name::PctwmFig5 => pctwm::table(Which::Figure5, size, command),
            Name::PctwmFig6 => pctwm::table(Which::Figure6, size, command),
            Name::Rc11Cost => rc11_cost::table(size, command)?,
            Name::Graphs => graphs::table(size, command)?,
            Name::LitmusSpeed => litmus::speed::table(size, command)?,
            Name::Bpor => return bpor::figures(size, command),
            Name::Bpor1 => bpor::bugs(size, command)?,
            Name::Pcr4 => pcr::first_bugs(size, command)?,
            Name::Pcr5 => pcr::failing_runs(size, command)?,
            Name::Pcr6 => pcr::beside_mcr(size, command)?,
            Name::PcrCost => pcr::costs(size, command)?,
            Name::PcrSctBench => pcr::sctbench(size, command)?,
            Name::PcrFig6 => return pcr::coverages(size, command),
            Name::PosFig2 => pos_fig2::table(size, command)?,
            Name::Pos1 => micro::writes(size, command)?,
            Name::Pos2 => micro::half_reads(size, command)?,
            Name::Pos3 => pos3::table(size, command)?,
            Name::Pct3 => pct3::table(size, command)?,
            Name::PctFig9 => return wsq_figures::threads_and_items(size, command),
            Name::PctFig10 => return wsq_figures::against_stress(size, command),
            Name::PctFig11 => return wsq_figures::event_pairs(size, command),
            Name::FirstBug => first_bug::table(size, command)?,
            Name::Safestack => first_bug::safestack(size, command)?,
            Name::SamplingSpeed => sampling_speed::table(size, command)?,
        };
        Ok((table, Vec::new()))
    }

    /// Returns the folder for the plots of the table below that of its text, or `None` if its plots are not
    /// kept.
    pub(crate) fn plots(self) -> Option<&'static str> {
        match self {
            Name::Bpor => Some("bpor"),
            Name::PcrFig6 => Some("pcr-fig6"),
            Name::PctFig9 | Name::PctFig10 | Name::PctFig11 => Some(""),
            _ => None,
        }
    }

    /// Returns the word for the table on the command line.
    pub(crate) fn word(self) -> String {
        let value = self.to_possible_value().expect("no table is hidden");
        value.get_name().to_owned()
    }
}
