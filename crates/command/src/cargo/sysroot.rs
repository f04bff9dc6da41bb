//! The standard library, instrumented.
//!
//! The library that comes with a stable toolchain contains its code as LLVM's bitcode, too (for link-time optimisation),
//! and the linker that comes with it has the pass of ThreadSanitizer. So the library is instrumented without its source.
//! Only atomic operations are: they are what orders the accesses of the program.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use object::{Object as _, ObjectSection as _};

use super::Exit;
use crate::{Problem, compile, library};

/// The crates whose code is instrumented: those with atomic operations, and the test harness.
const CRATES: [&str; 5] = ["std", "alloc", "core", "test", "std_detect"];
const PASSES: &str = "--lto-newpm-passes=tsan-module,function(tsan)";
/// Where toolchains keep the library of the only target that raddle has.
pub(super) const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A toolchain: what `rustc` in this folder is.
pub(super) struct Toolchain {
    sysroot: PathBuf,
    /// What `rustc -vV` says.
    pub(super) version: String,
}

/// Makes the library of this folder's toolchain.
pub(super) fn set_up(words: &[OsString]) -> Result<Exit, Problem> {
    if !words.is_empty() {
        return Err(Problem("`cargo raddle setup` takes no arguments".into()));
    }
    let folder = Toolchain::find()?.instrumented()?;
    println!("the instrumented standard library is in {}", folder.display());
    Ok(Exit::Passed)
}

impl Toolchain {
    /// Asks the compiler that Cargo would use here.
    pub(super) fn find() -> Result<Toolchain, Problem> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let ask = |words: &[&str]| {
            let answer = Command::new(&rustc).args(words).output().map_err(|error| {
                Problem(format!("{} cannot be run: {error}", rustc.to_string_lossy()))
            })?;
            if !answer.status.success() {
                let why = said(&answer.stderr);
                return Err(Problem(format!("the toolchain cannot be used: {why}")));
            }
            Ok(String::from_utf8_lossy(&answer.stdout).trim().to_owned())
        };
        let version = ask(&["-vV"])?;
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or("");
        if host != TARGET {
            return Err(Problem(format!(
                "the toolchain is for {host}; tests can be checked on {TARGET} only"
            )));
        }
        Ok(Toolchain { sysroot: ask(&["--print", "sysroot"])?.into(), version })
    }

    fn libraries(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib").join(TARGET).join("lib")
    }

    /// Returns the folders of the dynamic standard library and the compiler's own libraries, which tests of procedural
    /// macros need.
    pub(super) fn dynamic_libraries(&self) -> [PathBuf; 2] {
        [self.libraries(), self.sysroot.join("lib")]
    }

    fn linker(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib").join(TARGET).join("bin/gcc-ld/ld.lld")
    }

    /// Returns which toolchain this is, or why it cannot be used.
    pub(super) fn check(&self) -> Result<String, Problem> {
        if !self.linker().exists() {
            return Err(Problem(format!(
                "{} has no linker of its own (rust-lld); use a toolchain of rustup",
                self.sysroot.display()
            )));
        }
        if compile::find("ar").is_none() {
            return Err(Problem("there is no `ar`; install binutils".into()));
        }
        Ok(self.version.lines().next().unwrap_or_default().to_owned())
    }

    /// Returns the folder of the instrumented library, which is made unless it is there.
    pub(super) fn instrumented(&self) -> Result<PathBuf, Problem> {
        let key = [env!("CARGO_PKG_VERSION"), &self.version, &self.sysroot.to_string_lossy()];
        let key = key.join("\n");
        let folder = library::cache().join("sysroots");
        let done = folder.join(format!("{:016x}", library::hash(key.as_bytes())));
        if done.exists() {
            return Ok(done);
        }
        self.check()?;
        eprintln!("cargo raddle: instrumenting the standard library, once for this toolchain");
        let new = done.with_extension(process::id().to_string());
        self.make(&new).map_err(|error| {
            Problem(format!("the standard library cannot be instrumented: {error}"))
        })?;
        // Another process may have been first.
        if fs::rename(&new, &done).is_err() {
            let _ = fs::remove_dir_all(&new);
        }
        Ok(done)
    }

    /// Makes a sysroot whose files are those of the toolchain, but for the instrumented ones.
    fn make(&self, new: &Path) -> Result<(), String> {
        let say = |error: std::io::Error| error.to_string();
        let target = new.join("lib/rustlib").join(TARGET);
        let libraries = target.join("lib");
        fs::create_dir_all(&libraries).map_err(say)?;
        symlink(self.sysroot.join("lib/rustlib").join(TARGET).join("bin"), target.join("bin"))
            .map_err(say)?;
        for entry in fs::read_dir(self.libraries()).map_err(say)? {
            let entry = entry.map_err(say)?;
            let name = entry.file_name();
            let is_instrumented = CRATES.iter().any(|known| {
                let name = name.to_string_lossy();
                name.starts_with(&format!("lib{known}-")) && name.ends_with(".rlib")
            });
            if is_instrumented {
                self.instrument(&entry.path(), &libraries.join(&name))?;
            } else {
                symlink(entry.path(), libraries.join(&name)).map_err(say)?;
            }
        }
        Ok(())
    }

    /// Instruments the objects of an archive.
    fn instrument(&self, from: &Path, to: &Path) -> Result<(), String> {
        let work = to.with_extension("objects");
        let say = |error: std::io::Error| error.to_string();
        fs::create_dir_all(&work).map_err(say)?;
        run(Command::new("ar").arg("x").arg(from).current_dir(&work))?;
        let mut members = vec![work.join("lib.rmeta")];
        for entry in fs::read_dir(&work).map_err(say)? {
            let path = entry.map_err(say)?.path();
            if path.extension().is_some_and(|ending| ending == "o") {
                self.instrument_object(&path)?;
                members.push(path);
            }
        }
        // The order of the objects must not depend on that of the folder.
        members[1..].sort();
        run(Command::new("ar").arg("rcs").arg(to).args(&members))?;
        fs::remove_dir_all(&work).map_err(say)
    }

    fn instrument_object(&self, object: &Path) -> Result<(), String> {
        let bytes = fs::read(object).map_err(|error| error.to_string())?;
        let file = object::File::parse(&*bytes).map_err(|error| error.to_string())?;
        let bitcode = file.section_by_name(".llvmbc").and_then(|section| section.data().ok());
        // Objects of other languages have none.
        let Some(bitcode) = bitcode.filter(|bitcode| !bitcode.is_empty()) else { return Ok(()) };
        let (input, output) = (object.with_extension("bc"), object.with_extension("new"));
        fs::write(&input, bitcode).map_err(|error| error.to_string())?;
        let mut linker = Command::new(self.linker());
        linker.args(["-r", "--lto-O0", PASSES]).arg(&input).arg("-o").arg(&output);
        run(&mut linker)?;
        fs::remove_file(&input).map_err(|error| error.to_string())?;
        fs::rename(&output, object).map_err(|error| error.to_string())
    }
}

/// Returns what a tool has said, without the stack of the tool itself, which rustup adds.
pub(super) fn said(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let text = text.split("\nStack backtrace:").next().unwrap_or_default().trim();
    text.trim_start_matches("error: ").to_owned()
}

fn run(command: &mut Command) -> Result<(), String> {
    let done = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}", String::from_utf8_lossy(&done.stderr).trim()))
}
