//! What is under way, on a terminal.

use std::io::{IsTerminal, Write};

/// Says on a terminal what is under way, in one line that the next one overwrites.
pub(crate) fn progress(what: &str) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        // Nothing is lost with a line of progress.
        let _ = write!(terminal, "\r\x1b[K{what}");
        let _ = terminal.flush();
    }
}
