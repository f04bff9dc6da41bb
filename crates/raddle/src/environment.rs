//! Settings from the environment, and what can be wrong with a setting.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use raddle_core::MemoryModel;
use raddle_explore::{Leaks, Refusal, ReplayError, Strategy, StrategyError};

use crate::settings::{Granularity, Panics, Word};

/// A setting that makes no sense, with what would.
///
/// ```
/// let error = raddle::Config::new().runs(0).try_run(|| ()).unwrap_err();
/// assert!(error.to_string().contains("zero runs check nothing"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingError {
    message: String,
}

impl SettingError {
    pub(crate) fn new(message: impl Into<String>) -> SettingError {
        SettingError { message: message.into() }
    }
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SettingError {}

impl From<StrategyError> for SettingError {
    fn from(error: StrategyError) -> SettingError {
        SettingError::new(error.to_string())
    }
}

impl From<Refusal> for SettingError {
    fn from(refusal: Refusal) -> SettingError {
        SettingError::new(refusal.to_string())
    }
}

impl From<ReplayError> for SettingError {
    fn from(error: ReplayError) -> SettingError {
        SettingError::new(error.to_string())
    }
}

impl From<Infallible> for SettingError {
    fn from(never: Infallible) -> SettingError {
        match never {}
    }
}

/// What the environment says; `None` where it says nothing.
#[derive(Default, Debug, PartialEq)]
pub(crate) struct Environment {
    pub(crate) strategy: Option<Strategy>,
    pub(crate) memory: Option<MemoryModel>,
    pub(crate) runs: Option<u64>,
    pub(crate) time: Option<Duration>,
    pub(crate) seed: Option<u64>,
    pub(crate) threads: Option<usize>,
    pub(crate) keep_going: Option<bool>,
    pub(crate) spurious: Option<u32>,
    pub(crate) granularity: Option<Granularity>,
    pub(crate) panics: Option<Panics>,
    pub(crate) leaks: Option<Leaks>,
    /// `Some(None)` if it is switched off.
    pub(crate) watchdog: Option<Option<Duration>>,
    pub(crate) replay: Option<String>,
    pub(crate) report: Option<PathBuf>,
    pub(crate) colour: Option<Show>,
    pub(crate) progress: Option<Show>,
}

/// Whether to show something, regardless of who looks.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Show {
    Always,
    Never,
}

impl Environment {
    /// What the environment says when a check first asks. It is asked once: to look for so many variables
    /// takes longer than a short check.
    pub(crate) fn get() -> Result<&'static Environment, SettingError> {
        static ENVIRONMENT: OnceLock<Result<Environment, SettingError>> = OnceLock::new();
        let read = || Environment::from(|name| std::env::var_os(name));
        ENVIRONMENT.get_or_init(read).as_ref().map_err(SettingError::clone)
    }

    fn from(
        lookup: impl Fn(&str) -> Option<std::ffi::OsString>,
    ) -> Result<Environment, SettingError> {
        let text = |name: &str| match lookup(name) {
            None => Ok(None),
            Some(value) => match value.into_string() {
                Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
                Err(_) => Err(SettingError::new(format!("{name} is not valid UTF-8"))),
            },
        };
        let number = |name: &str, value: String, example: &str| {
            value.replace('_', "").parse::<u64>().map_err(|_| {
                SettingError::new(format!(
                    "{name}=`{value}` is not a whole number; say for example {name}={example}"
                ))
            })
        };
        let mut environment = Environment { replay: text("RADDLE_REPLAY")?, ..Self::default() };
        if let Some(word) = text("RADDLE_STRATEGY")? {
            let strategy = word.parse::<Strategy>();
            let explain = |error| SettingError::new(format!("RADDLE_STRATEGY: {error}"));
            environment.strategy = Some(strategy.map_err(explain)?);
        }
        if let Some(word) = text("RADDLE_MEMORY")? {
            let memory = MemoryModel::parse(&word).ok_or_else(|| {
                SettingError::new(format!(
                    "RADDLE_MEMORY=`{word}` is no memory model; say {}",
                    MemoryModel::list()
                ))
            });
            environment.memory = Some(memory?);
        }
        if let Some(value) = text("RADDLE_RUNS")? {
            environment.runs = Some(number("RADDLE_RUNS", value, "10_000")?);
        }
        if let Some(value) = text("RADDLE_SEED")? {
            environment.seed = Some(number("RADDLE_SEED", value, "10_000")?);
        }
        if let Some(value) = text("RADDLE_THREADS")? {
            let threads = number("RADDLE_THREADS", value, "2")?;
            environment.threads = Some(usize::try_from(threads).unwrap_or(usize::MAX));
        }
        environment.keep_going = match text("RADDLE_KEEP_GOING")?.as_deref() {
            None => None,
            Some("1" | "true" | "yes") => Some(true),
            Some("0" | "false" | "no") => Some(false),
            Some(other) => {
                return Err(SettingError::new(format!(
                    "RADDLE_KEEP_GOING=`{other}` is neither yes nor no; say 1 or 0"
                )));
            }
        };
        if let Some(value) = text("RADDLE_TIME")? {
            environment.time = Some(duration(&value).ok_or_else(|| {
                SettingError::new(format!(
                    "RADDLE_TIME=`{value}` is not a time; say for example 500ms, 10s or 2m"
                ))
            })?);
        }
        if let Some(value) = text("RADDLE_SPURIOUS")? {
            let times = number("RADDLE_SPURIOUS", value, "1")?;
            environment.spurious = Some(u32::try_from(times).unwrap_or(u32::MAX));
        }
        environment.granularity = word("RADDLE_GRANULARITY", text("RADDLE_GRANULARITY")?)?;
        environment.panics = word("RADDLE_PANICS", text("RADDLE_PANICS")?)?;
        environment.leaks = word("RADDLE_LEAKS", text("RADDLE_LEAKS")?)?;
        environment.watchdog = match text("RADDLE_WATCHDOG")?.as_deref() {
            None => None,
            Some("off") => Some(None),
            Some(value) => {
                Some(Some(duration(value).filter(|time| !time.is_zero()).ok_or_else(|| {
                    SettingError::new(format!(
                        "RADDLE_WATCHDOG=`{value}` is not a time; say for example 500ms, 10s or off"
                    ))
                })?))
            }
        };
        environment.report =
            lookup("RADDLE_REPORT").filter(|path| !path.is_empty()).map(PathBuf::from);
        let show = |name: &str, otherwise: Option<Show>| match text(name)?.as_deref() {
            Some("always") => Ok(Some(Show::Always)),
            Some("never") => Ok(Some(Show::Never)),
            Some("auto") => Ok(None),
            Some(other) => Err(SettingError::new(format!(
                "{name}=`{other}` is not known; say always, never or auto"
            ))),
            None => Ok(otherwise),
        };
        // https://no-color.org: whatever its value, unless empty.
        let no_colour = lookup("NO_COLOR").filter(|value| !value.is_empty());
        environment.colour = show("RADDLE_COLOR", no_colour.map(|_| Show::Never))?;
        environment.progress = show("RADDLE_PROGRESS", None)?;
        Ok(environment)
    }
}

/// What a setting that is one of a few words says.
fn word<T: Word>(name: &str, value: Option<String>) -> Result<Option<T>, SettingError> {
    let Some(value) = value else { return Ok(None) };
    match T::parse(&value) {
        Some(known) => Ok(Some(known)),
        None => Err(SettingError::new(format!("{name}=`{value}` is not known; say {}", T::list()))),
    }
}

/// A time such as `500ms`, `10s`, `2m` or `1h`.
pub(crate) const fn duration(text: &str) -> Option<Duration> {
    let text = text.trim_ascii().as_bytes();
    let (mut number, mut digits) = (0u64, 0);
    while digits < text.len() && text[digits].is_ascii_digit() {
        let digit = (text[digits] - b'0') as u64;
        number = match number.checked_mul(10) {
            Some(tens) => match tens.checked_add(digit) {
                Some(number) => number,
                None => return None,
            },
            None => return None,
        };
        digits += 1;
    }
    if digits == 0 {
        return None;
    }
    let seconds = match text.split_at(digits).1 {
        b"ms" => return Some(Duration::from_millis(number)),
        b"s" => number.checked_mul(1),
        b"m" => number.checked_mul(60),
        b"h" => number.checked_mul(3600),
        _ => None,
    };
    match seconds {
        Some(seconds) => Some(Duration::from_secs(seconds)),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Environment, String> {
        let lookup = |name: &str| pairs.iter().find(|pair| pair.0 == name).map(|p| p.1.into());
        Environment::from(lookup).map_err(|error| error.to_string())
    }

    #[test]
    fn settings_are_read() {
        let environment = read(&[
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
            ("RADDLE_WATCHDOG", "off"),
            ("RADDLE_REPLAY", ""),
            ("RADDLE_REPORT", "some/folder"),
            ("RADDLE_COLOR", "always"),
            ("NO_COLOR", "1"),
            ("RADDLE_PROGRESS", "never"),
        ]);
        let expected = Environment {
            strategy: Some(Strategy::Pct { depth: 2 }),
            memory: Some(MemoryModel::Rc11),
            runs: Some(1000),
            seed: Some(7),
            threads: Some(4),
            keep_going: Some(true),
            granularity: Some(Granularity::All),
            panics: Some(Panics::Join),
            spurious: Some(2),
            leaks: Some(Leaks::Fail),
            watchdog: Some(None),
            time: Some(Duration::from_secs(120)),
            replay: None,
            report: Some("some/folder".into()),
            colour: Some(Show::Always),
            progress: Some(Show::Never),
        };
        assert_eq!(environment, Ok(expected));
    }

    /// Whatever the variables hold: settings, or an error that names one of them.
    #[test]
    fn nothing_in_the_environment_does_harm() {
        const NAMES: [&str; 17] = [
            "RADDLE_STRATEGY",
            "RADDLE_RUNS",
            "RADDLE_SEED",
            "RADDLE_TIME",
            "RADDLE_THREADS",
            "RADDLE_REPLAY",
            "RADDLE_REPORT",
            "RADDLE_COLOR",
            "NO_COLOR",
            "RADDLE_PROGRESS",
            "RADDLE_GRANULARITY",
            "RADDLE_PANICS",
            "RADDLE_WATCHDOG",
            "RADDLE_SPURIOUS",
            "RADDLE_MEMORY",
            "RADDLE_KEEP_GOING",
            "RADDLE_LEAKS",
        ];
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
        let mut state = 1u64;
        let mut below = |bound: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        let (mut fine, mut refused) = (0, 0);
        for _ in 0..20_000 {
            let name = NAMES[below(NAMES.len())];
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
    fn what_is_no_text_is_refused() {
        use std::os::unix::ffi::OsStringExt as _;
        let broken = || std::ffi::OsString::from_vec(vec![b'1', 0xff]);
        for name in ["RADDLE_RUNS", "RADDLE_STRATEGY", "RADDLE_REPLAY", "RADDLE_PANICS"] {
            let lookup = |asked: &str| (asked == name).then(broken);
            let error = Environment::from(lookup).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("UTF-8"), "{error}");
        }
    }

    #[test]
    fn colours_can_be_refused() {
        let colour = |pairs: &[_]| read(pairs).unwrap().colour;
        assert_eq!(colour(&[("NO_COLOR", "0")]), Some(Show::Never));
        assert_eq!(colour(&[("NO_COLOR", "")]), None);
        assert_eq!(colour(&[("RADDLE_COLOR", "auto"), ("NO_COLOR", "1")]), None);
        assert_eq!(colour(&[("RADDLE_COLOR", "never")]), Some(Show::Never));
    }

    #[test]
    fn what_does_not_parse_says_what_would() {
        for (name, value, hint) in [
            ("RADDLE_MEMORY", "tso", "sc or rc11"),
            ("RADDLE_RUNS", "many", "10_000"),
            ("RADDLE_SEED", "-1", "10_000"),
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
    }
}
