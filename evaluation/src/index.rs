//! The index of `docs/results`: a row for each published table and figure of the five papers, with the verdict
//! that its table printed.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::tables::Name;
use crate::verdict::{Item, Judged, Verdict};

/// A row of the index.
struct Entry {
    item: Item,
    /// The table that measures it.
    table: Name,
    /// What is missing if the table prints no verdict.
    missing: &'static str,
    /// When the rule of the verdict was fixed.
    rule: Rule,
}

/// When the rule of a verdict was fixed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Before figures had been seen, by a theorem, an exact probability, or a tolerance that was not changed.
    Before,
    /// After first figures had been seen.
    After,
}

impl Rule {
    fn word(self) -> &'static str {
        match self {
            Rule::Before => "before",
            Rule::After => "after",
        }
    }
}

const fn item(paper: &'static str, name: &'static str, claim: &'static str) -> Item {
    Item { paper, name, claim }
}

pub(crate) const PCT_TABLE_2: Item =
    item("PCT", "Table 2", "operations k, and k_eff after optimisation");
pub(crate) const PCT_TABLE_3: Item =
    item("PCT", "Table 3", "PCT meets its bound; stress and random sleeps find less");
pub(crate) const PCT_FIRST_RUNS: Item =
    item("PCT", "§5.2.2", "PCT needs 6 and 35 runs where bounded search needs 200 and 1,000");
pub(crate) const PCT_FIG_9: Item =
    item("PCT", "Fig. 9", "hits rise with the threads, and do not depend on the items");
pub(crate) const PCT_FIG_10: Item = item("PCT", "Fig. 10", "PCT hits more often than stress");
pub(crate) const PCT_FIG_11: Item =
    item("PCT", "Fig. 11", "PCT covers all pairs of events, stress 20 %");
pub(crate) const POS_FIG_2: Item =
    item("POS", "Fig. 2", "1/128, 1/120, 1/48 and about 1/200 by RW, BasicPOS, POS, PCT");
pub(crate) const POS_TABLE_1: Item =
    item("POS", "Table 1", "POS is 7.0 times better than the others, 134.1 without its variants");
pub(crate) const POS_TABLE_2: Item =
    item("POS", "Table 2", "POS* is 1.4 times better than POS, 5.0 than the others, 226.4 than RW");
pub(crate) const POS_TABLE_3: Item =
    item("POS", "Table 3", "POS is 2.6 times better than PCT, 4.7 than RW, on SCTBench");
pub(crate) const BPOR_FIG_6: Item =
    item("BPOR", "Fig. 6", "DPOR covers all states sooner than bounded search without reduction");
pub(crate) const BPOR_FIG_7: Item =
    item("BPOR", "Fig. 7", "BPOR covers the states of bounded search in less time");
pub(crate) const BPOR_TABLE_1: Item = item(
    "BPOR",
    "Table 1",
    "bounds without reduction need longer than fair-bounded BPOR, that longer than both bounds",
);
pub(crate) const PCTWM_TABLE_1: Item = item("PCTWM", "Table 1", "events and communication events");
pub(crate) const PCTWM_TABLE_2: Item = item("PCTWM", "Table 2", "hit rates at d, d+1 and d+2");
pub(crate) const PCTWM_TABLE_3: Item =
    item("PCTWM", "Table 3", "hit rates at h 1 to 4, which change little");
pub(crate) const PCTWM_TABLE_4: Item = item("PCTWM", "Table 4", "costs up to 16 % over C11Tester");
pub(crate) const PCTWM_FIG_5: Item = item("PCTWM", "Fig. 5", "PCTWM finds more than C11Tester");
pub(crate) const PCTWM_FIG_6: Item =
    item("PCTWM", "Fig. 6", "more relaxed stores do not change the rates of PCTWM");
pub(crate) const PCR_TABLE_4: Item =
    item("PCR", "Table 4", "fewer schedules than MAPTest on 18 of 20 classes, 4.07 on average");
pub(crate) const PCR_TABLE_5: Item =
    item("PCR", "Table 5", "more failing traces than MAPTest in 10 s on 18 of 20 classes");
pub(crate) const PCR_TABLE_6: Item =
    item("PCR", "Table 6", "fewer schedules than MCR on 9, fewer constraints on 10 of 20 classes");
pub(crate) const PCR_FIG_6: Item =
    item("PCR", "Fig. 6", "PCR covers patterns sooner than MAPTest, and more of them");

const ENTRIES: &[Entry] = &[
    entry(PCT_TABLE_2, Name::Pct3, "k_eff", Rule::Before),
    entry(PCT_TABLE_3, Name::Pct3, "stress and random sleeps, measured", Rule::After),
    entry(PCT_FIRST_RUNS, Name::Pct3, "the runs of bounded search", Rule::After),
    entry(PCT_FIG_9, Name::PctFig9, "why hits fall with the items", Rule::After),
    entry(PCT_FIG_10, Name::PctFig10, "a verdict", Rule::After),
    entry(PCT_FIG_11, Name::PctFig11, "stress, and why PCT covers less here", Rule::After),
    entry(POS_FIG_2, Name::PosFig2, "a verdict", Rule::Before),
    entry(POS_TABLE_1, Name::Pos1, "a verdict", Rule::After),
    entry(POS_TABLE_2, Name::Pos2, "a verdict", Rule::After),
    entry(POS_TABLE_3, Name::Pos3, "12 of 32 rows on the original programs", Rule::After),
    entry(BPOR_FIG_6, Name::Bpor, "a verdict", Rule::After),
    entry(BPOR_FIG_7, Name::Bpor, "a verdict", Rule::Before),
    entry(
        BPOR_TABLE_1,
        Name::Bpor1,
        "why fair-bounded BPOR is slower than both bounds alone",
        Rule::After,
    ),
    entry(PCTWM_TABLE_1, Name::Pctwm1, "a verdict", Rule::After),
    entry(PCTWM_TABLE_2, Name::Pctwm2, "rates with fixed sinks", Rule::After),
    entry(PCTWM_TABLE_3, Name::Pctwm3, "rates with fixed sinks", Rule::After),
    entry(
        PCTWM_TABLE_4,
        Name::Rc11Cost,
        "the cost of `pctwm` beside that of `random`",
        Rule::After,
    ),
    entry(PCTWM_FIG_5, Name::PctwmFig5, "a verdict", Rule::After),
    entry(PCTWM_FIG_6, Name::PctwmFig6, "a verdict", Rule::After),
    entry(PCR_TABLE_4, Name::Pcr4, "MAPTest's time and speed-up, and p-values", Rule::After),
    entry(PCR_TABLE_5, Name::Pcr5, "why PCR has nothing left to try", Rule::After),
    entry(PCR_TABLE_6, Name::Pcr6, "a verdict", Rule::After),
    entry(PCR_FIG_6, Name::PcrFig6, "a verdict", Rule::After),
];

const fn entry(item: Item, table: Name, missing: &'static str, rule: Rule) -> Entry {
    Entry { item, table, missing, rule }
}

const HEAD: &str = "\
# The papers' results

One row for each published table and figure with measurements, of the five papers that raddle implements.
*Reproduced*: our figures agree with the paper's, within the tolerance that the table states. *Explained*: they
differ, and an experiment in the table shows the cause. *Refuted*: the claim does not hold, as an experiment in
the table shows. *Open*: something is missing. The table programs compute the verdicts from their own figures and
print them as lines `verdict on …`; this page collects the lines (`-- index`) and is not edited by hand.

The tolerances are ours. The column *rule* says when the rule of a verdict was fixed: *before* figures had been seen (the
exact probabilities of POS Fig. 2; the theorem behind BPOR Fig. 7; PCT Table 2's 15 %, which the first programs missed and
others, made to divide their operations as the paper's k and k_eff ask, did not), or *after* first figures had been seen. Of the latter:

- PCT Table 3: the bound and its 3.09 standard errors are the theorem's; what is said of stress and sleeps was written with the figures.
- PCT §5.2.2, Figs 9 to 11, POS Tables 1 and 2, BPOR Fig. 6, PCR Tables 4 and 6 and Fig. 6, PCTWM Fig. 6: an order, or a factor (POS
  1.5 and 3), chosen with first figures in view. Figures measured later were judged by the same rule.
- POS Table 3: 4 standard errors were set first and not changed. The rule by which a row is explained (rates of the original
  between those with other points, or with another way of repeating) was set with the figures in view. Once the figures had been measured,
  it was made stricter (an original agrees only if all its columns were measured), and the line was written anew from them.
- BPOR Table 1, PCR Table 5: the experiments were chosen to find the cause; their rules were written with their first figures in view.
- PCTWM Table 2: changed after two others had left the row open, while more tuples of sinks were tried (150, 600, then 1,000). Its firm
  evidence is the authors' tool with sinks redrawn, whose figures are constants in the program. PCTWM Table 3: the fourth rule; the
  three before it left the row open, and the figures were measured anew under it. PCTWM Table 4: 1.2 was set after a first measurement; the applications were written after that.
- PCTWM Table 1: 7 of 9 programs within the range of executions was fixed before the range was measured. 5 were, and 6 when
  executions in which a thread that waits reads once had been added to the range, so the row is open.

Where a table shows original programs (SCTBench's in pos-3 and pct-3), their figures are constants in the table's program,
measured once with the public sources; nothing of the sources is kept here.

Tables with only descriptions or definitions, and figures that illustrate an algorithm or an example, have no row:
PCT Table 1, Figs 1 to 8 (the bugs of Figs 1 to 5 are rows of [pct-3](pct-3.txt)); POS Figs 1, 3, 4; BPOR Figs 1
to 5; PCTWM Figs 1 to 4; PCR Tables 1 to 3, Figs 1 to 5.

A table NAME is measured by

```sh
cargo run --release --manifest-path evaluation/Cargo.toml -- table NAME
```

and all of them, with this page, by `-- all`, which resumes after an interruption.

";

/// Writes the index of the tables in `folder`.
pub(crate) fn write(folder: &Path) -> Result<(), String> {
    let path = folder.join("README.md");
    let failed = |error| format!("cannot write {}: {error}", path.display());
    fs::write(&path, render(folder)).map_err(failed)
}

fn render(folder: &Path) -> String {
    let mut text = HEAD.to_owned();
    text.push_str("| paper | claim | verdict | here | rule | table |\n| --- | --- | --- | --- | --- | --- |\n");
    let mut counts = Verdict::ALL.map(|verdict| (verdict, 0));
    for Entry { item, table, missing, rule } in ENTRIES {
        let word = table.word();
        let file = fs::read_to_string(folder.join(format!("{word}.txt"))).unwrap_or_default();
        let judged = Judged::find(*item, &file).unwrap_or_else(|| Judged {
            item: *item,
            verdict: Verdict::Open,
            reason: format!("missing: {missing}"),
        });
        for (verdict, count) in &mut counts {
            *count += u32::from(*verdict == judged.verdict);
        }
        let Item { paper, name, claim } = item;
        let (verdict, reason, rule) = (judged.verdict.word(), &judged.reason, rule.word());
        let _ = writeln!(
            text,
            "| {paper} {name} | {claim} | *{verdict}* | {reason} | {rule} | [{word}]({word}.txt) |"
        );
    }
    let counts = counts.map(|(verdict, count)| format!("{count} {}", verdict.word())).join(", ");
    let _ = writeln!(text, "\n{} rows: {counts}.", ENTRIES.len());
    let (known, seconds) = crate::all::taken(folder);
    let _ = writeln!(
        text,
        "\nThe {known} tables of the folder that say how long they took, took {:.0} minutes of CPU time.",
        seconds / 60.0
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The committed page is the one that the committed tables give.
    #[test]
    fn the_index_agrees_with_the_tables() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results");
        let committed = fs::read_to_string(folder.join("README.md")).unwrap();
        assert!(committed == render(&folder), "run `-- index`");
    }

    #[test]
    fn no_item_has_two_rows() {
        for (place, entry) in ENTRIES.iter().enumerate() {
            assert!(!ENTRIES[..place].iter().any(|other| other.item == entry.item));
        }
    }
}
