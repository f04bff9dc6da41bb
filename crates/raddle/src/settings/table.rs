//! The macro that turns the rows of the table of settings into code and documentation.

use std::ffi::OsStr;

use super::{Given, SettingError};
use crate::Config;

/// An environment variable that changes a setting.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    /// The possible values.
    pub(crate) values: &'static str,
    /// One value.
    pub(crate) example: &'static str,
    /// Changes the setting in a configuration.
    pub(super) set: fn(Config, Given<'_>) -> Result<Config, SettingError>,
}

impl Variable {
    /// Changes the setting in `config` to `value`.
    pub(crate) fn apply(&self, config: Config, value: &OsStr) -> Result<Config, SettingError> {
        (self.set)(config, Given { variable: self, value })
    }
}

/// Turns the rows of `settings.rs`, which explains the columns, into
/// - `Variable::ALL`,
/// - `text::NAME`, which converts the text of a setting at compile time,
/// - `__settings!`, which gives `#[raddle::test]` the settings that it accepts, and
/// - `settings_markdown!`, the documentation.
///
/// The first token is `$`, which the macros that are defined here need for their own parameters.
macro_rules! settings_table {
    ($dollar:tt $($name:ident {
        summary: $summary:literal,
        values: $values:literal,
        default: $default:literal,
        example: $example:tt,
        $(attribute: $parser:ident $(($type:ty))?,)?
        $(environment: $variable:ident as $reader:ident,)?
    })*) => {
        impl Variable {
            /// Every variable, in the order of the table.
            pub(crate) const ALL: &'static [Variable] = &[$($(Variable {
                name: stringify!($variable),
                values: $values,
                example: stringify!($example),
                set: |config, given| Ok(config.$name(given.$reader()?)),
            },)?)*];
        }

        /// For each setting that `#[raddle::test]` accepts as text, its type and its conversion.
        pub mod text {
            $($($(
                /// One setting.
                pub mod $name {
                    /// The type of the setting.
                    pub type Value = $type;

                    /// Converts the text. A text that is not valid is a panic, at compile time.
                    pub const fn parse(text: &str) -> Value {
                        match settings_table!(@parse $parser($type), text) {
                            Some(value) => value,
                            None => panic!(settings_table!(@refusal $parser, $values)),
                        }
                    }
                }
            )?)?)*
        }

        /// Passes the settings that `#[raddle::test]` accepts, and then its input, to `expand`.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! __settings {
            ($dollar($dollar input:tt)*) => {
                $crate::__test::expand! {
                    [$($($name = $example as $parser,)?)*] $dollar($dollar input)*
                }
            };
        }

        /// The table in the documentation of `Config` and in `docs/guide.md`.
        macro_rules! settings_markdown {
            () => {
                concat!(
                    "| setting | what it decides | values | default | environment |\n",
                    "| --- | --- | --- | --- | --- |\n",
                    $(
                        "| `", stringify!($name), "` | ", $summary, " | ", $values, " | ", $default,
                        " | ", $("`", stringify!($variable), "`",)? " |\n",
                    )*
                )
            };
        }

        pub(crate) use settings_markdown;
    };

    (@parse word($type:ty), $text:ident) => {
        $crate::settings::parse::word(<$type as $crate::settings::Word>::WORDS, $text)
    };
    (@parse $parser:ident($type:ty), $text:ident) => { $crate::settings::parse::$parser($text) };

    (@refusal word, $values:literal) => { concat!("this is not known; say ", $values) };
    (@refusal $time:ident, $values:literal) => { concat!("this is not a time; say ", $values) };
}
