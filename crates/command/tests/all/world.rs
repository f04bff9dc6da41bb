//! A folder of its own for each test, and commands in it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::{env, fs};

/// A folder for programs, failures and reports of one test.
pub(crate) struct World {
    folder: PathBuf,
}

impl World {
    pub(crate) fn new(name: &str) -> World {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        World { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Runs `raddle` with these words.
    pub(crate) fn raddle(&self, words: &[&str]) -> Done {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
        Done::of(self.prepare(&mut command).args(words))
    }

    /// Runs `cargo raddle` with these words in a crate that [`World::copy_crate`] has made.
    pub(crate) fn cargo_raddle(&self, name: &str, words: &[&str]) -> Done {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
        command.arg("raddle").args(words);
        self.in_crate(name, &mut command)
    }

    /// Runs a command in a crate that [`World::copy_crate`] has made.
    pub(crate) fn in_crate(&self, name: &str, command: &mut Command) -> Done {
        let command = self.prepare(command);
        // Settings of this build are not those of the crate's.
        for (name, _) in env::vars_os() {
            let name_text = name.to_string_lossy();
            if name_text.starts_with("CARGO_PROFILE_") || name_text == "CARGO_TARGET_DIR" {
                command.env_remove(name);
            }
        }
        Done::of(command.current_dir(self.folder.join(name)))
    }

    /// Copies a crate of the folder `crates`. What earlier tests have built of it is kept.
    pub(crate) fn copy_crate(&self, name: &str) {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crates").join(name);
        let to = self.folder.join(name);
        fs::create_dir_all(to.join("src")).unwrap();
        for file in ["Cargo.toml", "src/lib.rs", "src/main.rs"] {
            fs::copy(from.join(file), to.join(file)).unwrap();
        }
    }

    /// Writes a crate: a manifest with these lines, and a library.
    pub(crate) fn write_crate(&self, name: &str, manifest: &str, library: &str) {
        let folder = self.folder.join(name);
        fs::create_dir_all(folder.join("src")).unwrap();
        let package =
            format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"");
        let manifest = format!("{package}\n{manifest}\n[workspace]\n");
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        fs::write(folder.join("src/lib.rs"), library).unwrap();
    }

    /// Starts `raddle` with these words.
    pub(crate) fn start(&self, words: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_raddle"));
        let quiet = self.prepare(&mut command).args(words).stdout(Stdio::null());
        quiet.stderr(Stdio::null()).spawn().unwrap()
    }

    /// Returns the most memory that the processes of a program in this folder have used.
    pub(crate) fn kilobytes_of(&self, program: &str) -> u64 {
        let of = |process: PathBuf| {
            let status = fs::read_to_string(process.join("status")).ok()?;
            let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
            line.split_whitespace().nth(1)?.parse().ok()
        };
        self.processes(program).into_iter().filter_map(of).max().unwrap_or(0)
    }

    /// Returns the processes of a program in this folder, as folders of `/proc`.
    pub(crate) fn processes(&self, program: &str) -> Vec<PathBuf> {
        let file = self.folder.join(program);
        let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_it =
            |process: &PathBuf| fs::read_link(process.join("exe")).is_ok_and(|exe| exe == file);
        processes.filter(is_it).collect()
    }

    /// Runs another command.
    pub(crate) fn run(&self, program: &str, words: &[&str]) -> Done {
        let mut command = Command::new(program);
        Done::of(self.prepare(&mut command).args(words))
    }

    fn prepare<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with("RADDLE_") {
                command.env_remove(name);
            }
        }
        // The library is unpacked once for all tests.
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        command.env_remove("CC").env_remove("CXX").env("XDG_CACHE_HOME", cache);
        command.current_dir(&self.folder)
    }

    /// Builds a program of the folder `programs` and returns its name.
    pub(crate) fn build(&self, source: &str, flags: &[&str]) -> String {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        let place = programs.join(source);
        fs::copy(programs.join("suite/suite.h"), self.folder.join("suite.h")).unwrap();
        let source = place.file_name().unwrap().to_str().unwrap();
        self.build_text(source, &fs::read_to_string(&place).unwrap(), flags)
    }

    /// Builds a program from its text and returns its name.
    pub(crate) fn build_text(&self, source: &str, text: &str, flags: &[&str]) -> String {
        fs::write(self.folder.join(source), text).unwrap();
        let (name, ending) = source.split_once('.').unwrap();
        let compiler = if ending == "c" { "cc" } else { "c++" };
        let mut words = vec![compiler, "-O1", source, "-o", name];
        words.extend(flags);
        self.raddle(&words).ends_with(0);
        format!("./{name}")
    }
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    code: Option<i32>,
    /// Standard output, then standard error.
    pub(crate) text: String,
}

impl Done {
    fn of(command: &mut Command) -> Done {
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Done { code: status.code(), text: text.concat() }
    }

    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Done {
        assert_eq!(self.code, Some(code), "{}", self.text);
        self
    }

    #[track_caller]
    pub(crate) fn says(self, words: &[&str]) -> Done {
        for word in words {
            assert!(self.text.contains(word), "{word:?} is missing in:\n{}", self.text);
        }
        self
    }

    /// Returns the number of executions, and whether they are all, or all within a bound.
    pub(crate) fn executions(&self) -> (u64, bool) {
        (
            self.number("executions"),
            ["exhausted", "bounded"].iter().any(|all| self.field("verdict").contains(all)),
        )
    }

    /// Returns a number of a report in JSON.
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.field(name).parse().unwrap()
    }

    fn field(&self, name: &str) -> &str {
        let (_, rest) = self.text.split_once(&format!("\"{name}\": ")).unwrap();
        rest.split_once(",\n").unwrap().0
    }

    /// Returns the token of the replay command.
    pub(crate) fn token(&self) -> &str {
        let (_, rest) = self.text.split_once("raddle replay ").unwrap();
        rest.split_whitespace().next().unwrap()
    }
}
