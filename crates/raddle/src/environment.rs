//! Settings from the environment.

use std::ffi::{OsStr, OsString};
use std::sync::OnceLock;

use crate::Config;
use crate::settings::{SettingError, Show, Variable};

/// Variables that begin so are settings.
const PREFIX: &str = "RADDLE_";

/// Variables that begin so belong to raddle's own tests.
const TEST_PREFIX: &str = "RADDLE_TEST_";

/// The settings that the environment changes.
#[derive(Debug)]
pub(crate) struct Environment {
    /// Variables with their values, in the order of the table. No value is empty.
    values: Vec<(&'static Variable, OsString)>,
    /// Whether `NO_COLOR` is set, see <https://no-color.org>.
    no_color: bool,
}

impl Environment {
    /// The environment at the first check of the process. Later changes have no effect.
    ///
    /// Returns an error if a variable begins as those of raddle do, but is none.
    pub(crate) fn get() -> Result<&'static Environment, SettingError> {
        static ENVIRONMENT: OnceLock<Result<Environment, SettingError>> = OnceLock::new();
        let read = || Environment::read(std::env::vars_os());
        ENVIRONMENT.get_or_init(read).as_ref().map_err(SettingError::clone)
    }

    fn read(
        variables: impl Iterator<Item = (OsString, OsString)>,
    ) -> Result<Environment, SettingError> {
        // A variable that is empty is as one that is not set.
        let mut variables: Vec<_> = variables.filter(|(_, value)| !value.is_empty()).collect();
        let mut take = |name: &str| {
            let index = variables.iter().position(|variable| variable.0 == name)?;
            Some(variables.swap_remove(index).1)
        };
        let known = Variable::ALL.iter();
        let values = known.filter_map(|known| Some((known, take(known.name)?))).collect();
        let no_color = take("NO_COLOR").is_some();
        let left = variables.iter().map(|(name, _)| name.to_string_lossy());
        let unknown =
            left.filter(|name| name.starts_with(PREFIX) && !name.starts_with(TEST_PREFIX));
        match unknown.min() {
            Some(name) => Err(unknown_variable(&name)),
            None => Ok(Environment { values, no_color }),
        }
    }

    /// Returns the variables that are set, with their values.
    pub(crate) fn values(&self) -> impl Iterator<Item = (&'static str, &OsStr)> {
        self.values.iter().map(|(variable, value)| (variable.name, value.as_os_str()))
    }

    /// Changes the settings in `config`. Returns an error for the first value that cannot be used.
    pub(crate) fn apply(&self, mut config: Config) -> Result<Config, SettingError> {
        if self.no_color {
            config = config.color(Show::Never);
        }
        let mut values = self.values.iter();
        values.try_fold(config, |config, (variable, value)| variable.apply(config, value))
    }
}

fn unknown_variable(name: &str) -> SettingError {
    let known = Variable::ALL.iter().map(|variable| variable.name);
    let nearest = known.min_by_key(|known| distance(name, known)).unwrap_or_default();
    SettingError::new(format!(
        "{name} is not a setting; did you mean {nearest}? `raddle::Config` documents all of them"
    ))
}

/// The number of letters to insert, remove or replace to turn one text into the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    // `row[n]` is the distance from the part of `from` that was read to the first `n` letters of `to`.
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, letter) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, &other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Granularity, Leaks, Memory, Panics, Sometimes};
    use std::time::Duration;

    fn read(pairs: &[(&str, &str)]) -> Result<Config, String> {
        let variables = pairs.iter().map(|&(name, value)| (name.into(), value.into()));
        let environment = Environment::read(variables).map_err(|error| error.to_string())?;
        environment.apply(Config::new()).map_err(|error| error.to_string())
    }

    fn assert_equal(config: Result<Config, String>, expected: Config) {
        assert_eq!(format!("{config:?}"), format!("{:?}", Ok::<_, String>(expected)));
    }

    #[test]
    fn settings_are_read() {
        let config = read(&[
            ("RADDLE_STRATEGY", "pct:2"),
            ("RADDLE_MEMORY", "rc11"),
            ("RADDLE_RUNS", "1_000"),
            ("RADDLE_SEED", "7"),
            ("RADDLE_TIME", "2m"),
            ("RADDLE_THREADS", "4"),
            ("RADDLE_KEEP_GOING", "1"),
            ("RADDLE_GRANULARITY", "all"),
            ("RADDLE_PANICS", "join"),
            ("RADDLE_SPURIOUS", "2"),
            ("RADDLE_LEAKS", "fail"),
            ("RADDLE_SOMETIMES", "fail"),
            ("RADDLE_WATCHDOG", "off"),
            ("RADDLE_REPLAY", ""),
            ("RADDLE_REPORT", "some/folder"),
            ("RADDLE_COLOR", "always"),
            ("NO_COLOR", "1"),
            ("RADDLE_PROGRESS", "never"),
            ("RADDLE_TEST_SCALE", "10"),
            ("PATH", "elsewhere"),
        ]);
        let expected = Config::new()
            .strategy("pct:2")
            .memory(Memory::Rc11)
            .runs(1000)
            .seed(7)
            .time(Duration::from_secs(120))
            .threads(4)
            .keep_going(true)
            .granularity(Granularity::All)
            .panics(Panics::Join)
            .spurious(2)
            .leaks(Leaks::Fail)
            .sometimes(Sometimes::Fail)
            .watchdog(None)
            .report("some/folder".into())
            .color(Show::Always)
            .progress(Show::Never);
        assert_equal(config, expected);
        assert_equal(read(&[]), Config::new());
    }

    #[test]
    fn a_random_seed_is_drawn_once() {
        let seeds = [0; 2].map(|_| format!("{:?}", read(&[("RADDLE_SEED", "random")]).unwrap()));
        assert_eq!(seeds[0], seeds[1]);
        assert_ne!(seeds[0], format!("{:?}", Config::new()));
    }

    #[test]
    fn the_environment_overrides_the_program() {
        let variables = [("RADDLE_RUNS", "5"), ("RADDLE_STRATEGY", "dfs")];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let environment = Environment::read(variables.into_iter()).unwrap();
        let config = Config::new().runs(0).strategy("lucky").seed(3);
        let expected = Config::new().runs(5).strategy("dfs").seed(3);
        assert_equal(Ok(environment.apply(config).unwrap()), expected);
    }

    #[test]
    fn a_misspelt_variable_is_named_with_the_nearest() {
        for (name, nearest) in [
            ("RADDLE_STRATGY", "RADDLE_STRATEGY"),
            ("RADDLE_STRATEGIE", "RADDLE_STRATEGY"),
            ("RADDLE_RUN", "RADDLE_RUNS"),
            ("RADDLE_KEEPGOING", "RADDLE_KEEP_GOING"),
            ("RADDLE_TIEM", "RADDLE_TIME"),
            ("RADDLE_COLOUR", "RADDLE_COLOR"),
            ("RADDLE_TESTS", "RADDLE_LEAKS"),
            ("RADDLE_SEEDS", "RADDLE_SEED"),
            ("RADDLE_MEM", "RADDLE_MEMORY"),
        ] {
            let error = read(&[(name, "1"), ("RADDLE_RUNS", "10")]).unwrap_err();
            assert!(error.contains(&format!("{name} is not a setting")), "{error}");
            assert!(error.contains(&format!("did you mean {nearest}?")), "{error}");
        }
        assert_equal(read(&[("RADDLE_STRATGY", "")]), Config::new());
    }

    #[test]
    fn distances() {
        for (from, to, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("seed", "speed", 1),
            ("abc", "bcd", 2),
        ] {
            assert_eq!(distance(from, to), expected, "{from} {to}");
            assert_eq!(distance(to, from), expected, "{to} {from}");
        }
    }

    /// Any value of any variable gives settings or an error that names the variable.
    #[test]
    fn any_value_is_accepted_or_refused() {
        const WORDS: [&str; 26] = [
            "",
            " ",
            "0",
            "-1",
            "1_000",
            "99999999999999999999",
            "5s",
            "5 s",
            "1h",
            "ms",
            "pct",
            "pct:",
            "pct:0",
            "pct:4294967296",
            "bpor:2:fair:1",
            "portfolio:",
            "portfolio:pos+pct:3",
            "delay:x",
            "auto",
            "always",
            "join",
            "racy",
            "off",
            "\u{0}",
            "\u{fc}",
            "r1-",
        ];
        let mut names: Vec<&str> = Variable::ALL.iter().map(|variable| variable.name).collect();
        names.push("NO_COLOR");
        let mut state = 1u64;
        let mut below = |bound: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        let (mut fine, mut refused) = (0, 0);
        for _ in 0..20_000 {
            let name = names[below(names.len())];
            // A known word, two of them, or one that was damaged.
            let mut word = WORDS[below(WORDS.len())].to_owned();
            match below(4) {
                0 => word += WORDS[below(WORDS.len())],
                1 if !word.is_empty() => _ = word.pop(),
                2 => word.insert(0, char::from(below(128) as u8)),
                _ => {}
            }
            match read(&[(name, &word)]) {
                Ok(_) => fine += 1,
                Err(error) => {
                    assert!(error.contains(name), "{name}={word:?}: {error}");
                    refused += 1;
                }
            }
        }
        assert!(fine > 1000 && refused > 1000, "{fine} {refused}");
    }

    #[cfg(unix)]
    #[test]
    fn invalid_utf_8_is_refused_except_in_paths() {
        use std::os::unix::ffi::OsStringExt as _;
        for variable in Variable::ALL {
            let value = OsString::from_vec(vec![b'1', 0xff]);
            let variables = [(variable.name.into(), value)].into_iter();
            match Environment::read(variables).unwrap().apply(Config::new()) {
                Ok(_) => assert_eq!(variable.name, "RADDLE_REPORT"),
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.contains(variable.name) && error.contains("UTF-8"), "{error}");
                }
            }
        }
    }

    #[test]
    fn colours_can_be_switched_off() {
        for (pairs, expected) in [
            (&[("NO_COLOR", "0")][..], Show::Never),
            (&[("NO_COLOR", "")], Show::Auto),
            (&[("RADDLE_COLOR", "auto"), ("NO_COLOR", "1")], Show::Auto),
            (&[("RADDLE_COLOR", "never")], Show::Never),
        ] {
            assert_equal(read(pairs), Config::new().color(expected));
        }
    }

    #[test]
    fn an_error_says_what_to_write() {
        for (name, value, hint) in [
            ("RADDLE_MEMORY", "tso", "sc or rc11"),
            ("RADDLE_RUNS", "many", "10_000"),
            ("RADDLE_SEED", "-1", "10_000"),
            ("RADDLE_TOTAL_TIME", "5", "10s"),
            ("RADDLE_THREADS", "both", "RADDLE_THREADS=2"),
            ("RADDLE_TIME", "10", "10s"),
            ("RADDLE_TIME", "s", "10s"),
            ("RADDLE_TIME", "99999999999999999999s", "10s"),
            ("RADDLE_TIME", "9999999999999999999h", "10s"),
            ("RADDLE_TIME", "10 parsecs", "10s"),
            ("RADDLE_STRATEGY", "lucky", "pct:D"),
            ("RADDLE_STRATEGY", "pct:0", "the depth of a bug is from 1 to 100"),
            ("RADDLE_STRATEGY", "portfolio:", "it is empty"),
            ("RADDLE_KEEP_GOING", "on", "1 or 0"),
            ("RADDLE_GRANULARITY", "fine", "sync, racy or all"),
            ("RADDLE_SPURIOUS", "some", "RADDLE_SPURIOUS=1"),
            ("RADDLE_PANICS", "no", "fail or join"),
            ("RADDLE_LEAKS", "no", "ignore, note or fail"),
            ("RADDLE_WATCHDOG", "no", "10s or off"),
            ("RADDLE_WATCHDOG", "0s", "10s or off"),
            ("RADDLE_COLOR", "blue", "always, never or auto"),
            ("RADDLE_PROGRESS", "yes", "always, never or auto"),
        ] {
            let error = read(&[(name, value)]).unwrap_err();
            assert!(error.contains(name) && error.contains(hint), "{error}");
        }
        let lists_words = |variable: &&Variable| {
            variable.values.contains(" or ") && !variable.values.starts_with("true")
        };
        for variable in Variable::ALL.iter().filter(lists_words) {
            let error = read(&[(variable.name, "?")]).unwrap_err();
            assert!(error.ends_with(variable.values), "{error}");
        }
    }
}
