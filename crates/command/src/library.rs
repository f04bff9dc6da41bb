//! The library that is loaded into programs: embedded in the command, and unpacked into a cache.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use crate::Problem;

static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libraddle_native.so"));

/// The name of the library, which programs that are linked with it refer to.
pub(crate) const NAME: &str = "libraddle_native.so";

/// Unpacks the library unless it is there. Returns the folder that contains it.
pub(crate) fn folder() -> Result<PathBuf, Problem> {
    if LIBRARY.is_empty() {
        return Err(Problem(
            "programs can be checked on Linux on x86-64 with glibc only; this is another system"
                .into(),
        ));
    }
    let version = env!("CARGO_PKG_VERSION");
    let folder = cache().join(format!("{version}-{:016x}", hash(LIBRARY)));
    let file = folder.join(NAME);
    place(&file, LIBRARY).map_err(|error| {
        Problem(format!(
            "the library for programs cannot be written to {}: {error}; set XDG_CACHE_HOME to a folder that can be written",
            file.display()
        ))
    })?;
    Ok(folder)
}

/// Writes a file unless it is there. Others that do the same see no part of it: it gets its name last.
pub(crate) fn place(file: &Path, content: &[u8]) -> io::Result<()> {
    if fs::metadata(file).is_ok_and(|known| known.len() == content.len() as u64) {
        return Ok(());
    }
    fs::create_dir_all(file.parent().unwrap_or(Path::new(".")))?;
    let new = file.with_extension(format!("new-{}", process::id()));
    fs::write(&new, content)?;
    fs::rename(&new, file)
}

/// Returns the folder for what raddle keeps between commands.
pub(crate) fn cache() -> PathBuf {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let base = given("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || given("HOME").map(|home| PathBuf::from(home).join(".cache"));
    base.or_else(home).unwrap_or_else(std::env::temp_dir).join("raddle")
}

/// A hash that tells versions of the library apart (FNV-1a).
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
