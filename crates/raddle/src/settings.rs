//! The table of settings.
//!
//! Each setting is one row. The documentation of [`Config`](crate::Config) and of `#[raddle::test]` is
//! generated from the rows, the attribute and the environment accept what the rows say, and a test compares
//! the list in `docs/guide.md` with them. A new setting is a row here, and a field of `Config` with a method
//! of the same name.
//!
//! A row has these columns:
//! - `summary`: what the setting decides, for the documentation.
//! - `values`: what it can be set to. Words are listed as in `sync, racy or all`.
//! - `default`: its value in `Config::new()`.
//! - `example`: a value, as it is written in Rust.
//! - `attribute`: how `#[raddle::test(…)]` takes the value. An `expression` is passed to the method of
//!   `Config`. Otherwise the value can also be a text, which the function of this name in `parse.rs`
//!   converts to the given type at compile time. Without this column the attribute refuses the setting.
//! - `environment`: the variable, and the method of [`Given`] that reads its value. Without this column
//!   the setting has no variable.

mod error;
mod parse;
#[macro_use]
mod table;
mod words;

pub use error::SettingError;
pub(crate) use parse::Given;
pub(crate) use table::Variable;
pub use words::{Granularity, Panics, Sometimes};
pub(crate) use words::{Show, Word};

settings_table! { $
    strategy {
        summary: "how executions are chosen",
        values: "the word of a strategy",
        default: "auto",
        example: "pct:3",
        attribute: expression,
        environment: RADDLE_STRATEGY as strategy,
    }
    memory {
        summary: "which stores a load may read: the newest one, or every one that memory orderings allow",
        values: "sc or rc11",
        default: "sc",
        example: "rc11",
        attribute: word(crate::Memory),
        environment: RADDLE_MEMORY as word,
    }
    runs {
        summary: "the maximum number of executions",
        values: "a whole number",
        default: "10_000",
        example: 10_000,
        attribute: expression,
        environment: RADDLE_RUNS as number,
    }
    time {
        summary: "the maximum time of a check",
        values: "for example 500ms, 10s or 2m",
        default: "10s",
        example: "10s",
        attribute: time(std::time::Duration),
        environment: RADDLE_TIME as time,
    }
    total_time {
        summary: "the maximum time of all checks of a process; each takes at most a tenth of what is left",
        values: "for example 500ms, 10s or 2m",
        default: "none",
        example: "5m",
        environment: RADDLE_TOTAL_TIME as time,
    }
    seed {
        summary: "the seed of all random choices; `random` draws one and prints it",
        values: "a whole number; random in the environment",
        default: "0",
        example: 10_000,
        attribute: expression,
        environment: RADDLE_SEED as seed,
    }
    threads {
        summary: "the number of OS threads that search or sample",
        values: "a whole number",
        default: "1",
        example: 2,
        attribute: expression,
        environment: RADDLE_THREADS as number,
    }
    max_steps {
        summary: "the maximum number of steps of an execution",
        values: "a whole number",
        default: "1_000_000",
        example: 100_000,
        attribute: expression,
    }
    on_step_limit {
        summary: "whether an execution that exceeds `max_steps` fails or is discarded",
        values: "fail or discard",
        default: "fail",
        example: "discard",
        attribute: word(crate::OnStepLimit),
    }
    granularity {
        summary: "which accesses to cells are scheduling points: none, those that race, or all",
        values: "sync, racy or all",
        default: "sync",
        example: "all",
        attribute: word(crate::Granularity),
        environment: RADDLE_GRANULARITY as word,
    }
    races {
        summary: "whether a data race on a cell is a failure",
        values: "true or false",
        default: "true",
        example: false,
        attribute: expression,
    }
    read_twice {
        summary: "whether reading a lock twice at once is a failure, if another thread may wait to write it",
        values: "true or false",
        default: "true",
        example: false,
        attribute: expression,
    }
    keep_going {
        summary: "whether sampling continues after a failure and counts failures by cause",
        values: "true or false",
        default: "false",
        example: true,
        attribute: expression,
        environment: RADDLE_KEEP_GOING as switch,
    }
    panics {
        summary: "whether a panic of a spawned thread is a failure or the result of `join`",
        values: "fail or join",
        default: "fail",
        example: "join",
        attribute: word(crate::Panics),
        environment: RADDLE_PANICS as word,
    }
    spurious {
        summary: "how many spurious wake-ups and failures of weak exchanges each thread may have",
        values: "a whole number",
        default: "0",
        example: 1,
        attribute: expression,
        environment: RADDLE_SPURIOUS as number,
    }
    leaks {
        summary: "whether a thread that is blocked forever, or a lock that is never released, is reported",
        values: "ignore, note or fail",
        default: "note",
        example: "fail",
        attribute: word(crate::Leaks),
        environment: RADDLE_LEAKS as word,
    }
    sometimes {
        summary: "whether a condition of `raddle::sometimes!` that never held is noted or a failure",
        values: "note or fail",
        default: "note",
        example: "fail",
        attribute: word(crate::Sometimes),
        environment: RADDLE_SOMETIMES as word,
    }
    lock_order {
        summary: "whether executions that pass are searched for locks taken in different orders",
        values: "true or false",
        default: "true with `auto`, otherwise false",
        example: true,
        attribute: expression,
    }
    watchdog {
        summary: "how long a run may go without a scheduling point",
        values: "for example 500ms, 10s or off",
        default: "10s in `check`, otherwise off",
        example: "30s",
        attribute: time_or_off(Option<std::time::Duration>),
        environment: RADDLE_WATCHDOG as time_or_off,
    }
    stack_size {
        summary: "the size of each thread's stack in bytes",
        values: "a whole number",
        default: "262_144",
        example: 65_536,
        attribute: expression,
    }
    coverage {
        summary: "whether the report counts memory-access patterns, by source line or by event",
        values: "site or event",
        default: "off, except with `pcr` and `mcr`",
        example: "site",
        attribute: word(crate::Accesses),
    }
    ordered_polls {
        summary: "whether the order of polls of futures matters, because they may share what raddle does not see",
        values: "true or false",
        default: "true",
        example: false,
        attribute: expression,
    }
    hidden_state {
        summary: "whether a search repeats executions in equivalent orders before it claims anything",
        values: "true or false",
        default: "true",
        example: false,
        attribute: expression,
    }
    explain {
        summary: "how much is done to shrink a failure and find what causes it: nothing, 2,000 executions, or 100,000",
        values: "off, quick or full",
        default: "quick",
        example: "full",
        attribute: word(crate::Explain),
        environment: RADDLE_EXPLAIN as word,
    }
    explore_trivial {
        summary: "whether all runs are made although the program has only one execution",
        values: "true or false",
        default: "false",
        example: true,
    }
    name {
        summary: "the name of the check, which its replay tokens contain",
        values: "a text",
        default: "the name of the test",
        example: "queue",
        attribute: expression,
    }
    replay {
        summary: "the execution to replay instead of exploring",
        values: "the token of a report",
        default: "none",
        example: "r1-…",
        attribute: expression,
        environment: RADDLE_REPLAY as token,
    }
    remember {
        summary: "whether failing executions are kept in `target/raddle` and tried first next time",
        values: "true or false",
        default: "true in `#[raddle::test]`, otherwise false",
        example: false,
        attribute: expression,
        environment: RADDLE_REMEMBER as switch,
    }
    report {
        summary: "the folder to which every check writes its report as JSON and HTML",
        values: "a path",
        default: "none",
        example: "target/reports",
        environment: RADDLE_REPORT as path,
    }
    progress {
        summary: "whether a check shows its progress; `auto`: on a terminal, outside a test harness or for a single test (`--exact`)",
        values: "always, never or auto",
        default: "auto",
        example: "never",
        environment: RADDLE_PROGRESS as word,
    }
    color {
        summary: "whether reports are coloured; `auto`: on a terminal, unless `NO_COLOR` is set",
        values: "always, never or auto",
        default: "auto",
        example: "never",
        environment: RADDLE_COLOR as word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    /// The first cells of the rows of the documentation, which are the names of settings.
    fn names() -> Vec<&'static str> {
        let rows = settings_markdown!().lines().skip(2);
        rows.map(|row| row.split('`').nth(1).expect("a name")).collect()
    }

    #[test]
    fn every_setting_is_a_field_and_every_field_a_setting() {
        let config = format!("{:#?}", Config::new());
        let lines = config.lines().filter_map(|line| line.strip_prefix("    "));
        let fields = lines.filter(|line| line.starts_with(|letter: char| letter.is_alphabetic()));
        let mut fields: Vec<&str> = fields.filter_map(|line| line.split(':').next()).collect();
        // For the drop-ins only.
        fields.retain(|field| *field != "on_spawn");
        let mut names = names();
        fields.sort_unstable();
        names.sort_unstable();
        assert_eq!(fields, names);
    }

    #[test]
    fn variables_are_named_after_settings() {
        let expected = |name: &str| format!("RADDLE_{}", name.to_uppercase());
        let names: Vec<String> = names().into_iter().map(expected).collect();
        for variable in Variable::ALL {
            assert!(names.iter().any(|name| name == variable.name), "{}", variable.name);
        }
    }

    /// A default that can be written as a value is the one of `Config::new()`.
    #[test]
    fn defaults_are_as_documented() {
        let mut compared = 0;
        for row in settings_markdown!().lines().skip(2) {
            let cells: Vec<&str> =
                row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
            let variable = Variable::ALL.iter().find(|variable| variable.name == cells[5]);
            let Some(variable) = variable else { continue };
            if let Ok(config) = variable.apply(Config::new(), cells[4].as_ref()) {
                if cells[4] == "none" {
                    continue;
                }
                assert_eq!(format!("{config:?}"), format!("{:?}", Config::new()), "{row}");
                compared += 1;
            }
        }
        assert!(compared >= 12, "{compared}");
    }

    #[test]
    fn the_guide_lists_every_setting() {
        let guide = include_str!("../../../docs/guide.md");
        let table = settings_markdown!();
        assert!(guide.contains(table), "docs/guide.md must contain this table:\n{table}");
    }

    #[test]
    fn documents_name_variables_that_exist() {
        let documents = [
            include_str!("../../../README.md"),
            include_str!("../../../docs/guide.md"),
            include_str!("config.rs"),
            include_str!("lib.rs"),
        ];
        let is_name = |letter: char| letter == '_' || letter.is_ascii_uppercase();
        for word in documents.iter().flat_map(|text| text.split(|letter| !is_name(letter))) {
            let is_known = Variable::ALL.iter().any(|variable| variable.name == word);
            assert!(is_known || word == "RADDLE_" || !word.starts_with("RADDLE_"), "{word}");
        }
    }
}
