//! The engines that a table can measure, each on its own instance of the workloads.

use crate::measure::Prepared;

#[cfg(feature = "rivals")]
mod loom;
mod outside;
pub(crate) mod raddle;
#[cfg(feature = "rivals")]
mod shuttle;

/// Prepares a measurement of the named engine.
pub(crate) fn prepare(engine: &str, strategy: &str, workload: &str) -> Result<Prepared, String> {
    match engine {
        "raddle" => raddle::prepare(strategy, workload),
        "raddle-without-races" => raddle::prepare_without_races(strategy, workload),
        "outside" => outside::prepare(strategy, workload),
        #[cfg(feature = "rivals")]
        "shuttle" => shuttle::prepare(strategy, workload),
        #[cfg(feature = "rivals")]
        "loom" => loom::prepare(strategy, workload),
        _ => Err(format!("this build has no engine `{engine}`")),
    }
}
