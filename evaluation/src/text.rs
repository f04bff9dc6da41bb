//! Tables as aligned text.

use std::fmt::Write;

use crate::table::{Cell, Extent, Kind, Row, Table, Target};

/// A block for each run of rows with the same cells, then the legend and the summary.
pub(crate) fn render(table: &Table) -> String {
    let mut text = format!("{} ({})\n", table.name, table.size.word());
    let names = |row: &Row| row.cells.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    for rows in table.rows.chunk_by(|left, right| names(left) == names(right)) {
        let _ = write!(text, "\n{}", block(rows));
    }
    text.push('\n');
    for line in &table.legend {
        let _ = writeln!(text, "{line}");
    }
    if !table.verdicts.is_empty() {
        text.push('\n');
    }
    for judged in &table.verdicts {
        let _ = writeln!(text, "{}", judged.line());
    }
    let missed = table.missed();
    let met = table.asked() - missed.len();
    let _ = write!(text, "\ntargets: {met} met, {} missed", missed.len());
    if !missed.is_empty() {
        let _ = write!(text, " ({})", missed.join(", "));
    }
    text.push('\n');
    text
}

/// Rows with the same cell names, under two lines of headings: the cells' names, then the units.
fn block(rows: &[Row]) -> String {
    let mut columns = vec![column("", "", rows.iter().map(|row| row.name.clone()))];
    for (index, (name, _)) in rows[0].cells.iter().enumerate() {
        let cells: Vec<_> = rows.iter().map(|row| &row.cells[index].1).collect();
        let unit = cells.iter().find_map(|cell| cell.unit).unwrap_or("");
        columns.push(column(name, unit, cells.iter().map(|cell| figure(cell))));
        // A heading of its own for what only some tables' cells have.
        let mut optional = |heading: &str, text: fn(&Cell) -> Option<String>| {
            if cells.iter().any(|cell| text(cell).is_some()) {
                let texts = cells.iter().map(|cell| text(cell).unwrap_or_default());
                columns.push(column("", heading, texts));
            }
        };
        optional("per second", |cell| cell.per_second.map(number));
        optional("middle half", |cell| {
            cell.middle_half.map(|[low, high]| format!("{}–{}", number(low), number(high)))
        });
        optional("paper", |cell| cell.paper.map(|paper| of_kind(paper, cell.kind)));
        optional("target", |cell| cell.target.map(|target| asked(target, cell.kind)));
        optional("met", |cell| cell.ok.map(|ok| if ok { "yes" } else { "NO" }.to_owned()));
    }
    align(&columns)
}

fn column(name: &str, unit: &str, texts: impl Iterator<Item = String>) -> Vec<String> {
    [name.to_owned(), unit.to_owned()].into_iter().chain(texts).collect()
}

/// Columns side by side: the first to the left, the others to the right.
fn align(columns: &[Vec<String>]) -> String {
    let width = |column: &Vec<String>| column.iter().map(|text| text.chars().count()).max();
    let widths: Vec<_> = columns.iter().map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for line in 0..columns[0].len() {
        let mut row = format!("{:<1$}", columns[0][line], widths[0]);
        for (column, width) in columns.iter().zip(&widths).skip(1) {
            let _ = write!(row, "  {:>1$}", column[line], width);
        }
        let _ = writeln!(text, "{}", row.trim_end());
    }
    text
}

fn figure(cell: &Cell) -> String {
    match (cell.value, &cell.note) {
        (Some(value), _) => {
            let figure = of_kind(value, cell.kind);
            match cell.extent {
                Extent::Whole => figure,
                Extent::Unfinished => format!("> {figure}"),
            }
        }
        (None, Some(note)) => note.clone(),
        (None, None) => String::new(),
    }
}

fn of_kind(value: f64, kind: Kind) -> String {
    match kind {
        Kind::Count => grouped(value),
        Kind::Measure => number(value),
        Kind::Ratio => format!("{value:.4}"),
        Kind::Tiny => format!("{value:.2e}"),
    }
}

fn asked(target: Target, kind: Kind) -> String {
    let sign = match target {
        Target::AtLeast(_) => "≥",
        Target::AtMost(_) => "≤",
        Target::Exactly(_) => "=",
    };
    // Bounds are as written in the source: no digits behind a point that the source has not.
    let bound = target.bound();
    let bound = match kind {
        Kind::Measure | Kind::Count if bound.fract() == 0.0 => grouped(bound),
        Kind::Measure | Kind::Count => number(bound),
        Kind::Ratio | Kind::Tiny => of_kind(bound, kind),
    };
    format!("{sign} {bound}")
}

/// About three digits at least, and thousands grouped.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => grouped(value),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 || size == 0.0 => format!("{value:.2}"),
        // Two digits that are not zero.
        size => format!("{value:.0$}", 1 + (-size.log10().floor()).min(8.0) as usize),
    }
}

/// A whole number with its thousands grouped.
pub(crate) fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::from(if value < 0.0 { "-" } else { "" });
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{number, render};
    use crate::table::tests::made_up;

    #[test]
    fn small_figures_keep_two_digits() {
        let texts = [0.0, 0.12, 0.0123, 0.000_456, 1.0, -0.05].map(number);
        assert_eq!(texts, ["0.00", "0.12", "0.012", "0.00046", "1.00", "-0.050"]);
    }

    #[test]
    fn text_is_aligned() {
        let expected = "\
made-up (quick)

                raddle              ratio                                     loom              loom_ratio
          ns/execution  per second      ×  middle half  target  met   ns/execution  per second           ×
random a           312   3,200,000   12.3    11.3–13.3    ≥ 10  yes         36,000      27,778         115
random c          31.2  32,000,000   9.99    8.99–11.0    ≥ 10   NO  max 5 threads

       growth
          KiB   target  met
rss b   -4.00  ≤ 1,024  yes

a: something

targets: 2 met, 1 missed (random c: ratio)
";
        assert_eq!(render(&made_up()), expected);
    }
}
