//! Runs one test.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::crates::Crate;

/// How long a test may take.
const LIMIT: Duration = Duration::from_secs(20);

/// What a test has shown.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) passes: bool,
    /// The failure is one of the crate's own bugs, see [`Crate::bugs`].
    pub(crate) is_known_bug: bool,
    /// The test was stopped at the limit.
    pub(crate) is_cut_off: bool,
    /// The number of executions, if the tool says it.
    pub(crate) executions: Option<u64>,
    /// How far raddle came: the weakest verdict of the checks of the test.
    pub(crate) coverage: Option<Coverage>,
    pub(crate) time: Duration,
}

/// What the checks of a test have covered.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Coverage {
    Sampled,
    Bounded,
    Exhaustive,
}

/// Returns the names of the tests in `program` that contain `filter`.
pub(crate) fn list(program: &Path, source: &Path, filter: &str) -> Result<Vec<String>, String> {
    let mut command = Command::new(program);
    command.args(["--list", "--format", "terse", filter]).current_dir(source);
    let output =
        command.output().map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test").map(str::to_owned)).collect())
}

/// Runs a test. raddle gets less time for each check than the limit, so that it ends by itself: a test may have several.
pub(crate) fn test(
    program: &Path,
    source: &Path,
    name: &str,
    of: &Crate,
) -> Result<Outcome, String> {
    let mut command = Command::new(program);
    command.args([name, "--exact", "--nocapture"]).current_dir(source);
    // To learn the time of the test itself: starting a process takes longer than most of them.
    command.args(["-Zunstable-options", "--format", "json", "--report-time"]);
    command.env("RUSTC_BOOTSTRAP", "1");
    command.envs(of.variables.iter().copied());
    // Loom says how many executions it made.
    command.env("LOOM_LOG", "info").env("RADDLE_TIME", "2s");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child =
        command.spawn().map_err(|error| format!("cannot run {}: {error}", program.display()))?;
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut stderr = child.stderr.take().expect("a pipe");
    let reader = thread::spawn(move || std::io::read_to_string(&mut stdout).unwrap_or_default());
    let errors = thread::spawn(move || std::io::read_to_string(&mut stderr).unwrap_or_default());
    let mut is_cut_off = false;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        if start.elapsed() > LIMIT {
            is_cut_off = true;
            // It may have ended meanwhile.
            _ = child.kill();
        }
        thread::sleep(Duration::from_millis(1));
    };
    let elapsed = start.elapsed();
    let text = reader.join().map_err(|_| "the output cannot be read")?;
    let errors = errors.join().map_err(|_| "the output cannot be read")?;
    let mut bugs = of.bugs.iter().filter(|(test, _)| *test == name);
    let is_known_bug = bugs.any(|(_, message)| errors.contains(message));
    // A test that was stopped or has ended its process tells no time.
    let time = text.lines().find_map(own_time).unwrap_or(elapsed);
    let checks = text.lines().filter(|line| line.contains("raddle: test `"));
    let coverage = checks.filter_map(coverage).min();
    let counts = text.lines().filter_map(executions);
    let executions = counts.reduce(|sum, count| sum + count);
    Ok(Outcome { passes: status.success(), is_known_bug, is_cut_off, executions, coverage, time })
}

/// Returns the time of the test in the test harness's line about its end.
fn own_time(line: &str) -> Option<Duration> {
    let (_, rest) = line.split_once("\"exec_time\": ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    Duration::try_from_secs_f64(rest[..digits].parse().ok()?).ok()
}

/// Returns the number of executions in a line of raddle's result or of Loom's log.
fn executions(line: &str) -> Option<u64> {
    if let Some((_, rest)) = line.split_once("Completed in ") {
        return rest.split(' ').next()?.parse().ok();
    }
    if !line.contains("raddle: test `") {
        return None;
    }
    if line.contains("nothing to explore") {
        return Some(1);
    }
    let places = line.match_indices(" execution").map(|(place, _)| &line[..place]);
    let mut words = places.filter_map(|before| before.rsplit(' ').next());
    words.find_map(|word| word.replace(',', "").parse().ok())
}

fn coverage(line: &str) -> Option<Coverage> {
    if line.contains("— exhaustive") || line.contains("nothing to explore") {
        Some(Coverage::Exhaustive)
    } else if line.contains("— bounded") {
        Some(Coverage::Bounded)
    } else if line.contains("— sampled") {
        Some(Coverage::Sampled)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Coverage, coverage, executions, own_time};

    #[test]
    fn times_are_read() {
        let line = r#"{ "type": "test", "name": "a", "event": "ok", "exec_time": 0.000523 }"#;
        assert_eq!(own_time(line), Some(Duration::from_micros(523)));
        assert_eq!(own_time(r#"{ "type": "test", "event": "started", "name": "a" }"#), None);
    }

    #[test]
    fn results_are_read() {
        let lines = [
            (
                "raddle: test `a` ok — exhaustive: 20 classes, 1,142 executions (after 12 probes; + 50 equivalent), 2 ms, RC11",
                Some(1_142),
                Some(Coverage::Exhaustive),
            ),
            (
                "raddle: test `a` ok — exhaustive but for the drops of `Arc`: 1 class, 1 execution (after 12 probes), 0.4 ms, RC11",
                Some(1),
                Some(Coverage::Exhaustive),
            ),
            (
                "raddle: test `a` ok — sampled: 12,345 executions after 12 probes (dpor 5 · pct 7), 2 classes seen",
                Some(12_345),
                Some(Coverage::Sampled),
            ),
            (
                "raddle: test `a` ok — bounded: all executions with ≤ 2 preemptions: none fails; 3 classes, 7 executions",
                Some(7),
                Some(Coverage::Bounded),
            ),
            (
                "raddle: test `a` ok — nothing to explore: the program runs one thread",
                Some(1),
                Some(Coverage::Exhaustive),
            ),
            ("2026 INFO iter{7}: loom::model: Completed in 401 iterations", Some(401), None),
            ("test a ... ok", None, None),
        ];
        for (line, count, covered) in lines {
            assert_eq!((executions(line), coverage(line)), (count, covered), "{line}");
        }
    }
}
