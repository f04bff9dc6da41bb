//! raddle itself, called as its users call it: trace and fingerprints on.

use crate::measure::Prepared;

crate::workloads::workloads!(raddle, raddle::cell::UnsafeCell<u64>);
crate::workloads::tasks!(raddle);

#[allow(unused_imports, reason = "only the side that prints a table reads it")]
pub(crate) use tasks::TASKS;

/// Prepares a workload under any strategy word that raddle knows.
pub(crate) fn prepare(strategy: &str, workload: &str) -> Result<Prepared, String> {
    with(
        raddle::Config::new().explain(raddle::Explain::Off).hidden_state(false),
        strategy,
        workload,
    )
}

/// The same, without looking for data races.
#[allow(dead_code, reason = "the dev profile is not measured for it")]
pub(crate) fn prepare_without_races(strategy: &str, workload: &str) -> Result<Prepared, String> {
    with(
        raddle::Config::new().explain(raddle::Explain::Off).races(false).hidden_state(false),
        strategy,
        workload,
    )
}

fn with(config: raddle::Config, strategy: &str, workload: &str) -> Result<Prepared, String> {
    let body = crate::workloads::find(&[WORKLOADS, TASKS], workload)?.body;
    let strategy: raddle::Strategy =
        strategy.parse().map_err(|error| format!("strategy `{strategy}`: {error}"))?;
    let config = config.name("speed").strategy(strategy).unlimited_time().explore_trivial(true);
    Ok(Prepared::Ready(Box::new(move |count| {
        let report = config.clone().runs(count).run(body);
        match report.failure() {
            Some(failure) => Err(format!("raddle found a failure: {failure:?}")),
            None => Ok(report.executions),
        }
    })))
}
