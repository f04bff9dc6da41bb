//! Colours for a terminal.

use raddle_core::ThreadId;

/// Whether a text has colours.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Paint {
    /// There are none.
    Plain,
    /// As a terminal shows them.
    Colours,
}

/// What a text is, which decides how it looks.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Look {
    /// Something is wrong.
    Bad,
    /// Nothing is.
    Good,
    /// It is to be found at once.
    Strong,
    /// It can be passed over.
    Faint,
    /// What a thread does.
    Thread(ThreadId),
}

impl Paint {
    pub(crate) fn paint(self, look: Look, text: &str) -> String {
        if self == Paint::Plain || text.is_empty() {
            return text.into();
        }
        // The eight colours that every terminal has, in the shade it was set up with; red is kept for
        // what is wrong.
        const THREADS: [&str; 5] = ["36", "33", "35", "34", "32"];
        let code = match look {
            Look::Bad => "1;31",
            Look::Good => "1;32",
            Look::Strong => "1",
            Look::Faint => "2",
            Look::Thread(thread) => THREADS[thread.index() % THREADS.len()],
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
