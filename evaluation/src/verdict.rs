//! Verdicts on published tables, figures and statements.
//!
//! A table program computes its verdicts from its own figures and prints them below the table, one line each.
//! The index ([`crate::index`]) collects the lines.

/// A published table, figure or statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Item {
    pub(crate) paper: &'static str,
    /// Its number, for example `Table 3`.
    pub(crate) name: &'static str,
    /// What it claims.
    pub(crate) claim: &'static str,
}

/// How a published result ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// The figures agree, within a stated tolerance.
    Reproduced,
    /// The figures differ, and an experiment shows the cause.
    Explained,
    /// The claim does not hold, as an experiment shows.
    Refuted,
    /// Something is missing.
    Open,
}

impl Verdict {
    pub(crate) const ALL: [Verdict; 4] =
        [Verdict::Reproduced, Verdict::Explained, Verdict::Refuted, Verdict::Open];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Explained => "explained",
            Verdict::Refuted => "refuted",
            Verdict::Open => "open",
        }
    }
}

/// A verdict on an item, with the figures that it rests on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Judged {
    pub(crate) item: Item,
    pub(crate) verdict: Verdict,
    /// Our figure against the paper's, in one line.
    pub(crate) reason: String,
}

impl Judged {
    /// Returns `verdict` if `holds`, and [`Verdict::Open`] if the figures do not support it.
    pub(crate) fn new(item: Item, verdict: Verdict, holds: bool, reason: String) -> Judged {
        Judged { item, verdict: if holds { verdict } else { Verdict::Open }, reason }
    }

    /// Returns the line below the table.
    pub(crate) fn line(&self) -> String {
        let Judged { item, verdict, reason } = self;
        format!("{}: {}: {reason}", prefix(*item), verdict.word())
    }

    /// Reads the verdict on `item` from a printed table. Returns `None` if there is none.
    pub(crate) fn find(item: Item, text: &str) -> Option<Judged> {
        let start = prefix(item);
        let rest = text.lines().find_map(|line| line.strip_prefix(&start)?.strip_prefix(": "))?;
        let (word, reason) = rest.split_once(": ")?;
        let verdict = Verdict::ALL.into_iter().find(|verdict| verdict.word() == word)?;
        Some(Judged { item, verdict, reason: reason.to_owned() })
    }
}

fn prefix(item: Item) -> String {
    format!("verdict on {}, {}", item.paper, item.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_verdict_is_read_again() {
        let item = |name| Item { paper: "POS", name, claim: "something" };
        let reason = "0.5: as in the paper".to_owned();
        let judged = Judged::new(item("Table 1"), Verdict::Reproduced, true, reason);
        let text = format!("a table\n\n{}\nmore\n", judged.line());
        assert_eq!(Judged::find(item("Table 1"), &text), Some(judged));
        assert_eq!(Judged::find(item("Table 2"), &text), None);
        assert_eq!(Judged::find(item("Table"), &text), None);
    }

    #[test]
    fn a_verdict_that_the_figures_do_not_support_is_open() {
        let item = Item { paper: "POS", name: "Table 1", claim: "something" };
        let judged = Judged::new(item, Verdict::Reproduced, false, String::new());
        assert_eq!(judged.verdict, Verdict::Open);
    }
}
