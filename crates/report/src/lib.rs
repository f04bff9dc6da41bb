//! Reports as text.
#![forbid(unsafe_code)]
use raddle_core::Report;
/// Text.
pub fn text(report: &Report) -> String {
    format!("{report:?}")
}
