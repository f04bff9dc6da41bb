//! Builds the tests with Cargo, and lists them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use raddle_results::Json;

use super::sysroot::{TARGET, Toolchain, said};
use super::{runner, wrapper};
use crate::{Problem, library};

/// The instrumentation of ThreadSanitizer, on a stable compiler.
const INSTRUMENTATION: [&str; 3] = [
    "-Cllvm-args=--force-attribute=sanitize_thread",
    "-Cpasses=forceattrs,tsan-module,tsan",
    // Volatile accesses have hooks of their own.
    "-Cllvm-args=-tsan-distinguish-volatile",
];

/// The workspace that the tests belong to.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    pub(super) root: PathBuf,
    /// Where everything of raddle's goes.
    pub(super) target: PathBuf,
}

/// A program with tests.
#[derive(Clone, Debug)]
pub(super) struct Binary {
    /// How cargo-nextest names it: `package`, `package::test` or `package::bin/name`.
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// The folder of the workspace.
    pub(super) root: PathBuf,
    /// The folder of its manifest, in which its tests run.
    pub(super) folder: PathBuf,
    /// What Cargo gives tests in their environment.
    pub(super) environment: Vec<(String, OsString)>,
}

/// What is built.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum What {
    Tests,
    Programs,
}

/// Begins the name of a program without tests, after that of its package.
const PROGRAM: &str = "run/";

impl What {
    /// Returns what a program with this name is among.
    pub(super) fn of(name: &str) -> What {
        let is_program = name.split("::").nth(1).is_some_and(|name| name.starts_with(PROGRAM));
        if is_program { What::Programs } else { What::Tests }
    }
}

/// What a build came to.
pub(super) enum Built {
    Binaries(Vec<Binary>),
    /// Cargo has said why.
    Failed,
}

/// Returns the Cargo that has called this command.
pub(super) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

impl Workspace {
    /// Asks Cargo. `words` may name a manifest.
    pub(super) fn find(words: &[OsString]) -> Result<Workspace, Problem> {
        let mut command = cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        let manifest = words.iter().position(|word| word == "--manifest-path");
        if let Some(path) = manifest.and_then(|index| words.get(index + 1)) {
            command.arg("--manifest-path").arg(path);
        }
        let answer = command
            .output()
            .map_err(|error| Problem(format!("`cargo metadata` cannot be run: {error}")))?;
        if !answer.status.success() {
            return Err(Problem(said(&answer.stderr)));
        }
        let metadata = Json::parse(String::from_utf8_lossy(&answer.stdout).trim());
        let metadata = metadata.map_err(|error| Problem(format!("`cargo metadata`: {error}")))?;
        let path = |name: &str| {
            let text = metadata.get(name).and_then(Json::as_text);
            text.map(PathBuf::from).ok_or_else(|| Problem(format!("`cargo metadata`: no {name}")))
        };
        let target = path("target_directory")?.join("raddle");
        Ok(Workspace { root: path("workspace_root")?, target })
    }

    /// Returns the variables with which Cargo builds for raddle, and runs programs by this command.
    pub(super) fn variables(&self) -> Result<Vec<(String, OsString)>, Problem> {
        let flags = flags(&Toolchain::find()?)?;
        let own = wrapper::own_path()?;
        let runner = format!("{} runner", own.display());
        if own.to_string_lossy().contains(char::is_whitespace) {
            return Err(Problem(format!(
                "Cargo cannot run tests by a command with a space in its path: {}",
                own.display()
            )));
        }
        let target = TARGET.replace('-', "_").to_uppercase();
        let mut variables = wrapper::variables(&flags)?;
        variables.extend([
            ("CARGO_BUILD_TARGET".to_owned(), TARGET.into()),
            ("CARGO_TARGET_DIR".to_owned(), self.folder(&flags).into_os_string()),
            (format!("CARGO_TARGET_{target}_RUNNER"), runner.into()),
            (runner::ROOT.to_owned(), self.root.clone().into_os_string()),
            (runner::TARGET.to_owned(), self.target.clone().into_os_string()),
        ]);
        Ok(variables)
    }

    /// Returns the folder for what is built with these flags, of which Cargo does not know.
    fn folder(&self, flags: &[String]) -> PathBuf {
        let key = library::hash(flags.join("\n").as_bytes()) as u32;
        self.target.join(format!("{key:08x}"))
    }

    /// Builds the programs that `cargo test` or `cargo build` with these words would build.
    pub(super) fn build(&self, what: What, words: &[OsString]) -> Result<Built, Problem> {
        let toolchain = Toolchain::find()?;
        let command_words: &[&str] = match what {
            What::Tests => &["test", "--no-run"],
            What::Programs => &["build"],
        };
        let mut command = cargo();
        command
            .args(command_words)
            .args(["--message-format=json-render-diagnostics"])
            .args(words)
            .envs(self.variables()?)
            .stdout(Stdio::piped());
        let done = command
            .spawn()
            .and_then(std::process::Child::wait_with_output)
            .map_err(|error| Problem(format!("`cargo` cannot be run: {error}")))?;
        if !done.status.success() {
            return Ok(Built::Failed);
        }
        let text = String::from_utf8_lossy(&done.stdout);
        let messages = text.lines().filter_map(|line| Json::parse(line).ok());
        let mut binaries: Vec<Binary> =
            messages.filter_map(|message| self.binary(what, &message, &toolchain)).collect();
        binaries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Built::Binaries(binaries))
    }

    /// Returns the program that a message of Cargo's is about.
    fn binary(&self, what: What, message: &Json, toolchain: &Toolchain) -> Option<Binary> {
        let text =
            |value: &Json, name: &str| value.get(name).and_then(Json::as_text).map(str::to_owned);
        let is_test = message.get("profile")?.get("test")? == &Json::Bool(true);
        let is_wanted = is_test == (what == What::Tests);
        let path = text(message, "executable").filter(|_| is_wanted)?;
        let manifest = PathBuf::from(text(message, "manifest_path")?);
        let package = package(&text(message, "package_id")?);
        let target = message.get("target")?;
        let (target_name, kind) = (text(target, "name")?, target.get("kind")?);
        let is_kind =
            |word: &str| matches!(kind, Json::List(kinds) if kinds.contains(&Json::text(word)));
        let kind = ["test", "bin", "example", "bench"].into_iter().find(|word| is_kind(word));
        let name = match (what, kind) {
            (What::Programs, _) => format!("{package}::{PROGRAM}{target_name}"),
            (What::Tests, Some("test")) => format!("{package}::{target_name}"),
            (What::Tests, Some(kind)) => format!("{package}::{kind}/{target_name}"),
            (What::Tests, None) => package.clone(),
        };
        let folder = manifest.parent()?.to_owned();
        let environment = vec![
            ("CARGO_MANIFEST_DIR".to_owned(), folder.clone().into_os_string()),
            ("CARGO_MANIFEST_PATH".to_owned(), manifest.into_os_string()),
            ("CARGO_PKG_NAME".to_owned(), package.clone().into()),
            ("LD_LIBRARY_PATH".to_owned(), libraries(Path::new(&path), toolchain)),
            // A backtrace takes seconds, and panics are part of many tests.
            ("RUST_BACKTRACE".to_owned(), "0".into()),
        ];
        Some(Binary { name, path: path.into(), root: self.root.clone(), folder, environment })
    }
}

/// Returns the flags for the compiler.
fn flags(toolchain: &Toolchain) -> Result<Vec<String>, Problem> {
    let sysroot = toolchain.instrumented()?;
    let link = link_folder()?;
    let mut flags: Vec<String> = INSTRUMENTATION.iter().map(|&flag| flag.to_owned()).collect();
    flags.extend([
        format!("--sysroot={}", sysroot.display()),
        // Stacks are read by frame pointers.
        "-Cforce-frame-pointers=yes".into(),
        "-Cstrip=none".into(),
        format!("-Clink-arg={}", link.join(library::NAME).display()),
        format!("-Clink-arg=-Wl,-rpath,{}", link.display()),
    ]);
    Ok(flags)
}

/// Returns the folder of a copy of the library whose path does not depend on its version, so that tests are not built
/// again for each.
fn link_folder() -> Result<PathBuf, Problem> {
    let (from, folder) = (library::folder()?.join(library::NAME), library::cache().join("link"));
    let to = folder.join(library::NAME);
    let is_same = || Some(fs::read(&from).ok()? == fs::read(&to).ok()?);
    if is_same() != Some(true) {
        let new = folder.join(format!("{}.{}", library::NAME, std::process::id()));
        fs::create_dir_all(&folder)
            .and_then(|()| fs::copy(&from, &new))
            .and_then(|_| fs::rename(&new, &to))
            .map_err(|error| Problem(format!("{} cannot be written: {error}", to.display())))?;
    }
    Ok(folder)
}

/// Returns where a test finds dynamic libraries, as with `cargo test`.
fn libraries(binary: &Path, toolchain: &Toolchain) -> OsString {
    let deps = binary.parent().map(Path::to_owned);
    let own = deps.into_iter().chain(toolchain.dynamic_libraries());
    let users = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let all = own.chain(env::split_paths(&users).filter(|path| !path.as_os_str().is_empty()));
    env::join_paths(all).unwrap_or(users)
}

/// Returns the name in the id of a package: `path+file:///folder/name#1.0.0` or `…#name@1.0.0`.
fn package(id: &str) -> String {
    let (place, version) = id.rsplit_once('#').unwrap_or((id, ""));
    match version.split_once('@') {
        Some((name, _)) => name.to_owned(),
        None => place.rsplit('/').next().unwrap_or(place).to_owned(),
    }
}

/// The tests of a program.
pub(super) struct Listed {
    pub(super) names: Vec<String>,
    pub(super) ignored: Vec<String>,
}

impl Binary {
    /// Lists the tests. Returns `None` if the program has a harness of its own, which cannot be asked.
    pub(super) fn list(&self) -> Option<Listed> {
        let ask = |more: &[&str]| {
            let mut command = Command::new(&self.path);
            command.args(["--list", "--format", "terse"]).args(more).current_dir(&self.folder);
            command.envs(self.environment.iter().map(|(name, value)| (name, value)));
            let answer = command.stdin(Stdio::null()).output().ok()?;
            let text = String::from_utf8_lossy(&answer.stdout).into_owned();
            answer.status.success().then_some(text)
        };
        let names = |text: &str| -> Option<Vec<String>> {
            let name = |line: &str| {
                let bench = line.strip_suffix(": benchmark").is_some();
                if bench {
                    Some(None)
                } else {
                    line.strip_suffix(": test").map(|name| Some(name.to_owned()))
                }
            };
            let names: Option<Vec<Option<String>>> = text.lines().map(name).collect();
            Some(names?.into_iter().flatten().collect())
        };
        let (all, ignored) = (names(&ask(&[])?)?, names(&ask(&["--ignored"])?)?);
        Some(Listed { names: all, ignored })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_packages() {
        for (id, expected) in [
            ("path+file:///sources/fixture#0.1.0", "fixture"),
            ("path+file:///sources/folder#fixture@0.1.0", "fixture"),
            ("registry+https://registry.example/index#spin@0.9.7", "spin"),
        ] {
            assert_eq!(package(id), expected);
        }
    }
}
