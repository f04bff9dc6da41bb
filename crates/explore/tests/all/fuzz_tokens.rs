//! Any string given as a token is rejected with an explanation or replayed. It never causes a panic, a hang or
//! unbounded memory.

use std::time::Duration;

use raddle_explore::{Budget, ReplayError, Session, Settings};
use raddle_results::{Token, TokenError, token};
use raddle_strategy::Rng;
use raddle_testkit::{Interpreter, Kind, Program, Shape, for_all, scaled};

const NAME: &str = "a program";

/// A budget without a time limit.
struct NoTime;

impl Budget for NoTime {
    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }

    fn limit(&self) -> Option<Duration> {
        None
    }
}

fn settings(seed: u64) -> Settings {
    Settings {
        seed,
        runs: 20,
        max_steps: 1000,
        races: false,
        plain_points: true,
        explore_trivial: true,
        ..Settings::new(NAME, "random".parse().unwrap())
    }
}

/// Parses and replays `word`, and returns the name of the outcome.
fn replay(word: &str, program: &Program) -> Result<&'static str, String> {
    if let Ok(token) = Token::parse(word) {
        let again = Token::parse(&token.to_string());
        if again.as_ref() != Ok(&token) {
            return Err(format!("{word}: {token:?} is parsed as {again:?}"));
        }
    }
    let (mut interpreter, settings) = (Interpreter, settings(0));
    let session = Session::new(&mut interpreter, program, &settings, &NoTime);
    Ok(match session.replay(word) {
        Ok(_) => "replayed",
        Err(ReplayError::Token(TokenError::Version)) => "no token",
        Err(ReplayError::Token(TokenError::Damaged)) => "damaged",
        Err(ReplayError::Foreign { .. }) => "foreign",
        Err(ReplayError::Diverged { .. }) => "diverged",
    })
}

/// Returns a random string of characters that occur in tokens and others.
fn any_word(rng: &mut Rng) -> String {
    let letters: Vec<char> = "r1-ABCabc019_-=%@ \n\u{e9}\u{1f600}".chars().collect();
    let length = rng.below(40);
    let begin = ["", "r1-", "r2-", " r1-"][rng.below(4)];
    let rest = (0..length).map(|_| letters[rng.below(letters.len())]);
    format!("{begin}{}", rest.collect::<String>())
}

/// Returns a token with a few characters changed, removed or inserted.
fn changed(word: &str, rng: &mut Rng) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    for _ in 0..=rng.below(3) {
        let at = rng.below(letters.len() + 1);
        let letter = char::from(b'0' + rng.below(75) as u8);
        match rng.below(4) {
            0 if at < letters.len() => letters[at] = letter,
            1 if at < letters.len() => _ = letters.remove(at),
            2 => letters.truncate(at),
            _ => letters.insert(at, letter),
        }
    }
    letters.into_iter().collect()
}

/// Returns a token with random content and a right checksum.
fn forged(rng: &mut Rng) -> String {
    let mut bytes =
        token::name_hash(if rng.below(8) == 0 { "another" } else { NAME }).to_le_bytes().to_vec();
    for _ in 0..rng.below(12) {
        if rng.below(8) == 0 {
            bytes.push(rng.bits() as u8);
            continue;
        }
        // Mostly small numbers; the others do not fit in memory.
        let number = match rng.below(6) {
            0 => rng.bits() >> (1 + rng.below(30)),
            1 => 1 << rng.below(23),
            _ => rng.below(16) as u64,
        };
        put(&mut bytes, number);
    }
    bytes.extend(checksum(&bytes).to_le_bytes());
    format!("r1-{}", base64(&bytes))
}

// The format of tokens, implemented again from its description.

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, &byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn base64(bytes: &[u8]) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
    let digits = (bytes.len() * 8).div_ceil(6);
    let digit = |number: usize| (0..6).fold(0, |digit, at| digit << 1 | bit(6 * number + at));
    (0..digits).map(|number| char::from(alphabet[digit(number) as usize])).collect()
}

#[test]
fn every_string_is_rejected_or_replayed() {
    let shape = Shape {
        kinds: vec![Kind::Atomic, Kind::Mutex],
        kinds_at_once: 2,
        scripts: 3,
        pieces: 2,
        panics: 3,
    };
    let mut seen = std::collections::BTreeMap::<&str, u64>::new();
    for_all(17, scaled(300), &shape, |program, rng| {
        let (mut interpreter, settings) = (Interpreter, settings(rng.bits()));
        let session = Session::new(&mut interpreter, program, &settings, &NoTime);
        let report = session.run().expect("sampling refuses no program");
        let whole = report.failure().map(|failure| failure.token.clone());
        for _ in 0..10 {
            let mut words = vec![any_word(rng), forged(rng)];
            words.extend(whole.as_ref().map(|word| changed(word, rng)));
            for word in words {
                *seen.entry(replay(&word, program)?).or_default() += 1;
            }
        }
        if let Some(word) = whole {
            let same = replay(&word, program)?;
            if same != "replayed" {
                return Err(format!("{word} is {same}"));
            }
        }
        Ok(())
    });
    println!("{seen:?}");
    assert_eq!(seen.len(), 5, "{seen:?}");
}
