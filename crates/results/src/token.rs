//! Replay tokens: a schedule as one short word that can be pasted into a shell.
//!
//! `r1-` and then, in URL-safe base 64: a hash of the check's name, the spawn paths of threads not
//! spawned by main in order, the run-length encoded schedule, and a checksum over all of it.

use std::fmt;

use raddle_core::{Choice, EventId, Schedule, ThreadId, ThreadInfo};

const VERSION: &str = "r1-";
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// A schedule, its threads, and the check it belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// [`name_hash`] of the check.
    pub check: u32,
    /// The threads of the run, if they are not all spawned by main in order.
    pub threads: Vec<ThreadInfo>,
    /// The choices.
    pub schedule: Schedule,
}

/// Why a token cannot be read.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum TokenError {
    /// It does not begin like a token, or with another version.
    Version,
    /// Characters are missing, added or changed.
    Damaged,
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TokenError::Version => {
                "not a replay token of this version of raddle: tokens begin with `r1-`"
            }
            TokenError::Damaged => {
                "damaged replay token: copy all of it, from `r1-` to the last character"
            }
        })
    }
}

impl std::error::Error for TokenError {}

/// Returns the hash by which a token recognises its check.
pub fn name_hash(name: &str) -> u32 {
    checksum(name.as_bytes())
}

impl Token {
    /// Creates a token for the run with these `threads` and this `schedule` of the check called `name`.
    pub fn new(name: &str, threads: &[ThreadInfo], schedule: Schedule) -> Token {
        let in_order = threads.iter().skip(1).enumerate().all(|(position, thread)| {
            let expected = ThreadId(position as u32 + 1);
            (thread.id, thread.parent, thread.position as usize)
                == (expected, ThreadId::MAIN, position)
        });
        let threads = if in_order { Vec::new() } else { threads[1..].to_vec() };
        Token { check: name_hash(name), threads, schedule }
    }

    /// Reads a token.
    pub fn parse(text: &str) -> Result<Token, TokenError> {
        let body = text.trim().strip_prefix(VERSION).ok_or(TokenError::Version)?;
        let bytes = from_base64(body).ok_or(TokenError::Damaged)?;
        let (payload, sum) = bytes.split_last_chunk::<4>().ok_or(TokenError::Damaged)?;
        if checksum(payload) != u32::from_le_bytes(*sum) {
            return Err(TokenError::Damaged);
        }
        let (check, rest) = payload.split_first_chunk::<4>().ok_or(TokenError::Damaged)?;
        let mut input = Input(rest);
        let (threads, schedule) = input.token().ok_or(TokenError::Damaged)?;
        Ok(Token { check: u32::from_le_bytes(*check), threads, schedule })
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = self.check.to_le_bytes().to_vec();
        put(&mut bytes, self.threads.len() as u64);
        for thread in &self.threads {
            put(&mut bytes, u64::from(thread.id.0));
            put(&mut bytes, u64::from(thread.parent.0));
            put(&mut bytes, u64::from(thread.position));
        }
        let mut rest = &self.schedule[..];
        while let Some(&first) = rest.first() {
            let repeats = rest.iter().take_while(|&&choice| choice == first).count();
            let (tag, number) = match first {
                Choice::Thread(thread) => (0, thread.0),
                Choice::Value(value) => (1, value),
                Choice::Source(source) => (2, source.thread.0),
                Choice::Place(before) => (3, before.thread.0),
            };
            put(&mut bytes, u64::from(number) << 2 | tag);
            if let Choice::Source(store) | Choice::Place(store) = first {
                put(&mut bytes, u64::from(store.index));
            }
            put(&mut bytes, repeats as u64);
            rest = &rest[repeats..];
        }
        bytes.extend(checksum(&bytes).to_le_bytes());
        write!(f, "{VERSION}{}", to_base64(&bytes))
    }
}

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    /// The maximal length of a schedule, so that no repeat count exhausts memory.
    const LIMIT: u64 = 1 << 26;

    fn token(&mut self) -> Option<(Vec<ThreadInfo>, Schedule)> {
        let mut threads = Vec::new();
        for _ in 0..self.number()? {
            threads.push(ThreadInfo {
                id: ThreadId(self.small()?),
                parent: ThreadId(self.small()?),
                position: self.small()?,
            });
        }
        let mut schedule = Vec::new();
        while !self.0.is_empty() {
            let head = self.number()?;
            let number = u32::try_from(head >> 2).ok()?;
            let choice = match head & 3 {
                0 => Choice::Thread(ThreadId(number)),
                1 => Choice::Value(number),
                2 => Choice::Source(EventId { thread: ThreadId(number), index: self.small()? }),
                _ => Choice::Place(EventId { thread: ThreadId(number), index: self.small()? }),
            };
            let repeats = self.number()?;
            if repeats == 0 || repeats + schedule.len() as u64 > Self::LIMIT {
                return None;
            }
            schedule.extend(std::iter::repeat_n(choice, repeats as usize));
        }
        Some((threads, schedule))
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// Reads a number in base 128, least significant digit first.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..63).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(number);
            }
        }
        None
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Returns the FNV-1a hash. It detects typing mistakes, not forgery.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, &byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn to_base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - group.len()));
        for digit in 0..=group.len() {
            text.push(ALPHABET[(bits >> (18 - 6 * digit) & 63) as usize] as char);
        }
    }
    text
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for group in text.as_bytes().chunks(4) {
        let mut bits = 0u32;
        for &character in group {
            let digit = ALPHABET.iter().position(|&known| known == character)?;
            bits = bits << 6 | digit as u32;
        }
        bits <<= 6 * (4 - group.len());
        let whole = group.len().checked_sub(1).filter(|&whole| whole > 0)?;
        bytes.extend(&bits.to_be_bytes()[1..1 + whole]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Token {
        let main = ThreadId::MAIN;
        let threads = vec![
            ThreadInfo { id: main, parent: main, position: 0 },
            ThreadInfo { id: ThreadId(1), parent: main, position: 0 },
            ThreadInfo { id: ThreadId(4), parent: ThreadId(1), position: 300 },
        ];
        let mut schedule = vec![Choice::Thread(main); 1000];
        schedule.push(Choice::Value(7));
        schedule.push(Choice::Source(EventId { thread: ThreadId(4), index: 129 }));
        schedule.push(Choice::Place(EventId::INITIAL));
        schedule.push(Choice::Thread(ThreadId(4)));
        Token::new("a test", &threads, schedule)
    }

    #[test]
    fn a_token_survives_a_round_trip() {
        assert_eq!(Token::parse(&sample().to_string()), Ok(sample()));
        let empty = Token::new("", &[], vec![]);
        assert_eq!(Token::parse(&empty.to_string()), Ok(empty));
    }

    #[test]
    fn every_change_of_one_character_is_detected() {
        let text = sample().to_string();
        for at in (0..text.len()).step_by(if cfg!(miri) { 16 } else { 1 }) {
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            // The last digit may carry unused bits.
            assert!(Token::parse(&changed) != Ok(sample()) || at + 1 == text.len(), "{changed}");
            assert!(Token::parse(&text[..at]).is_err());
        }
    }

    #[test]
    fn other_strings_are_rejected() {
        assert_eq!(Token::parse("hello"), Err(TokenError::Version));
        assert_eq!(Token::parse("r2-AAAA"), Err(TokenError::Version));
        assert_eq!(Token::parse("r1-"), Err(TokenError::Damaged));
        assert_eq!(Token::parse("r1-%%%%"), Err(TokenError::Damaged));
    }
}
