//! Starts a program with raddle's library inside, and reads its result.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use raddle::NativeSettings;
use raddle_results::document::Document;

use crate::options::{Begin, Options, Races};
use crate::program::Program;
use crate::symbols::{Module, Symbols};
use crate::{Problem, calls, library, symbols};

/// How much longer than its limit a check may take, until it is ended.
const GRACE: Duration = Duration::from_secs(30);

/// What a check came to.
#[derive(Debug)]
pub(crate) enum Outcome {
    Report {
        document: Box<Document>,
        /// What the failing execution wrote to standard output and standard error.
        output: String,
        racing: Racing,
        /// Where the steps of the failing execution are shown, if steps of libraries are shown as calls.
        shown: HashMap<u64, calls::Shown>,
        /// What a user has to know of the check.
        notes: Vec<String>,
        window: Window,
    },
    /// The program does something that raddle does not model, or a setting excludes another.
    Refused(String),
    /// The check ended without a result.
    Lost(String),
    /// The program does what runs in one process must not do.
    NeedsFork,
    /// The program has ended before the check began, with this exit code.
    Alone(i32),
}

/// How much of the executions was chosen.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Window {
    /// The number of executions that came to their end.
    pub(crate) ended: u64,
    /// The steps that were chosen, and all steps: the end of a long execution is made with few switches.
    pub(crate) chosen_steps: u64,
    pub(crate) all_steps: u64,
}

/// What a check knows of data races.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Racing {
    /// The places that race and were scheduling points, as the library names them.
    pub(crate) points: Vec<String>,
    /// The source lines of these places.
    pub(crate) lines: Vec<String>,
    /// The number of executions with these scheduling points that do not fail, if the race itself is the failure.
    pub(crate) harmless: Option<u64>,
}

/// How runs are made.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Backend {
    /// In one process, whose memory is put back after each run.
    Snapshot,
    /// Each in a process of its own.
    Fork,
}

/// Starts the check of a program, or the replay of one execution, and returns what it came to.
pub(crate) fn launch(
    program: &Program,
    options: &Options,
    settings: &NativeSettings,
    replay: Option<&str>,
) -> Result<Outcome, Problem> {
    let backend = options.backend.unwrap_or(Backend::Snapshot);
    match launch_with(backend, program, options, settings, replay)? {
        Outcome::NeedsFork if options.backend.is_none() => {
            launch_with(Backend::Fork, program, options, settings, replay)
        }
        Outcome::NeedsFork => Ok(Outcome::Refused(
            "the program changes its mappings, files or signal handlers, so its memory cannot be put back; leave \
             `--backend` out"
                .into(),
        )),
        outcome @ (Outcome::Report { .. }
        | Outcome::Refused(_)
        | Outcome::Lost(_)
        | Outcome::Alone(_)) => Ok(outcome),
    }
}

fn launch_with(
    backend: Backend,
    program: &Program,
    options: &Options,
    settings: &NativeSettings,
    replay: Option<&str>,
) -> Result<Outcome, Problem> {
    let mut command = command(backend, program, options, settings, replay)?;
    let child = command.spawn().map_err(|error| {
        Problem(format!("{} cannot be started: {error}", program.path.display()))
    })?;
    let limit = settings.time.map(|time| time + settings.watchdog.unwrap_or_default() + GRACE);
    let result = read(child, limit.filter(|_| replay.is_none()), options);
    Ok(result.unwrap_or_else(|error| Outcome::Lost(format!("its result cannot be read: {error}"))))
}

/// Returns the command that starts a program with raddle's library inside.
pub(crate) fn command(
    backend: Backend,
    program: &Program,
    options: &Options,
    settings: &NativeSettings,
    replay: Option<&str>,
) -> Result<Command, Problem> {
    let folder = library::folder()?;
    let mut plan = settings.plan.clone();
    for (name, value) in [
        ("races", options.races.map(|races| (races != Races::Ignored).to_string())),
        ("consequences", options.looks_further.then(|| "true".to_owned())),
        ("points", options.points.clone()),
        ("fresh", options.fresh.as_ref().map(|folder| folder.display().to_string())),
        ("expect", options.expect.as_ref().map(|file| absolute(file).display().to_string())),
        ("progress", (settings.progress && replay.is_none()).then(|| "true".to_owned())),
        ("strategy", options.worker.as_ref().and_then(|worker| worker.strategy.clone())),
        ("seed", options.worker.as_ref().map(|worker| worker.seed.to_string())),
        ("runs", options.worker.as_ref().map(|worker| worker.runs.to_string())),
        ("max_steps", options.max_steps.map(|steps| steps.to_string())),
        ("replay", replay.map(str::to_owned)),
    ] {
        if let Some(value) = value {
            plan += &format!("{name}={value}\n");
        }
    }
    plan += &format!("parent={}\n", std::process::id());
    // Standard error carries the result; the library gives the program another one.
    plan += "output=2\n";
    plan += match backend {
        Backend::Snapshot => "backend=snapshot\n",
        Backend::Fork => "backend=fork\n",
    };
    if options.begin == Begin::FirstThread {
        plan += "begin=first-thread\n";
    }
    if options.own_code.is_some() {
        plan += "stacks=true\n";
    }
    if options.discards_long_runs {
        plan += "on_step_limit=discard\n";
    }
    if let Some(steps) = options.leads_on {
        plan += &format!("tail={steps}\n");
    }
    let mut preload = folder.join(library::NAME).into_os_string();
    if let Some(others) = std::env::var_os("LD_PRELOAD") {
        preload.push(":");
        preload.push(others);
    }
    let mut command = Command::new(&program.path);
    command
        .args(&options.arguments)
        .envs(options.environment.iter().map(|(name, value)| (name, value)))
        .env("RADDLE_NATIVE_PLAN", plan.trim_end())
        .env("LD_PRELOAD", preload)
        .env("LD_BIND_NOW", "1")
        .stdin(stdin(options)?)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    for (name, _) in NativeSettings::variables() {
        command.env_remove(name);
    }
    if let Some(folder) = &options.folder {
        command.current_dir(folder);
    }
    Ok(command)
}

/// What to say if the program reads its standard input.
pub(crate) const INPUT: &str =
    "the program reads standard input, which is empty; `--stdin FILE` gives it something to read";

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn stdin(options: &Options) -> Result<Stdio, Problem> {
    let Some(path) = &options.stdin else { return Ok(Stdio::null()) };
    let file = File::open(path)
        .map_err(|error| Problem(format!("--stdin: {} cannot be read: {error}", path.display())))?;
    Ok(file.into())
}

/// How often a check that waits for its result looks whether it is to end.
const POLL: Duration = Duration::from_millis(50);

/// Waits for the end of a check, and reads its result. Ends it after the time limit, or when the options say so.
fn read(mut child: Child, limit: Option<Duration>, options: &Options) -> io::Result<Outcome> {
    let pipe = child.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let _ = sender.send(read_all(BufReader::new(pipe)));
    });
    let start = Instant::now();
    let bytes = loop {
        match receiver.recv_timeout(POLL) {
            Ok(bytes) => break bytes?,
            Err(_) if options.stop.load(Ordering::Relaxed) => {
                end(&mut child)?;
                return Ok(Outcome::Lost("it was ended".into()));
            }
            Err(_) if limit.is_some_and(|limit| start.elapsed() > limit) => {
                end(&mut child)?;
                return Ok(Outcome::Lost("it did not end in time and was killed".into()));
            }
            Err(_) => {}
        }
    };
    let status = child.wait()?;
    Ok(parse(&bytes, options).unwrap_or_else(|| {
        let text = String::from_utf8_lossy(&bytes);
        let last = text.trim().lines().last().unwrap_or("nothing").to_owned();
        Outcome::Lost(format!("the process ended with {status}; its last words: {last}"))
    }))
}

fn end(child: &mut Child) -> io::Result<()> {
    child.kill()?;
    child.wait().map(|_| ())
}

/// Returns what the library writes, after the lines that tell how far the check is. Shows these.
fn read_all(mut pipe: impl BufRead) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut is_shown = false;
    loop {
        bytes.clear();
        if pipe.read_until(b'\n', &mut bytes)? == 0 {
            break;
        }
        let Some(line) = bytes.strip_prefix(b"progress ") else { break };
        is_shown = true;
        // Overwrites the line before. A lost line does no harm.
        let _ = write!(io::stderr(), "\r\x1b[K{}", String::from_utf8_lossy(line).trim_end());
    }
    if is_shown {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    pipe.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads what the library wrote: lines, and after some of them as many bytes as they say.
fn parse(mut bytes: &[u8], options: &Options) -> Option<Outcome> {
    let (mut modules, mut stacks) = (Vec::new(), HashMap::new());
    let (mut report, mut output) = (None, String::new());
    let (mut racing, mut places) = (Racing::default(), Vec::new());
    let (mut notes, mut window) = (Vec::new(), Window::default());
    loop {
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        let (line, rest) = (String::from_utf8_lossy(&bytes[..end]), &bytes[end + 1..]);
        bytes = rest;
        let (word, value) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "module" => modules.extend(module(value)),
            "stack" => stacks.extend(stack(value)),
            "alone" => return value.parse().ok().map(Outcome::Alone),
            "again" => return Some(Outcome::NeedsFork),
            "refused" => return Some(Outcome::Refused(Symbols::new(modules).resolve(value))),
            "broken" => return Some(Outcome::Lost(format!("raddle failed: {value}"))),
            "point" => {
                let (point, place) = value.split_once(' ')?;
                racing.points.push(point.to_owned());
                places.push(place.to_owned());
            }
            "note" => notes.push(value.to_owned()),
            "input" => notes.push(INPUT.to_owned()),
            "window" => {
                let mut numbers = value.split(' ').map(|number| number.parse().ok());
                let mut next = || numbers.next().flatten();
                window = Window { ended: next()?, chosen_steps: next()?, all_steps: next()? };
            }
            "harmless" => racing.harmless = value.parse().ok(),
            "report" => report = Some(take(&mut bytes, value)?),
            "output" => output = take(&mut bytes, value)?,
            "end" => break,
            // What the dynamic linker or the program wrote before the check began.
            _ => {}
        }
    }
    let report = report?;
    let has_stacks = !stacks.is_empty();
    let symbols = Symbols::new(modules).with_stacks(stacks, options.own_code.clone());
    racing.lines = places.iter().map(|place| symbols.resolve(place)).collect();
    racing.lines.sort();
    racing.lines.dedup();
    let mut report = calls::demangle(&report);
    let mut steps = HashMap::new();
    if has_stacks {
        let document = Document::parse(&report).ok()?;
        steps = calls::steps(&document, &symbols);
        report = calls::rename(&report, &calls::names(&document, &steps));
    }
    let resolved = symbols.resolve(&report);
    if resolved.contains(symbols::PLACE) {
        notes.push(
            "places shown as numbers are in code that has no debug information; compile it with `-g`".to_owned(),
        );
    }
    let mut document = Document::parse(&resolved).ok()?;
    let shown = if has_stacks { calls::fold(&mut document, &steps) } else { HashMap::new() };
    Some(Outcome::Report { document: Box::new(document), output, racing, shown, notes, window })
}

fn module(text: &str) -> Option<Module> {
    let mut words = text.splitn(4, ' ');
    let mut number = || u64::from_str_radix(words.next()?, 16).ok();
    let (first, end, offset) = (number()?, number()?, number()?);
    Some(Module { first, end, offset, path: words.next()?.to_owned() })
}

/// Reads the word that stands for a stack, and its return addresses.
fn stack(text: &str) -> Option<(u64, Vec<u64>)> {
    let numbers: Option<Vec<u64>> =
        text.split(' ').map(|word| u64::from_str_radix(word, 16).ok()).collect();
    let (&word, addresses) = numbers.as_ref()?.split_first()?;
    Some((word, addresses.to_vec()))
}

fn take(bytes: &mut &[u8], length: &str) -> Option<String> {
    let (text, rest) = bytes.split_at_checked(length.parse().ok()?)?;
    *bytes = rest;
    Some(String::from_utf8_lossy(text).into_owned())
}
