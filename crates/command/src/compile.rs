//! `raddle cc` and `raddle c++`: the compiler, with its instrumentation for ThreadSanitizer, and raddle's library in
//! place of ThreadSanitizer's.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::{Problem, library};

/// Options that end before linking.
const WITHOUT_LINKING: [&str; 6] = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"];
/// Options that only ask, and link nothing.
const QUESTIONS: [&str; 5] = ["-v", "--version", "-dumpversion", "-dumpmachine", "--help"];

/// The variable that tells compilers that `raddle cc` or `raddle c++` has called them.
const IS_NESTED: &str = "RADDLE_CALLS_COMPILER";

/// Compilers would replace calls of these functions by accesses that are not instrumented.
const VISIBLE: [&str; 7] = [
    "-fno-builtin-memcpy",
    "-fno-builtin-memmove",
    "-fno-builtin-memset",
    "-fno-builtin-memcmp",
    "-fno-builtin-strcpy",
    "-fno-builtin-strlen",
    "-fno-builtin-strcmp",
];

/// Runs the compiler that the variable names, or the first of `names` that exists.
pub(crate) fn compile(
    variable: &str,
    names: &[&str],
    arguments: &[OsString],
) -> Result<ExitCode, Problem> {
    let compiler = compiler(variable, names)?;
    let mut command = Command::new(&compiler[0]);
    command.args(&compiler[1..]).args(arguments).env(IS_NESTED, "1");
    let has = |options: &[&str]| {
        arguments.iter().any(|argument| options.iter().any(|option| argument == option))
    };
    let has_input = arguments.iter().any(|argument| !argument.to_string_lossy().starts_with('-'));
    if has(&["-static"]) {
        return Err(Problem(
            "`-static` makes a program that raddle's library cannot be loaded into; leave it out"
                .into(),
        ));
    }
    if has_input && !has(&QUESTIONS) {
        let is_clang = is_clang(&compiler);
        command.args(["-g", "-fsanitize=thread"]).args(VISIBLE);
        if !is_clang {
            // gcc warns that ThreadSanitizer does not model fences; raddle does.
            command.arg("-Wno-tsan");
        }
        if !has(&WITHOUT_LINKING) {
            link(&mut command, is_clang)?;
        }
    }
    let status = command
        .status()
        .map_err(|error| Problem(format!("{} cannot be run: {error}", compiler[0])))?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// Links with raddle's library, to which the names of ThreadSanitizer's lead.
fn link(command: &mut Command, is_clang: bool) -> Result<(), Problem> {
    let folder = library::folder()?;
    if is_clang {
        // clang would name ThreadSanitizer's library by its path.
        command.arg("-fno-sanitize-link-runtime").arg("-L").arg(&folder).arg("-lraddle_native");
    } else {
        command.arg("-L").arg(stand_in(&folder)?);
    }
    command.arg(format!("-Wl,-rpath,{}", folder.display())).arg("-pthread");
    Ok(())
}

fn is_clang(compiler: &[String]) -> bool {
    let mut command = Command::new(&compiler[0]);
    let answer = command.args(&compiler[1..]).arg("--version").env(IS_NESTED, "1").output();
    answer.is_ok_and(|answer| String::from_utf8_lossy(&answer.stdout).contains("clang"))
}

/// Returns a folder in which the name of gcc's ThreadSanitizer library means raddle's.
fn stand_in(folder: &Path) -> Result<PathBuf, Problem> {
    let place = folder.join("link");
    let script = format!("INPUT({})\n", folder.join(library::NAME).display());
    library::place(&place.join("libtsan.so"), script.as_bytes())
        .map_err(|error| Problem(format!("{} cannot be written: {error}", place.display())))?;
    Ok(place)
}

/// Returns the words of the compiler's command.
fn compiler(variable: &str, names: &[&str]) -> Result<Vec<String>, Problem> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<String>>();
    // `CC="raddle cc" make` passes the variable on, and raddle may have another name there, or a launcher such as ccache
    // before it. A call from within a call therefore takes the compiler of the system.
    let given = env::var(variable).ok().filter(|_| env::var_os(IS_NESTED).is_none());
    if let Some(given) = given {
        let words = words(&given);
        let is_self = words.first().is_some_and(|word| word.ends_with("raddle"));
        if !words.is_empty() && !is_self {
            return Ok(words);
        }
    }
    let exists = |name: &&&str| find(name).is_some();
    let found = names.iter().find(exists).map(|name| vec![(*name).to_owned()]);
    found.ok_or_else(|| {
        Problem(format!("there is no compiler ({}); install gcc or clang", names.join(", ")))
    })
}

/// Returns the path of a command.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
