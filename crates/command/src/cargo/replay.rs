//! `cargo raddle replay`: the failing execution of a report once more, also in a debugger.

use std::ffi::OsString;

use super::Exit;
use super::build::{Binary, Built, What, Workspace};
use super::check::{self, Prepared};
use super::options::Options;
use super::select::Test;
use super::token::{Token, build_of};
use crate::launch::{self, Outcome};
use crate::{Problem, gdb};

/// Replays the execution of a token, and says all that can be said of why it fails.
pub(super) fn explain(words: &[OsString]) -> Result<Exit, Problem> {
    let full = ["--explain", "full"].map(OsString::from);
    replay(&words.iter().cloned().chain(full).collect::<Vec<_>>())
}

/// Replays the execution of a token, and shows it.
pub(super) fn replay(words: &[OsString]) -> Result<Exit, Problem> {
    // The arguments of a program follow two dashes.
    let dashes = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let mut options = Options::parse(&words[..dashes])?;
    options.arguments = words[dashes..].iter().skip(1).cloned().collect();
    let [text] = &options.filters[..] else {
        return Err(Problem(
            "which token? Write `cargo raddle replay TOKEN`; reports give the whole command".into(),
        ));
    };
    let token = Token::parse(text).ok_or_else(|| {
        Problem(format!("`{text}` is no token of a test: copy all of it from the report"))
    })?;
    options.filters.clear();
    let workspace = Workspace::find(&options.build)?;
    let what = What::of(&token.binary);
    let Built::Binaries(binaries) = workspace.build(what, &options.build)? else {
        return Ok(Exit::Build);
    };
    let test = find(binaries, &token)?;
    if build_of(&test.binary.path) != token.build {
        eprintln!(
            "cargo raddle: the test was built anew since the token was made; the schedule may no longer fit"
        );
    }
    let prepared = check::prepare(&test, &options, Some(&token.schedule))?;
    if options.debug {
        return debug(&prepared, &token);
    }
    show(&prepared, &token, &options)
}

/// Returns the test of a token.
fn find(binaries: Vec<Binary>, token: &Token) -> Result<Test, Problem> {
    let known: Vec<String> = binaries.iter().map(|binary| binary.name.clone()).collect();
    let binary = binaries.into_iter().find(|binary| binary.name == token.binary);
    let binary = binary.ok_or_else(|| {
        Problem(format!(
            "there is no test program {} here, but {}; add the options with which it was built",
            token.binary,
            known.join(", ")
        ))
    })?;
    if let Some(name) = &token.test
        && binary.list().is_some_and(|listed| !listed.names.contains(name))
    {
        return Err(Problem(format!("{} has no test {name}", binary.name)));
    }
    Ok(Test { binary, name: token.test.clone() })
}

fn show(prepared: &Prepared, token: &Token, options: &Options) -> Result<Exit, Problem> {
    let Prepared { program, options: check, settings } = prepared;
    match launch::launch(program, check, settings, Some(&token.schedule))? {
        Outcome::Report { document, output, .. } => {
            println!("{}", check::text(&document, &output, token, options));
            Ok(if document.failure.is_some() { Exit::Failed } else { Exit::Passed })
        }
        Outcome::Refused(why) => Err(Problem(why)),
        Outcome::Lost(why) => {
            eprintln!("cargo raddle: the replay came to no result: {why}");
            Ok(Exit::Inconclusive)
        }
        Outcome::NeedsFork | Outcome::Alone(_) => {
            Err(Problem("the test creates no thread, so there is nothing to replay".into()))
        }
    }
}

/// Replays in gdb, which stops at panics and crashes.
fn debug(prepared: &Prepared, token: &Token) -> Result<Exit, Problem> {
    let Prepared { program, options: check, settings } = prepared;
    let replay = Some(&token.schedule[..]);
    let command = launch::command(launch::Backend::Snapshot, program, check, settings, replay)?;
    let is_fine = gdb::debug(&command, &["rust_panic"])?;
    Ok(if is_fine { Exit::Passed } else { Exit::Usage })
}
