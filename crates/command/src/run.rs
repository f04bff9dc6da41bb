//! `raddle run` and `raddle replay`: a check, its report, and the confirmation of what it found.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{IsTerminal as _, Write as _, stdout};
use std::path::{Path, PathBuf};

use raddle::NativeSettings;
use raddle_report::Paint;
use raddle_results::document::{Document, Verdict};

use crate::failures::Known;
use crate::launch::{self, Backend, Outcome, Racing, launch};
use crate::options::{Format, Options, Races};
use crate::program::Program;
use crate::workers::launch_all;
use crate::{Exit, Problem, gdb, library};

/// The most bytes of the program's output that are shown.
const MAX_OUTPUT: usize = 4_000;

/// The variable that says which plain accesses are scheduling points.
const GRANULARITY: &str = "RADDLE_GRANULARITY";

/// Checks a program.
pub(crate) fn run(words: &[OsString]) -> Result<Exit, Problem> {
    let mut options = Options::parse(words)?;
    options.looks_further = matches!(options.races, None | Some(Races::Failures));
    check(options, words)
}

/// Replays the failing execution of a report.
pub(crate) fn replay(words: &[OsString]) -> Result<Exit, Problem> {
    let (debug, words): (Vec<_>, Vec<_>) = words.iter().partition(|word| *word == "--gdb");
    let [token] = words[..] else {
        return Err(Problem(
            "which token? Write `raddle replay TOKEN` or `raddle replay TOKEN --gdb`; reports give it".into(),
        ));
    };
    let known = find(token)?;
    if debug.is_empty() { check(known.options()?, &known.words) } else { replay_in_gdb(&known) }
}

/// Replays the failing execution of a report, and says all that can be said of why it fails.
pub(crate) fn explain(words: &[OsString]) -> Result<Exit, Problem> {
    let [token] = words else {
        return Err(Problem("which token? Write `raddle explain TOKEN`; reports give it".into()));
    };
    let known = find(token)?;
    let mut options = known.options()?;
    options.settings.push(("RADDLE_EXPLAIN".to_owned(), "full".into()));
    check(options, &known.words)
}

/// Returns the failure with a token, and goes to the folder in which its program ran.
fn find(token: &OsString) -> Result<Known, Problem> {
    let token = token.to_string_lossy();
    let known = Known::find(&token).ok_or_else(|| {
        Problem(format!(
            "no failure with the token {token} was found here; `raddle list` lists them. With the program at hand: \
             raddle run --replay {token} -- ./program"
        ))
    })?;
    env::set_current_dir(&known.folder)
        .map_err(|error| Problem(format!("{}: {error}", known.folder.display())))?;
    Ok(known)
}

/// Replays a failure in gdb, which stops where it fails.
fn replay_in_gdb(known: &Known) -> Result<Exit, Problem> {
    let mut options = known.options()?;
    let settings = settings_of(&mut options)?;
    let program = Program::find(&options.program)?;
    let _folder = Fresh::new(&mut options)?;
    let backend = options.backend.unwrap_or(Backend::Snapshot);
    let command = launch::command(backend, &program, &options, &settings, Some(&known.token))?;
    Ok(if gdb::debug(&command, &[])? { Exit::Clean } else { Exit::Usage })
}

/// Returns the name of the check.
fn name_of(options: &Options) -> String {
    let name = options.program.display().to_string();
    if name.contains('/') { name } else { format!("./{name}") }
}

/// Returns the settings, and sets the options that depend on them.
fn settings_of(options: &mut Options) -> Result<NativeSettings, Problem> {
    let mut changed = options.settings.clone();
    let has_granularity =
        changed.iter().any(|(name, _)| name == GRANULARITY) || env::var_os(GRANULARITY).is_some();
    options.looks_further &= !has_granularity;
    if options.races == Some(Races::Ignored) && !has_granularity && options.points.is_none() {
        // Races that are no failures can still decide what happens.
        changed.push((GRANULARITY.to_owned(), "racy".into()));
    }
    NativeSettings::new(&name_of(options), &changed).map_err(|error| Problem(error.to_string()))
}

fn check(mut options: Options, words: &[OsString]) -> Result<Exit, Problem> {
    let name = name_of(&options);
    let settings = settings_of(&mut options)?;
    let program = Program::find(&options.program)?;
    let is_replay = settings.replay.is_some();
    if let Some(file) = options.expect.as_ref().filter(|file| !file.is_file()) {
        return Err(Problem(format!("--expect: there is no file {}", file.display())));
    }
    let folder = Fresh::new(&mut options)?;
    let outcome = match settings.replay.as_deref() {
        Some(token) => launch(&program, &options, &settings, Some(token))?,
        None => {
            let (outcome, found_with) = launch_all(&program, &options, &settings)?;
            options = found_with;
            outcome
        }
    };
    let (mut document, output, racing, mut notes) = match outcome {
        Outcome::Report { document, output, racing, notes, .. } => {
            (*document, output, racing, notes)
        }
        Outcome::Refused(why) => return Err(Problem(format!("{name}: {why}"))),
        Outcome::NeedsFork | Outcome::Alone(_) => {
            return Err(Problem(format!("{name}: the check did not begin")));
        }
        Outcome::Lost(why) => {
            eprintln!("raddle: {name}: the check came to no result: {why}");
            return Ok(Exit::Inconclusive);
        }
    };
    if !is_replay {
        options.replay_as_found(&points(&options, &racing));
        confirm(&mut document, &program, &options, &settings)?;
    }
    let exit = if document.failure.is_some() { Exit::Found } else { Exit::Clean };
    if let (Some(failure), false) = (&document.failure, is_replay) {
        let folder = env::current_dir().unwrap_or_default();
        let (token, summary) = (failure.token.clone(), failure.summary.clone());
        let points = points(&options, &racing);
        let seed = options.worker.as_ref().map(|worker| worker.seed);
        Known { token, summary, folder, words: words.to_vec(), points, seed }.keep();
    }
    drop(folder);
    show(&document, &options, &settings, &output, &racing);
    if !program.is_instrumented {
        notes.push(format!(
            "{name} is not instrumented: only calls of pthreads are seen, no accesses to memory. Build it with \
             `raddle cc` or `raddle c++`."
        ));
    }
    notes.retain(|note| options.stdin.is_none() || note != launch::INPUT);
    notes.retain(|note| options.fresh.is_none() || !note.starts_with("executions change files"));
    for note in notes {
        eprintln!("raddle: {note}");
    }
    if let Some(folder) = &settings.report {
        let base = Path::new(&document.name);
        let file = base.file_name().unwrap_or_default().to_string_lossy();
        write_files(folder, &document, &file)?;
    }
    Ok(exit)
}

/// A folder for the program, which is removed in the end.
struct Fresh(Option<PathBuf>);

impl Fresh {
    /// Makes the folder if the options ask for one.
    fn new(options: &mut Options) -> Result<Fresh, Problem> {
        if !options.wants_fresh {
            return Ok(Fresh(None));
        }
        if options
            .arguments
            .iter()
            .any(|word| Path::new(word).exists() && !Path::new(word).is_absolute())
        {
            return Err(Problem(
                "--fresh-folder: the program runs in another folder; name its files by whole paths"
                    .into(),
            ));
        }
        let folder = library::cache().join(format!("folders/{}", std::process::id()));
        fs::create_dir_all(&folder)
            .map_err(|error| Problem(format!("--fresh-folder: {}: {error}", folder.display())))?;
        options.fresh = Some(folder.clone());
        options.folder = Some(folder.clone());
        Ok(Fresh(Some(folder)))
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Replays a failure in a process of its own.
pub(crate) fn confirm(
    document: &mut Document,
    program: &Program,
    options: &Options,
    settings: &NativeSettings,
) -> Result<(), Problem> {
    let Some(failure) = &mut document.failure else { return Ok(()) };
    if !failure.reproduced {
        return Ok(());
    }
    let again = launch(program, options, settings, Some(&failure.token))?;
    failure.reproduced = match again {
        Outcome::Report { document: again, .. } => again.failure.is_some_and(|again| {
            again.summary == failure.summary && again.trace.steps == failure.trace.steps
        }),
        Outcome::Refused(_) | Outcome::Lost(_) | Outcome::NeedsFork | Outcome::Alone(_) => false,
    };
    Ok(())
}

/// Prints the report.
fn show(
    document: &Document,
    options: &Options,
    settings: &NativeSettings,
    output: &str,
    racing: &Racing,
) {
    let text = match options.format {
        Format::Json => document.to_string(),
        Format::Html => with_command(document, raddle_report::html(document, &source_line)),
        Format::Text => {
            let is_coloured = settings.color.unwrap_or_else(|| stdout().is_terminal());
            let paint = if is_coloured { Paint::Colours } else { Paint::Plain };
            let text = raddle_report::text_with(document, paint, &source_line);
            let mut text = with_command(document, text);
            if !output.trim().is_empty() && document.failure.is_some() {
                text += "\n\n  output of this execution:\n";
                let shown: String = output.chars().take(MAX_OUTPUT).collect();
                let lines = shown.lines().map(|line| format!("    {line}\n"));
                text += lines.collect::<String>().trim_end();
            }
            text += &about_races(document, racing);
            if let Verdict::Exhausted = document.verdict {
                text += "\n        as far as threads communicate by pthreads and instrumented code";
            }
            text
        }
    };
    // A reader that has seen enough is no reason to fail.
    let _ = writeln!(stdout(), "{text}");
}

/// Returns the scheduling points that a replay has to know: those of a check that looked for what a race leads to.
fn points(options: &Options, racing: &Racing) -> String {
    let is_found_again = options.races == Some(Races::Ignored) || racing.harmless.is_some();
    if is_found_again { String::new() } else { racing.points.join(",") }
}

/// Returns what the check did about data races.
fn about_races(document: &Document, racing: &Racing) -> String {
    let count = match racing.lines.len() {
        1 => "1 place that races is a scheduling point",
        count => &format!("{count} places that race are scheduling points"),
    };
    match racing.harmless {
        Some(executions) => format!(
            "\n  no other failure in {executions} executions in which the places that race are scheduling points"
        ),
        None if document.failure.is_some() && !racing.lines.is_empty() => {
            format!("\n  {count}: {}", racing.lines.join(", "))
        }
        None => String::new(),
    }
}

/// Returns a report that names the command for a replay.
fn with_command(document: &Document, text: String) -> String {
    let Some(failure) = &document.failure else { return text };
    let token = &failure.token;
    let general = format!("set RADDLE_REPLAY={token} and run the check again");
    text.replace(&general, &format!("raddle replay {token}"))
}

/// Returns a line of a source file, counted from one.
pub(crate) fn source_line(file: &str, line: u32) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().nth((line as usize).checked_sub(1)?).map(str::to_owned)
}

/// Writes a report as JSON and as a page with this name, and adds it to the index of the folder.
pub(crate) fn write_files(folder: &Path, document: &Document, name: &str) -> Result<(), Problem> {
    let written = try_write_files(folder, document, name);
    written.map_err(|error| Problem(format!("--report {}: {error}", folder.display())))
}

fn try_write_files(folder: &Path, document: &Document, name: &str) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join(format!("{name}.json")), format!("{document}\n"))?;
    let page = with_command(document, raddle_report::html(document, &source_line));
    let file = format!("{name}.html");
    fs::write(folder.join(&file), page)?;
    raddle::add_to_index(folder, document, &file)
}
