//! The running example of the POS paper (Fig. 2), where every probability is known.

use raddle_programs::{Form, find};

use crate::index;
use crate::methods::Method;
use crate::parallel::each;
use crate::sample::{Subject, Until};
use crate::statistics::one_sample;
use crate::table::{Cell, Row, Size, Table};
use crate::verdict::{Judged, Verdict};

/// Methods, and the probability that the one failing order is taken.
const EXACT: [(&str, Method, Option<f64>); 9] = [
    ("RW", Method::MapleWalk, Some(1.0 / 128.0)),
    ("BasicPOS", Method::BasicPos, Some(1.0 / 120.0)),
    ("POS", Method::Pos, Some(1.0 / 48.0)),
    ("POS*", Method::PosStar, None),
    ("PCT-3", Method::MaplePct(3), None),
    ("rapos", Method::Rapos, None),
    ("urw", Method::Urw, None),
    ("surw", Method::Surw, None),
    ("pct:3", Method::Pct(3), None),
];

/// What the paper says of PCT, an estimate.
const PCT: f64 = 1.0 / 200.0;

/// Measures the whole table.
pub(crate) fn table(size: Size, command: String) -> Result<Table, String> {
    let runs = match size {
        Size::Full => 1_000_000,
        Size::Quick => 100_000,
    };
    let program = find("pos-fig2")?;
    let subject = Subject { program, form: Form::Bugged, size: program.size.usual };
    let rows = each(
        &EXACT,
        |(name, ..)| (*name).to_owned(),
        |&(name, method, exact)| {
            let sample = method.sample(subject, [2, 10], runs, 1, Until::AllRuns);
            let mut hits = Cell::tiny(sample.ratio());
            let mut distance = Cell::default();
            if let Some(exact) = exact {
                hits.paper = Some(exact);
                let z = one_sample(sample.ratio(), runs, exact);
                distance = Cell { ok: Some(z.abs() <= 4.0), ..Cell::value(z, "standard errors") };
            } else if method == Method::MaplePct(3) {
                hits.paper = Some(PCT);
            }
            let one_in = Cell::value(1.0 / sample.ratio(), "runs for a hit");
            let cells = vec![("hits", hits), ("one_in", one_in), ("distance", distance)];
            Ok(Row { name: name.to_owned(), cells })
        },
    )?;
    let legend = vec![
        format!(
            "{runs} runs each; paper: 1/128, 1/120 and 1/48 are exact, 1/200 for PCT is an estimate"
        ),
        "met: within 4 standard errors".to_owned(),
    ];
    let verdicts = Vec::new();
    let mut table = Table { name: "pos-fig2", size, command, rows, legend, verdicts };
    table.verdicts.push(verdict(&table));
    Ok(table)
}

fn verdict(table: &Table) -> Judged {
    let one_in = |row: &str| table.figure(row, "one_in").unwrap_or(f64::NAN);
    let reason = format!(
        "1/{:.0}, 1/{:.0} and 1/{:.0} by RW, BasicPOS and POS, each within 4 standard errors; PCT-3 1/{:.0}",
        one_in("RW"),
        one_in("BasicPOS"),
        one_in("POS"),
        one_in("PCT-3"),
    );
    let is_near = (150.0..=250.0).contains(&one_in("PCT-3"));
    let holds = table.missed().is_empty() && is_near;
    Judged::new(index::POS_FIG_2, Verdict::Reproduced, holds, reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_the_exact_ones() {
        let program = find("pos-fig2").unwrap();
        let subject = Subject { program, form: Form::Bugged, size: 1 };
        for (name, method, exact) in EXACT {
            let runs = raddle_testkit::scaled(20_000);
            let Some(exact) = exact else { continue };
            let sample = method.sample(subject, [2, 10], runs, 7, Until::AllRuns);
            let z = one_sample(sample.ratio(), runs, exact);
            assert!(z.abs() < 5.0, "{name}: {} of {runs}, {z:.1}", sample.hits);
        }
    }
}
