//! The child's side of an exhaustive search: runs one engine on one program and answers with what it
//! took. As in `measure`, an engine has its process to itself.
//!
//! | the parent writes | the child answers |
//! | --- | --- |
//! | (nothing, at the start) | `ready`, or `cannot REASON` |
//! | `search COUNT MILLISECONDS` | `RUNS NANOSECONDS END CLASSES SEEN` |
//!
//! The child makes this number of searches from the start, each limited to this number of milliseconds. It reports the
//! runs of the last, the CPU time of all, how the last ended, how many different classes it met, and whether
//! it saw the outcome that a litmus test asks for; `-` if the engine does not tell.

use std::io::{BufRead, Write};
use std::time::Duration;

use crate::measure::{answer, timed};

/// Searches for at most so long.
pub(crate) type Search = Box<dyn FnMut(Duration) -> Result<Searched, String>>;

/// What an engine makes of a program.
pub(crate) enum Prepared {
    /// It can be searched.
    Ready(Search),
    /// The engine cannot, for this short reason.
    Cannot(String),
}

/// What came of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Searched {
    pub(crate) runs: u64,
    pub(crate) end: End,
    /// The different classes it met, where the engine counts them exactly.
    pub(crate) classes: Option<u64>,
    /// Whether the outcome asked for was seen, where one was.
    pub(crate) seen: Option<bool>,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Nothing is left to be run.
    Complete,
    /// The time was up.
    Cut,
    /// A run failed.
    Failed,
}

/// An answer: a search, and the CPU time of all that were asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) searched: Searched,
    pub(crate) nanoseconds: u64,
}

/// Answers requests until the input ends.
pub(crate) fn serve(
    prepared: Prepared,
    requests: impl BufRead,
    mut answers: impl Write,
) -> Result<(), String> {
    let mut search = match prepared {
        Prepared::Ready(search) => {
            answer(&mut answers, "ready")?;
            search
        }
        Prepared::Cannot(reason) => return answer(&mut answers, &format!("cannot {reason}")),
    };
    for request in requests.lines() {
        let request = request.map_err(|error| format!("cannot read a request: {error}"))?;
        let (count, limit) =
            parse_request(&request).ok_or_else(|| format!("unknown request `{request}`"))?;
        let (searched, nanoseconds) = timed(|| {
            let mut searched = search(limit)?;
            for _ in 1..count {
                searched = search(limit)?;
            }
            Ok(searched)
        })?;
        answer(&mut answers, &Answer { searched, nanoseconds }.to_string())?;
    }
    Ok(())
}

/// The request that [`serve`] reads.
pub(crate) fn request(count: u64, limit: Duration) -> String {
    format!("search {count} {}", limit.as_millis())
}

fn parse_request(request: &str) -> Option<(u64, Duration)> {
    let words: Vec<_> = request.split_whitespace().collect();
    match words[..] {
        ["search", count, limit] => {
            Some((count.parse().ok()?, Duration::from_millis(limit.parse().ok()?)))
        }
        _ => None,
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Answer { searched: Searched { runs, end, classes, seen }, nanoseconds } = *self;
        let end = match end {
            End::Complete => "complete",
            End::Cut => "cut",
            End::Failed => "failed",
        };
        let classes = classes.map_or("-".to_owned(), |classes| classes.to_string());
        let seen = seen.map_or("-", |seen| if seen { "yes" } else { "no" });
        write!(formatter, "{runs} {nanoseconds} {end} {classes} {seen}")
    }
}

impl Answer {
    /// Reads what [`serve`] wrote.
    pub(crate) fn parse(line: &str) -> Option<Answer> {
        let words: Vec<_> = line.split_whitespace().collect();
        let [runs, nanoseconds, end, classes, seen] = words[..] else { return None };
        let end = match end {
            "complete" => End::Complete,
            "cut" => End::Cut,
            "failed" => End::Failed,
            _ => return None,
        };
        let classes = match classes {
            "-" => None,
            number => Some(number.parse().ok()?),
        };
        let seen = match seen {
            "-" => None,
            "yes" => Some(true),
            "no" => Some(false),
            _ => return None,
        };
        let searched = Searched { runs: runs.parse().ok()?, end, classes, seen };
        Some(Answer { searched, nanoseconds: nanoseconds.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_answers_come_back_as_they_were() {
        let limit = Duration::from_millis(1_500);
        assert_eq!(parse_request(&request(7, limit)), Some((7, limit)));
        for (end, classes, seen) in [
            (End::Complete, Some(6), Some(true)),
            (End::Cut, None, None),
            (End::Failed, Some(0), Some(false)),
        ] {
            let searched = Searched { runs: 12, end, classes, seen };
            let answer = Answer { searched, nanoseconds: 345 };
            assert_eq!(Answer::parse(&answer.to_string()), Some(answer));
        }
        for nonsense in
            ["", "12 345 complete -", "12 345 done - -", "12 x cut - -", "12 3 cut - maybe"]
        {
            assert_eq!(Answer::parse(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn as_many_searches_as_asked_for() {
        let mut runs = 0;
        let search = move |_| {
            runs += 1;
            Ok(Searched { runs, end: End::Complete, classes: None, seen: None })
        };
        let mut answers = Vec::new();
        serve(Prepared::Ready(Box::new(search)), &b"search 5 10\n"[..], &mut answers).unwrap();
        let answers = String::from_utf8(answers).unwrap();
        let answer = answers.lines().nth(1).and_then(Answer::parse).unwrap();
        assert_eq!(answer.searched.runs, 5);
    }
}
