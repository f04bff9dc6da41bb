//! Builds the measuring executable of the dev profile, `dev-speed`. It is a workspace of its own: settings of
//! this workspace's profiles do not reach users, and must not reach these figures.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds `dev-speed` in the target directory of `release`, which is this executable.
pub(crate) fn build(release: &Path) -> Result<PathBuf, String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("dev-speed/Cargo.toml");
    let target = release
        .ancestors()
        .nth(2)
        .ok_or_else(|| format!("{} is in no target directory", release.display()))?
        .join("dev-speed");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--locked", "--manifest-path"]).arg(&manifest);
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
