//! Colours for a terminal.

/// Whether a text has colours.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Paint {
    /// No colours.
    Plain,
    /// The colours of a terminal.
    Colours,
}

/// The meaning of a text, which decides its look.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Look {
    /// Something is wrong.
    Bad,
    /// Nothing is wrong.
    Good,
    /// Important.
    Strong,
    /// Unimportant.
    Faint,
    /// What a thread does.
    Thread(u32),
}

impl Paint {
    pub(crate) fn paint(self, look: Look, text: &str) -> String {
        if self == Paint::Plain || text.is_empty() {
            return text.into();
        }
        // Colours that every terminal has; red is reserved for failures.
        const THREADS: [&str; 5] = ["36", "33", "35", "34", "32"];
        let code = match look {
            Look::Bad => "1;31",
            Look::Good => "1;32",
            Look::Strong => "1",
            Look::Faint => "2",
            Look::Thread(thread) => THREADS[thread as usize % THREADS.len()],
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
