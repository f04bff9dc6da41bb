//! The parent's end of the line to a measuring child; `measure` and `exhaustive::search` have the
//! protocols.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::exhaustive::search::{self, Answer};

/// Longer than any slice a table asks for, by far: a child that takes this long hangs.
const PATIENCE: Duration = Duration::from_secs(600);

/// What to measure, and by which executable.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// An executable that serves `SERVICE ENGINE STRATEGY WORKLOAD`.
    pub(crate) executable: PathBuf,
    pub(crate) service: Service,
    pub(crate) engine: &'static str,
    pub(crate) strategy: &'static str,
    pub(crate) workload: &'static str,
}

/// The executable that serves as any child.
pub(crate) fn this_executable() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("cannot find the executable: {error}"))
}

/// What a child does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Service {
    /// Makes as many executions as asked for.
    Measure,
    /// Searches to the end.
    Search,
}

/// A running child.
pub(crate) struct Child {
    subject: Subject,
    process: std::process::Child,
    requests: ChildStdin,
    answers: Receiver<String>,
}

/// How the start of a child went.
pub(crate) enum Started {
    /// It waits for requests.
    Ready(Child),
    /// The engine cannot run the workload, for this short reason.
    Cannot(String),
}

impl Child {
    /// Returns whether raddle is measured.
    pub(crate) fn is_raddle(&self) -> bool {
        self.subject.engine.starts_with("raddle")
    }

    /// Starts a child and waits for its greeting.
    pub(crate) fn start(subject: Subject) -> Result<Started, String> {
        let mut command = Command::new(&subject.executable);
        let service = match subject.service {
            Service::Measure => "measure",
            Service::Search => "search",
        };
        command.args([service, subject.engine, subject.strategy, subject.workload]);
        // The engines read settings from the environment, which must not change a figure.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if ["RADDLE_", "SHUTTLE_", "LOOM_", "RUST_BACKTRACE"]
                .iter()
                .any(|prefix| text.starts_with(prefix))
            {
                command.env_remove(&name);
            }
        }
        if matches!(subject.service, Service::Search) && subject.engine != "raddle" {
            // A program that is to fail makes some engines talk, and once for every search.
            command.stderr(Stdio::null());
        }
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", subject.executable.display()))?;
        let requests = process.stdin.take().expect("the child's input is piped");
        let answers = lines(process.stdout.take().expect("the child's output is piped"));
        let mut child = Child { subject, process, requests, answers };
        let greeting = child.answer("its start")?;
        if greeting == "ready" {
            return Ok(Started::Ready(child));
        }
        match greeting.strip_prefix("cannot ") {
            Some(reason) => Ok(Started::Cannot(reason.to_owned())),
            None => Err(child.nonsense(&greeting, "its start")),
        }
    }

    /// Runs `count` executions; the CPU time they took, in nanoseconds.
    pub(crate) fn run(&mut self, count: u64) -> Result<u64, String> {
        let request = format!("run {count}");
        let answer = self.ask(&request)?;
        let (done, time) = answer.split_once(' ').unwrap_or((&answer, ""));
        match (done.parse::<u64>(), time.parse()) {
            (Ok(done), Ok(time)) if done == count => Ok(time),
            _ => Err(self.nonsense(&answer, &request)),
        }
    }

    /// Makes `count` searches from the start, each for at most so long.
    pub(crate) fn search(&mut self, count: u64, limit: Duration) -> Result<Answer, String> {
        let request = search::request(count, limit);
        let answer = self.ask(&request)?;
        Answer::parse(&answer).ok_or_else(|| self.nonsense(&answer, &request))
    }

    /// The child's resident memory in KiB.
    pub(crate) fn resident_kib(&mut self) -> Result<u64, String> {
        let answer = self.ask("rss")?;
        answer.parse().map_err(|_| self.nonsense(&answer, "rss"))
    }

    fn ask(&mut self, request: &str) -> Result<String, String> {
        // A child that has died refuses the request; the missing answer says why it died.
        let _ = writeln!(self.requests, "{request}");
        self.answer(request)
    }

    fn answer(&mut self, request: &str) -> Result<String, String> {
        match self.answers.recv_timeout(PATIENCE) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("{self}: no answer to `{request}` in {} s", PATIENCE.as_secs()))
            }
            Err(RecvTimeoutError::Disconnected) => {
                let end = match self.process.wait() {
                    Ok(status) => status.to_string(),
                    Err(error) => error.to_string(),
                };
                Err(format!("{self}: the measuring process ended at `{request}`: {end}"))
            }
        }
    }

    fn nonsense(&self, answer: &str, request: &str) -> String {
        format!("{self}: `{answer}` is no answer to `{request}`")
    }
}

impl std::fmt::Display for Child {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Subject { engine, strategy, workload, .. } = &self.subject;
        write!(formatter, "{engine} {strategy} {workload}")
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may be hung, and holds nothing worth a regular end. Both fail only if it has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads lines on a thread of their own, since only a channel can be waited on with a limit.
fn lines(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Asks for a run of a child that is a shell script.
    fn run_of(script: &str) -> Result<u64, String> {
        let name = format!("raddle-evaluation-{}", std::process::id());
        let executable = std::env::temp_dir().join(name);
        std::fs::write(&executable, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&executable, PermissionsExt::from_mode(0o755)).unwrap();
        let subject = Subject {
            executable: executable.clone(),
            service: Service::Measure,
            engine: "fake",
            strategy: "random",
            workload: "a",
        };
        let result = match Child::start(subject) {
            Ok(Started::Ready(mut child)) => child.run(5),
            Ok(Started::Cannot(reason)) | Err(reason) => Err(reason),
        };
        std::fs::remove_file(executable).unwrap();
        result
    }

    #[test]
    fn answers_are_checked() {
        let failure = |text: &str| Err(text.to_owned());
        assert_eq!(run_of("echo ready; read request; echo 5 700"), Ok(700));
        assert_eq!(
            run_of("echo ready; read request; echo 4 700"),
            failure("fake random a: `4 700` is no answer to `run 5`")
        );
        assert_eq!(
            run_of("echo hello"),
            failure("fake random a: `hello` is no answer to `its start`")
        );
        assert_eq!(
            run_of("echo ready; read request; exit 3"),
            failure("fake random a: the measuring process ended at `run 5`: exit status: 3")
        );
        assert_eq!(run_of("echo cannot max 5 threads"), failure("max 5 threads"));
    }
}
