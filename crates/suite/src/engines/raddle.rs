//! raddle itself, called as its users call it: trace and fingerprints on.

use crate::measure::Prepared;

crate::workloads::workloads!(raddle);

/// Prepares a workload under any strategy word that raddle knows.
pub(crate) fn prepare(strategy: &str, workload: &str) -> Result<Prepared, String> {
    let body = crate::workloads::find(WORKLOADS, workload)?.body;
    let strategy: raddle::Strategy =
        strategy.parse().map_err(|error| format!("strategy `{strategy}`: {error}"))?;
    Ok(Prepared::Ready(Box::new(move |count| {
        let report = raddle::Config::new()
            .name("speed")
            .strategy(strategy)
            .runs(count)
            .unlimited_time()
            .explore_trivial(true)
            .run(body);
        match report.failure() {
            Some(failure) => Err(format!("raddle found a failure: {failure:?}")),
            None => Ok(report.executions),
        }
    })))
}
