//! Fetches the sources, and builds their tests.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::crates::Crate;

/// What provides the crate `loom`.
#[derive(Copy, Clone)]
pub(crate) enum Tool<'a> {
    Loom,
    Raddle { repository: &'a Path },
}

/// Downloads the sources, in the versions of the lock file.
pub(crate) fn fetch(manifest_folder: &Path) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(["fetch", "--locked"]).current_dir(manifest_folder);
    let status = command.status().map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("`cargo fetch` failed".to_owned()) }
}

/// Copies the sources of a crate into the target folder, without its lock file: that has versions of Loom that a patch
/// does not replace. Returns the copy.
pub(crate) fn source(of: &Crate, target: &Path) -> Result<PathBuf, String> {
    let name = format!("{}-{}", of.name, of.version);
    let copy = target.join("sources").join(&name);
    if copy.join("Cargo.toml").exists() {
        return Ok(copy);
    }
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let registries = home.ok_or("there is no home folder")?.join("registry/src");
    let registries =
        fs::read_dir(&registries).map_err(|error| format!("{}: {error}", registries.display()))?;
    let found =
        registries.flatten().map(|registry| registry.path().join(&name)).find(|path| path.exists());
    let found = found.ok_or_else(|| format!("cargo has not downloaded {name}"))?;
    copy_folder(&found, &copy)
        .map_err(|error| format!("cannot copy {}: {error}", found.display()))?;
    Ok(copy)
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &copy)?;
        } else if entry.file_name() != OsStr::new("Cargo.lock") {
            fs::copy(entry.path(), copy)?;
        }
    }
    Ok(())
}

/// Builds the tests of a crate. Returns the program.
pub(crate) fn tests(
    of: &Crate,
    source: &Path,
    target: &Path,
    tool: Tool<'_>,
) -> Result<PathBuf, String> {
    let mut command = Command::new("cargo");
    command.args(["test", "--release", "--no-run"]).args(of.target).current_dir(source);
    command.env("RUSTFLAGS", format!("--cfg {}", of.cfg));
    let folder = match tool {
        Tool::Loom => "loom",
        Tool::Raddle { repository } => {
            let patch = repository.join("outside").join(of.patch);
            command
                .arg("--config")
                .arg(format!("patch.crates-io.loom.path={:?}", patch.display().to_string()));
            "raddle"
        }
    };
    command.env("CARGO_TARGET_DIR", target.join(folder).join(of.cfg));
    command.env("CARGO_PROFILE_RELEASE_DEBUG", "0").envs(of.variables.iter().copied());
    let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if let (Tool::Raddle { .. }, true) = (tool, text.contains("was not used in the crate graph")) {
        return Err(format!("{}: the patch was not used", of.name));
    }
    let line = text.lines().find(|line| line.trim_start().starts_with("Executable"));
    let program = line
        .and_then(|line| line.rsplit_once('('))
        .map(|(_, program)| program.trim_end_matches(')'));
    match program {
        Some(program) if output.status.success() => Ok(source.join(program)),
        Some(_) | None => Err(format!("{} cannot be built:\n{text}", of.name)),
    }
}
