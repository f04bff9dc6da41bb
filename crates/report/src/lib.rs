//! Reports as text, as JSON and as a page for a browser.
//!
//! A [`Report`](raddle_results::Report) becomes a [`Document`](raddle_results::document::Document), which adds
//! what analyses say about the failing execution and gives operations in words. Text, JSON and page are pure
//! functions of the document. The modules depend on one another in one direction: `document` makes it;
//! `words` turns it into sentences; `text` and `html` lay these out.
#![forbid(unsafe_code)]

mod document;
mod fold;
mod frames;
mod html;
mod number;
mod paint;
mod phrase;
mod progress;
mod source;
mod text;
mod words;

pub use document::{document, json};
pub use html::{html, index};
pub use paint::Paint;
pub use progress::progress;
pub use source::Source;
pub use text::{text, text_with};
