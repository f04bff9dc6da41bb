//! Builds the library that the command loads into programs, and leaves it where the command embeds it from.
//!
//! The library is a workspace of its own, because its sites are code addresses and those of the other crates are
//! source locations. So Cargo is started once more.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates that the library is made of.
const CRATES: [&str; 9] =
    ["native", "core", "engine", "strategy", "solve", "results", "analysis", "explore", "report"];

fn main() {
    let variable = |name: &str| env::var_os(name).unwrap_or_else(|| panic!("{name} is not set"));
    let crates = PathBuf::from(variable("CARGO_MANIFEST_DIR")).join("..");
    for name in CRATES {
        println!("cargo:rerun-if-changed={}", crates.join(name).join("src").display());
        println!("cargo:rerun-if-changed={}", crates.join(name).join("Cargo.toml").display());
    }
    for file in ["native/Cargo.lock", "native/build.rs"] {
        println!("cargo:rerun-if-changed={}", crates.join(file).display());
    }
    println!("cargo:rerun-if-changed=build.rs");
    let embedded = Path::new(&variable("OUT_DIR")).join("libraddle_native.so");
    let is_supported = variable("CARGO_CFG_TARGET_ARCH") == "x86_64"
        && variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    if !is_supported {
        // The command says that it cannot check programs here.
        return write(&embedded, &[]);
    }
    let target = Path::new(&variable("OUT_DIR")).join("native");
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["build", "--release", "--locked", "--lib"]);
    cargo.arg("--manifest-path").arg(crates.join("native/Cargo.toml"));
    cargo.arg("--target-dir").arg(&target);
    // What the outer Cargo says of its own crates does not hold for these.
    for (name, _) in env::vars_os() {
        let name_text = name.to_string_lossy();
        let is_own = ["CARGO_PROFILE_", "CARGO_FEATURE_", "CARGO_CFG_"]
            .iter()
            .any(|prefix| name_text.starts_with(prefix));
        if is_own {
            cargo.env_remove(&name);
        }
    }
    for name in
        ["RUSTC_WORKSPACE_WRAPPER", "CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS", "CARGO_BUILD_TARGET"]
    {
        cargo.env_remove(name);
    }
    // Stacks of calls are read by frame pointers.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", "-Cforce-frame-pointers=yes");
    // Names of functions stay for reports of crashes; lines of raddle's own source are not needed.
    cargo.env("CARGO_PROFILE_RELEASE_DEBUG", "0").env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo");
    let status = cargo.status().unwrap_or_else(|error| panic!("cannot run {cargo:?}: {error}"));
    assert!(status.success(), "building libraddle_native.so failed: {cargo:?}");
    let built = target.join("release/libraddle_native.so");
    let bytes = fs::read(&built).unwrap_or_else(|error| panic!("{}: {error}", built.display()));
    write(&embedded, &bytes);
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
