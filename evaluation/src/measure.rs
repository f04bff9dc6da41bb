//! The child's side of a measurement: runs one engine on one workload and answers with CPU times.
//!
//! An engine never shares a process with another one: Shuttle's panic hook, for one, stays installed.
//! So the table starts a child per engine and talks to it in lines:
//!
//! | the parent writes | the child answers |
//! | --- | --- |
//! | (nothing, at the start) | `ready`, or `cannot REASON` where the engine cannot run the workload |
//! | `run N` | `N NANOSECONDS`: the executions done and the CPU time they took |
//! | `rss` | the resident memory in KiB |
//!
//! The end of the input ends the child. Time is the CPU time of the thread that calls the engine:
//! all engines here run the program's threads as coroutines of that one. Should one of them work
//! elsewhere as well, the child says so and gives up, for its figures would flatter it.

use std::io::{BufRead, Write};

use rustix::time::{ClockId, clock_gettime};

/// Runs that many executions and says how many were done.
pub(crate) type Slice = Box<dyn FnMut(u64) -> Result<u64, String>>;

/// What an engine makes of a strategy and a workload.
pub(crate) enum Prepared {
    /// It can be measured.
    Ready(Slice),
    /// A limit of the engine forbids it, with a short reason for the table's cell.
    #[allow(dead_code, reason = "only some engines have limits")]
    Cannot(String),
}

/// Answers requests until the input ends.
pub(crate) fn serve(
    prepared: Prepared,
    requests: impl BufRead,
    mut answers: impl Write,
) -> Result<(), String> {
    let mut slice = match prepared {
        Prepared::Ready(slice) => {
            answer(&mut answers, "ready")?;
            slice
        }
        Prepared::Cannot(reason) => return answer(&mut answers, &format!("cannot {reason}")),
    };
    for request in requests.lines() {
        let request = request.map_err(|error| format!("cannot read a request: {error}"))?;
        let words: Vec<_> = request.split_whitespace().collect();
        match words[..] {
            ["run", count] => {
                let count = count.parse().map_err(|_| format!("`{count}` is no number"))?;
                let (done, nanoseconds) = timed(|| slice(count))?;
                answer(&mut answers, &format!("{done} {nanoseconds}"))?;
            }
            ["rss"] => answer(&mut answers, &memory_kib("VmRSS")?.to_string())?,
            _ => return Err(format!("unknown request `{request}`")),
        }
    }
    Ok(())
}

pub(crate) fn answer(answers: &mut impl Write, line: &str) -> Result<(), String> {
    writeln!(answers, "{line}")
        .and_then(|()| answers.flush())
        .map_err(|error| format!("cannot answer: {error}"))
}

/// The result and the CPU time it took this thread.
pub(crate) fn timed<T>(work: impl FnOnce() -> Result<T, String>) -> Result<(T, u64), String> {
    let thread = nanoseconds(ClockId::ThreadCPUTime);
    let process = nanoseconds(ClockId::ProcessCPUTime);
    let result = work()?;
    let thread = nanoseconds(ClockId::ThreadCPUTime) - thread;
    let process = nanoseconds(ClockId::ProcessCPUTime) - process;
    if !all_on_this_thread(thread, process) {
        return Err(format!("of {process} ns, all but {thread} ns were spent on other threads"));
    }
    Ok((result, thread))
}

/// Whether the thread's time accounts for the process's: all but a twentieth of it, and a millisecond
/// for the clocks, which are read one after the other.
fn all_on_this_thread(thread: u64, process: u64) -> bool {
    process <= thread + thread / 20 + 1_000_000
}

/// What a clock shows.
pub(crate) fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// What the system says of this process's memory under this name.
pub(crate) fn memory_kib(name: &str) -> Result<u64, String> {
    let path = "/proc/self/status";
    let status = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .and_then(|number| number.trim().parse().ok())
        .ok_or_else(|| format!("{path} does not tell {name} in kB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation(prepared: Prepared, requests: &str) -> (Result<(), String>, String) {
        let mut answers = Vec::new();
        let end = serve(prepared, requests.as_bytes(), &mut answers);
        (end, String::from_utf8(answers).unwrap())
    }

    fn idle() -> Prepared {
        Prepared::Ready(Box::new(Ok))
    }

    #[test]
    fn tells_memory() {
        let (end, answers) = conversation(idle(), "rss\n");
        assert_eq!(end, Ok(()));
        let kib = answers.strip_prefix("ready\n").and_then(|rest| rest.trim().parse().ok());
        assert!(kib.is_some_and(|kib: u64| kib > 100), "{answers}");
    }

    #[test]
    fn ends_at_limits_errors_and_nonsense() {
        let limited = Prepared::Cannot("max 5 threads".to_owned());
        assert_eq!(conversation(limited, "run 3\n"), (Ok(()), "cannot max 5 threads\n".to_owned()));

        let broken = Prepared::Ready(Box::new(|_| Err("found a failure".to_owned())));
        let (end, answers) = conversation(broken, "run 3\n");
        assert_eq!((end, answers.as_str()), (Err("found a failure".to_owned()), "ready\n"));

        let (end, _) = conversation(idle(), "walk 3\n");
        assert_eq!(end, Err("unknown request `walk 3`".to_owned()));
    }

    // Not through `serve`: the other tests' threads would count as the engine's.
    #[test]
    fn work_on_other_threads_does_not_pass() {
        assert!(all_on_this_thread(40_000_000, 41_000_000));
        assert!(!all_on_this_thread(40_000_000, 44_000_000));
        assert!(!all_on_this_thread(0, 5_000_000));
    }
}
