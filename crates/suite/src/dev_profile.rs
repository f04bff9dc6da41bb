//! Builds the measuring executable of the dev profile, from the crate outside the workspace: settings
//! of this workspace's profiles do not reach users, and must not reach these figures.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds `outside/dev-speed`; `release` is this executable, whose target directory it shares.
pub(crate) fn build(release: &Path) -> Result<PathBuf, String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../outside/dev-speed/Cargo.toml");
    let target = release
        .ancestors()
        .nth(2)
        .ok_or_else(|| format!("{} is in no target directory", release.display()))?
        .join("dev-speed");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--manifest-path"]).arg(&manifest);
    command.arg("--target-dir").arg(&target);
    if cfg!(not(feature = "rivals")) {
        command.arg("--no-default-features");
    }
    let status = command.status().map_err(|error| format!("cannot start cargo: {error}"))?;
    if !status.success() {
        return Err(format!("cargo cannot build {}: {status}", manifest.display()));
    }
    let executable =
        target.join("debug").join(format!("dev-speed{}", std::env::consts::EXE_SUFFIX));
    if executable.is_file() {
        Ok(executable)
    } else {
        Err(format!("cargo left no executable at {}", executable.display()))
    }
}
