//! JSON in both directions: round trips of random values, and errors for texts that are no reports.

use raddle_strategy::Rng;

use super::*;
use crate::document::{Document, VERSION};

/// Returns a random value with at most `depth` levels.
fn value(rng: &mut Rng, depth: usize) -> Json {
    let forms = if depth == 0 { 5 } else { 7 };
    match rng.below(forms) {
        0 => Json::Null,
        1 => Json::Bool(rng.below(2) == 0),
        2 => Json::Number(rng.bits() >> rng.below(64)),
        3 => match f64::from_bits(rng.bits()) {
            finite if finite.is_finite() => Json::Fraction(finite),
            _ => Json::Fraction(rng.below(1000) as f64 / 8.0),
        },
        4 => Json::Text(text(rng)),
        5 => Json::List((0..rng.below(4)).map(|_| value(rng, depth - 1)).collect()),
        _ => Json::Object(
            (0..rng.below(4)).map(|_| (text(rng).into(), value(rng, depth - 1))).collect(),
        ),
    }
}

fn text(rng: &mut Rng) -> String {
    const LETTERS: [char; 16] = [
        'a',
        'Z',
        '7',
        ' ',
        '"',
        '\\',
        '/',
        '\n',
        '\t',
        '\0',
        '\u{1f}',
        '\u{7f}',
        'é',
        '\u{2028}',
        '→',
        '\u{1d11e}',
    ];
    (0..rng.below(6)).map(|_| LETTERS[rng.below(LETTERS.len())]).collect()
}

#[test]
fn every_value_survives_a_round_trip() {
    let mut rng = Rng::new(1);
    for _ in 0..if cfg!(miri) { 100 } else { 5_000 } {
        let value = value(&mut rng, 4);
        let text = value.to_string();
        assert_eq!(Json::parse(&text).as_ref(), Ok(&value), "{text}");
        let spread = format!(" \r\n\t{text}\n ");
        assert_eq!(Json::parse(&spread).as_ref(), Ok(&value), "{spread}");
    }
}

#[test]
fn equivalent_texts_are_read() {
    for (text, value) in [
        (r#""\b\f\/\r""#, Json::text("\u{8}\u{c}/\r")),
        (r#""\u00e9\ud834\udd1e""#, Json::text("é\u{1d11e}")),
        ("-0", Json::Fraction(-0.0)),
        ("1E2", Json::Fraction(100.0)),
        ("18446744073709551615", Json::Number(u64::MAX)),
        ("18446744073709551616", Json::Fraction(18446744073709551616.0)),
        ("[ ]", Json::List(Vec::new())),
        ("{\t}", Json::Object(Vec::new())),
    ] {
        assert_eq!(Json::parse(text), Ok(value), "{text}");
    }
}

#[test]
fn invalid_json_is_rejected_with_its_position() {
    for (text, at) in [
        ("", 0),
        ("nul", 0),
        ("[1, 2", 5),
        ("[1 2]", 3),
        ("[1,]", 3),
        ("{1: 2}", 1),
        ("{\"a\" 2}", 5),
        ("{\"a\": }", 6),
        ("{\"a\": 1,}", 8),
        ("\"abc", 1),
        ("\"a\nb\"", 2),
        (r#""\x""#, 1),
        (r#""\u12"#, 1),
        (r#""\u12g4""#, 1),
        (r#""\ud834x""#, 7),
        (r#""\ud834\u0041""#, 1),
        (r#""\udd1e""#, 1),
        ("01", 0),
        ("1.", 0),
        (".5", 0),
        ("+1", 0),
        ("1e", 0),
        ("1e999", 0),
        ("NaN", 0),
        ("1 1", 2),
        ("\u{feff}1", 0),
    ] {
        match Json::parse(text) {
            Err(ReadError::Syntax { at: found, .. }) => assert_eq!(found, at, "{text:?}"),
            other => panic!("{text:?}: {other:?}"),
        }
    }
    let deep = "[".repeat(100_000);
    assert!(matches!(Json::parse(&deep), Err(ReadError::Syntax { .. })));
}

#[test]
fn damaged_texts_never_panic() {
    let mut rng = Rng::new(2);
    for _ in 0..if cfg!(miri) { 5 } else { 200 } {
        let text = value(&mut rng, 4).to_string();
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = b"\"\\{}[],:0-e u"[rng.below(13)];
            let _ = Json::parse(&String::from_utf8_lossy(&bytes));
            if let Some(part) = text.get(..at) {
                let _ = Json::parse(part);
            }
        }
    }
}

fn clean() -> String {
    format!(
        r#"{{"version": {VERSION}, "name": "a", "strategy": "random", "memory": "SC", "seed": 1,
        "verdict": {{"kind": "sampled"}}, "executions": 1, "steps": 1, "classes": 1,
        "classes_exact": true, "discarded": 0, "unseen_drops": false, "leaked": 0,
        "equivalents": 0, "probes": 0, "unchecked": false, "hidden_state": null,
        "blind_spots": {{"silent_threads": 0, "weak_orderings": false, "clock_loops": false, "idle_rounds": false}}, "elapsed_seconds": 0.5,
        "threads": 1, "phases": [],
        "search": null, "coverage": null, "patterns": null, "unseen": null, "guarantees": [],
        "warnings": [], "conditions": [], "conditions_required": false, "failure": null, "failures": null}}"#
    )
}

#[test]
fn an_error_names_the_wrong_field() {
    let text = clean();
    let document = Document::parse(&text).unwrap();
    assert_eq!(Document::parse(&document.to_string()), Ok(document.clone()));
    let extended = text.replacen('{', "{\"new\": [1], ", 1);
    assert_eq!(Document::parse(&extended).as_ref(), Ok(&document), "unknown fields are ignored");
    let shortened = text.replace("\"coverage\": null, ", "");
    assert_eq!(Document::parse(&shortened), Ok(document), "missing fields read like null");

    for (old, new, path) in [
        ("\"name\": \"a\"", "\"name\": 1", "name"),
        ("\"seed\": 1", "\"seed\": -1", "seed"),
        ("\"SC\"", "\"PSO\"", "memory"),
        ("sampled", "guessed", "verdict.kind"),
        ("{\"kind\": \"sampled\"}", "\"sampled\"", "verdict"),
        ("\"threads\": 1", "\"threads\": 4294967296", "threads"),
        ("\"phases\": []", "\"phases\": {}", "phases"),
        ("\"phases\": []", "\"phases\": [{\"strategy\": \"a\"}]", "phases.0.executions"),
        ("\"steps\": 1, ", "", "steps"),
    ] {
        let changed = text.replacen(old, new, 1);
        assert_ne!(changed, text);
        match Document::parse(&changed) {
            Err(ReadError::Value { path: found, .. }) => assert_eq!(found, path, "{new}"),
            other => panic!("{new}: {other:?}"),
        }
    }
    let other = text.replacen(&format!("\"version\": {VERSION}"), "\"version\": 1", 1);
    assert_eq!(Document::parse(&other), Err(ReadError::Version { found: 1 }));
    assert!(matches!(Document::parse("[]"), Err(ReadError::Value { .. })));
    assert!(matches!(Document::parse("{"), Err(ReadError::Syntax { .. })));
}
