//! The failures that were found, kept so that a token is enough to replay one.
//!
//! Each is a file of lines, a word and its value, in a folder of the cache.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use crate::options::Options;
use crate::{Exit, Problem, library};

/// A failure that was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Known {
    pub(crate) token: String,
    pub(crate) summary: String,
    /// The folder in which the program ran.
    pub(crate) folder: PathBuf,
    /// The words after `raddle run`.
    pub(crate) words: Vec<OsString>,
    /// The places that race and were scheduling points.
    pub(crate) points: String,
    /// The seed of the process that found it, if there were several.
    pub(crate) seed: Option<u64>,
}

fn place() -> PathBuf {
    library::cache().join("failures")
}

impl Known {
    /// Keeps a failure. That it cannot be kept is no reason to fail: the report has the token.
    pub(crate) fn keep(&self) {
        let mut text = String::new();
        let mut line = |word: &str, value: &str| text += &format!("{word} {}\n", escape(value));
        line("token", &self.token);
        line("summary", &self.summary);
        line("folder", &self.folder.to_string_lossy());
        line("points", &self.points);
        if let Some(seed) = self.seed {
            line("seed", &seed.to_string());
        }
        for word in &self.words {
            line("word", &word.to_string_lossy());
        }
        let file = place().join(format!("{:016x}", library::hash(self.token.as_bytes())));
        let _ = fs::create_dir_all(place()).and_then(|()| fs::write(file, text));
    }

    fn parse(text: &str) -> Option<Known> {
        let mut known = Known {
            token: String::new(),
            summary: String::new(),
            folder: PathBuf::new(),
            words: Vec::new(),
            points: String::new(),
            seed: None,
        };
        for line in text.lines() {
            let (word, value) = line.split_once(' ')?;
            let value = unescape(value);
            match word {
                "token" => known.token = value,
                "summary" => known.summary = value,
                "folder" => known.folder = value.into(),
                "seed" => known.seed = value.parse().ok(),
                "points" => known.points = value,
                "word" => known.words.push(value.into()),
                _ => return None,
            }
        }
        (!known.token.is_empty()).then_some(known)
    }

    /// Returns all failures that were kept, the newest last.
    fn all() -> Vec<Known> {
        let entries = fs::read_dir(place()).into_iter().flatten().flatten();
        let mut files: Vec<_> = entries
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        let read = |(_, path): (_, PathBuf)| Known::parse(&fs::read_to_string(path).ok()?);
        files.into_iter().filter_map(read).collect()
    }

    /// Returns the failure with a token.
    pub(crate) fn find(token: &str) -> Option<Known> {
        Known::all().into_iter().rfind(|known| known.token == token)
    }

    /// Returns the options for a replay.
    pub(crate) fn options(&self) -> Result<Options, Problem> {
        let mut options = Options::parse(&self.words)?;
        options.settings.push(("RADDLE_REPLAY".to_owned(), (&self.token).into()));
        if let Some(seed) = self.seed {
            options.settings.push(("RADDLE_SEED".to_owned(), seed.to_string().into()));
        }
        options.replay_as_found(&self.points);
        Ok(options)
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

fn unescape(text: &str) -> String {
    let mut result = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => result.push(if letters.next() == Some('n') { '\n' } else { '\\' }),
            _ => result.push(letter),
        }
    }
    result
}

/// Prints the failures that were kept.
pub(crate) fn list(words: &[OsString]) -> Result<Exit, Problem> {
    if !words.is_empty() {
        return Err(Problem("`raddle list` takes no arguments".into()));
    }
    let all = Known::all();
    if all.is_empty() {
        println!("no failures were found so far");
    }
    for known in all {
        let words: Vec<_> = known.words.iter().map(|word| word.to_string_lossy()).collect();
        println!("{}\n    {}\n    raddle run {}", known.token, known.summary, words.join(" "));
        println!("    in {}", known.folder.display());
    }
    Ok(Exit::Clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_were_written() {
        for text in ["", "plain", "two\nlines", "back\\slash", "\\n", "\\\n\\"] {
            assert_eq!(unescape(&escape(text)), text);
            assert!(!escape(text).contains('\n'));
        }
    }
}
