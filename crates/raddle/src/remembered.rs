//! Failing executions of earlier checks, which the next check of the same name tries first.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use raddle_results::Report;

use crate::files;

/// The most executions that are remembered for a check.
const MAX_TOKENS: usize = 5;

/// The file with the tokens of a check: `target/raddle/CRATE/CHECK.tokens`, one in each line, the newest first.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    file: PathBuf,
}

impl Remembered {
    /// Returns the file of the check `name`. Returns `None` if the program is not in a target folder of Cargo.
    pub(crate) fn of(name: &str) -> Option<Remembered> {
        let program = env::current_exe().ok()?;
        let folder = target_folder(&program)?.join("raddle").join(crate_name(&program)?);
        Some(Remembered { file: folder.join(format!("{}.tokens", files::file_name(name))) })
    }

    /// Returns the tokens. A file that cannot be read has none.
    pub(crate) fn tokens(&self) -> Vec<String> {
        let text = files::read_limited(&self.file).unwrap_or_default();
        text.lines().take(MAX_TOKENS).map(str::to_owned).collect()
    }

    /// Makes the executions again, and returns the report of the first that fails. Forgets those that do not fail or
    /// are not possible any more.
    pub(crate) fn fails_again<E>(
        &self,
        again: &mut dyn FnMut(&str) -> Result<Report, E>,
    ) -> Option<Report> {
        self.tokens().iter().find_map(|token| {
            let report = again(token).ok().filter(|report| report.failure().is_some());
            if report.is_none() {
                self.remove(token);
            }
            report
        })
    }

    /// Remembers a token.
    pub(crate) fn add(&self, token: &str) {
        let known = self.tokens();
        if known.first().is_none_or(|first| first != token) {
            let others = known.into_iter().filter(|known| known != token);
            self.write(&[token.to_owned()].into_iter().chain(others).collect::<Vec<_>>());
        }
    }

    /// Forgets a token, whose execution does not fail any more.
    pub(crate) fn remove(&self, token: &str) {
        let left: Vec<String> = self.tokens().into_iter().filter(|known| known != token).collect();
        self.write(&left);
    }

    /// Writes the file. What cannot be written is not remembered, and the check has its result without it.
    fn write(&self, tokens: &[String]) {
        if tokens.is_empty() {
            let _ = fs::remove_file(&self.file);
            return;
        }
        let text: String =
            tokens.iter().take(MAX_TOKENS).map(|token| format!("{token}\n")).collect();
        let _ = self.file.parent().map_or(Ok(()), fs::create_dir_all);
        let _ = files::write(&self.file, &text);
    }
}

/// Returns the folder `target` of `target/PROFILE/deps/program`.
fn target_folder(program: &Path) -> Option<&Path> {
    let deps = program.parent().filter(|folder| folder.ends_with("deps"))?;
    deps.parent()?.parent()
}

/// Returns the name of the crate of `program-0123456789abcdef`.
fn crate_name(program: &Path) -> Option<String> {
    let name = program.file_stem()?.to_str()?;
    Some(name.rsplit_once('-').map_or(name, |(name, _)| name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_folder_is_recognised() {
        let program = Path::new("/a/target/debug/deps/queue-0123456789abcdef");
        assert_eq!(target_folder(program), Some(Path::new("/a/target")));
        assert_eq!(crate_name(program).as_deref(), Some("queue"));
        assert_eq!(target_folder(Path::new("/usr/bin/queue")), None);
    }
}
