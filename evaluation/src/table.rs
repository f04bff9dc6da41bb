//! Tables: rows of named cells, and their JSON, which has one shape for all tables; `text` prints them
//! for people.

use serde_json::{Map, Value, json};

use crate::verdict::Judged;

/// A finished table.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) size: Size,
    /// The command that makes this table.
    pub(crate) command: String,
    pub(crate) rows: Vec<Row>,
    /// What the rows mean; printed below the text, for people.
    pub(crate) legend: Vec<String>,
    /// What its figures say of published results.
    pub(crate) verdicts: Vec<Judged>,
}

/// How much was measured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Size {
    Full,
    Quick,
}

impl Size {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Size::Full => "full",
            Size::Quick => "quick",
        }
    }
}

/// A row: its name and its cells by name.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) cells: Vec<(&'static str, Cell)>,
}

/// A figure, or the note why there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    pub(crate) value: Option<f64>,
    pub(crate) kind: Kind,
    /// Whether the figure is only what it came to before the time was up.
    pub(crate) extent: Extent,
    pub(crate) unit: Option<&'static str>,
    /// The same figure as executions per second.
    pub(crate) per_second: Option<f64>,
    /// The bounds of the middle half of what was measured.
    pub(crate) middle_half: Option<[f64; 2]>,
    /// The published figure.
    pub(crate) paper: Option<f64>,
    pub(crate) target: Option<Target>,
    /// Whether what is asked of this cell holds.
    pub(crate) ok: Option<bool>,
    pub(crate) note: Option<String>,
}

/// What a figure is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Measure,
    /// A whole number.
    Count,
    /// A share of all, to four digits behind the point.
    Ratio,
    /// A probability of any size, by its power of ten.
    Tiny,
}

/// Whether a figure is all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Extent {
    #[default]
    Whole,
    /// More than this: the time was up.
    Unfinished,
}

/// What is asked of a figure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    AtLeast(f64),
    AtMost(f64),
    Exactly(f64),
}

impl Target {
    fn met(self, value: f64) -> bool {
        match self {
            Target::AtLeast(bound) => value >= bound,
            Target::AtMost(bound) => value <= bound,
            Target::Exactly(bound) => value == bound,
        }
    }

    pub(crate) fn bound(self) -> f64 {
        match self {
            Target::AtLeast(bound) | Target::AtMost(bound) | Target::Exactly(bound) => bound,
        }
    }
}

impl Cell {
    /// A figure without a target.
    pub(crate) fn value(value: f64, unit: &'static str) -> Cell {
        Cell { value: Some(value), unit: Some(unit), ..Cell::default() }
    }

    /// A number of things, such as runs.
    pub(crate) fn count(value: u64, unit: &'static str) -> Cell {
        Cell { kind: Kind::Count, ..Cell::value(value as f64, unit) }
    }

    /// A share of all.
    pub(crate) fn ratio(value: f64) -> Cell {
        Cell { value: Some(value), kind: Kind::Ratio, ..Cell::default() }
    }

    /// A probability that may be tiny.
    pub(crate) fn tiny(value: f64) -> Cell {
        Cell { kind: Kind::Tiny, ..Cell::ratio(value) }
    }

    /// A figure that would be larger, had there been more time.
    pub(crate) fn unfinished(self) -> Cell {
        Cell { extent: Extent::Unfinished, ..self }
    }

    /// No figure, and why.
    pub(crate) fn note(note: impl Into<String>) -> Cell {
        Cell { note: Some(note.into()), ..Cell::default() }
    }

    /// Asks something of the figure.
    pub(crate) fn target(self, target: Target) -> Cell {
        let ok = self.value.is_some_and(|value| target.met(value));
        Cell { target: Some(target), ok: Some(ok), ..self }
    }

    /// A cell that only keeps the text's columns in step.
    fn is_empty(&self) -> bool {
        self.value.is_none() && self.note.is_none()
    }

    fn to_json(&self) -> Value {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value);
            }
        };
        let rounded = match self.kind {
            Kind::Tiny => significant,
            Kind::Measure | Kind::Count | Kind::Ratio => rounded,
        };
        put("value", self.value.map(rounded));
        put("unfinished", (self.extent == Extent::Unfinished).then(|| Value::from(true)));
        put("unit", self.unit.map(Value::from));
        put("per_second", self.per_second.map(rounded));
        put("middle_half", self.middle_half.map(|bounds| bounds.map(rounded).to_vec().into()));
        put("paper", self.paper.map(rounded));
        put("target", self.target.map(|target| rounded(target.bound())));
        put("ok", self.ok.map(Value::from));
        put("note", self.note.as_deref().map(Value::from));
        Value::Object(fields)
    }
}

impl Table {
    /// The shape that all tables share.
    pub(crate) fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            let told = row.cells.iter().filter(|(_, cell)| !cell.is_empty());
            let cells = told.map(|(name, cell)| ((*name).to_owned(), cell.to_json()));
            json!({ "name": row.name, "cells": Value::Object(cells.collect()) })
        });
        let missed = self.missed();
        json!({
            "table": self.name,
            "size": self.size.word(),
            "command": self.command,
            "rows": rows.collect::<Vec<_>>(),
            "verdicts": self.verdicts.iter().map(Judged::line).collect::<Vec<_>>(),
            "summary": { "met": self.asked() - missed.len(), "missed": missed.len(), "missed_cells": missed },
        })
    }

    /// The figure of a cell. `None` if there is no such cell, or no figure in it.
    pub(crate) fn figure(&self, row: &str, cell: &str) -> Option<f64> {
        let found = self.cells().find(|(other, name, _)| (*other, *name) == (row, cell));
        found?.2.value
    }

    /// How many cells have something asked of them.
    pub(crate) fn asked(&self) -> usize {
        self.cells().filter(|(_, _, cell)| cell.ok.is_some()).count()
    }

    /// The cells that do not do what is asked, as `row: cell`.
    pub(crate) fn missed(&self) -> Vec<String> {
        let missed = self.cells().filter(|(_, _, cell)| cell.ok == Some(false));
        missed.map(|(row, name, _)| format!("{row}: {name}")).collect()
    }

    fn cells(&self) -> impl Iterator<Item = (&str, &str, &Cell)> {
        self.rows
            .iter()
            .flat_map(|row| row.cells.iter().map(|(name, cell)| (row.name.as_str(), *name, cell)))
    }
}

/// For JSON: whole numbers as such, others to a thousandth, or a millionth below one, beyond which every
/// figure is noise.
fn rounded(value: f64) -> Value {
    let steps = if value.abs() < 1.0 { 1e6 } else { 1e3 };
    let rounded = (value * steps).round() / steps;
    if rounded.fract() == 0.0 { json!(rounded as i64) } else { json!(rounded) }
}

/// For JSON: four digits that count.
fn significant(value: f64) -> Value {
    json!(format!("{value:.3e}").parse::<f64>().unwrap_or(value))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn made_up() -> Table {
        let speed = |value: f64| Cell {
            per_second: Some(1e9 / value),
            ..Cell::value(value, "ns/execution")
        };
        let ratio = |value| Cell {
            middle_half: Some([value - 1.0, value + 1.0]),
            ..Cell::value(value, "×").target(Target::AtLeast(10.0))
        };
        let row = |name: &str, cells| Row { name: name.to_owned(), cells };
        Table {
            name: "made-up",
            size: Size::Quick,
            command: "raddle-evaluation table made-up".to_owned(),
            rows: vec![
                row(
                    "random a",
                    vec![
                        ("raddle", speed(312.5)),
                        ("ratio", ratio(12.34)),
                        ("loom", speed(36_000.25)),
                        ("loom_ratio", Cell::value(115.2, "×")),
                    ],
                ),
                row(
                    "random c",
                    vec![
                        ("raddle", speed(31.25)),
                        ("ratio", ratio(9.99)),
                        ("loom", Cell::note("max 5 threads")),
                        ("loom_ratio", Cell::default()),
                    ],
                ),
                row(
                    "rss b",
                    vec![("growth", Cell::value(-4.0, "KiB").target(Target::AtMost(1024.0)))],
                ),
            ],
            legend: vec!["a: something".to_owned()],
            verdicts: Vec::new(),
        }
    }

    #[test]
    fn json_has_the_documented_shape() {
        let expected = json!({
            "table": "made-up",
            "size": "quick",
            "command": "raddle-evaluation table made-up",
            "rows": [
                { "name": "random a", "cells": {
                    "raddle": { "value": 312.5, "unit": "ns/execution", "per_second": 3_200_000 },
                    "ratio": { "value": 12.34, "unit": "×", "middle_half": [11.34, 13.34], "target": 10, "ok": true },
                    "loom": { "value": 36000.25, "unit": "ns/execution", "per_second": 27777.585 },
                    "loom_ratio": { "value": 115.2, "unit": "×" },
                }},
                { "name": "random c", "cells": {
                    "raddle": { "value": 31.25, "unit": "ns/execution", "per_second": 32_000_000 },
                    "ratio": { "value": 9.99, "unit": "×", "middle_half": [8.99, 10.99], "target": 10, "ok": false },
                    "loom": { "note": "max 5 threads" },
                }},
                { "name": "rss b", "cells": {
                    "growth": { "value": -4, "unit": "KiB", "target": 1024, "ok": true },
                }},
            ],
            "verdicts": [],
            "summary": { "met": 2, "missed": 1, "missed_cells": ["random c: ratio"] },
        });
        assert_eq!(made_up().to_json(), expected);
    }
}
