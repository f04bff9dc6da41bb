//! Comparison of raddle's solver with Z3. A [`Recorded`] solver writes down its constraints and questions in
//! SMT-LIB, with its answers; [`compare`] puts the same questions to Z3 on the command line. Positions in an
//! order are integers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use raddle_solve::{Answer, Cdcl, Literal, Node, OrderSolver};

/// The constraints and questions that a solver was given, and its answers: whether there is an order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transcript {
    script: String,
    answers: Vec<bool>,
}

/// Numbers of answers on which both solvers agree.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Agreed {
    /// Answers that there is an order.
    pub(crate) possible: u64,
    /// Answers that there is none.
    pub(crate) impossible: u64,
}

thread_local! {
    static TRANSCRIPTS: RefCell<Vec<Transcript>> = const { RefCell::new(Vec::new()) };
}

/// Takes the transcripts of all recorded solvers that were dropped on this thread since the last call.
pub(crate) fn transcripts() -> Vec<Transcript> {
    TRANSCRIPTS.take()
}

/// Returns whether Z3 can be called. If not, prints a notice past the capture of test output.
pub(crate) fn is_there() -> bool {
    let version = Command::new("z3").arg("--version").stdout(Stdio::null()).status();
    let is_there = version.is_ok_and(|status| status.success());
    if !is_there {
        let _ = writeln!(
            std::io::stderr(),
            "NOTICE: not compared with Z3, which is not installed here"
        );
    }
    is_there
}

/// Puts all questions of the transcripts to Z3.
///
/// # Errors
/// The number of the first transcript, and of the question in it, that Z3 answers differently.
pub(crate) fn compare(transcripts: &[Transcript]) -> Result<Agreed, (usize, usize)> {
    let script: String = transcripts
        .iter()
        .map(|transcript| format!("(reset)\n(set-logic QF_IDL)\n{}", transcript.script))
        .collect();
    let mut child = Command::new("z3")
        .arg("-in")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 starts");
    let mut input = child.stdin.take().expect("it is piped");
    // On another thread, because Z3 answers while it reads.
    let writing = std::thread::spawn(move || input.write_all(script.as_bytes()));
    let output = child.wait_with_output().expect("z3 ends").stdout;
    writing.join().expect("nothing panics there").expect("z3 reads everything");
    let output = String::from_utf8(output).expect("z3 writes text");
    let mut theirs = output.lines().map(|line| match line {
        "sat" => true,
        "unsat" => false,
        other => panic!("z3 says: {other}"),
    });
    let mut agreed = Agreed::default();
    for (number, transcript) in transcripts.iter().enumerate() {
        for (question, &mine) in transcript.answers.iter().enumerate() {
            if theirs.next().expect("z3 answers every question") != mine {
                return Err((number, question));
            }
            let count = if mine { &mut agreed.possible } else { &mut agreed.impossible };
            *count += 1;
        }
    }
    Ok(agreed)
}

/// raddle's solver with a transcript.
#[derive(Default)]
pub(crate) struct Recorded {
    solver: Cdcl,
    truths: usize,
    /// Literals in SMT-LIB.
    meanings: HashMap<Literal, String>,
    transcript: Transcript,
}

impl Recorded {
    fn define(&mut self, literal: Literal, holds: String, fails: String) -> Literal {
        self.meanings.insert(literal, holds);
        self.meanings.insert(!literal, fails);
        literal
    }

    fn assert_any(&mut self, any_of: &[Literal]) {
        self.transcript.script.push_str("(assert (or false");
        for literal in any_of {
            let _ = write!(self.transcript.script, " {}", self.meanings[literal]);
        }
        self.transcript.script.push_str("))\n");
    }

    fn record(&mut self, assumptions: &[Literal], is_possible: bool) {
        self.transcript.script.push_str("(push)\n");
        for &assumption in assumptions {
            self.assert_any(&[assumption]);
        }
        self.transcript.script.push_str("(check-sat)\n(pop)\n");
        self.transcript.answers.push(is_possible);
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        let transcript = std::mem::take(&mut self.transcript);
        TRANSCRIPTS.with_borrow_mut(|transcripts| transcripts.push(transcript));
    }
}

impl OrderSolver for Recorded {
    fn add_node(&mut self) -> Node {
        let node = self.solver.add_node();
        let _ = writeln!(self.transcript.script, "(declare-const n{} Int)", node.0);
        node
    }

    fn add_edge(&mut self, first: Node, second: Node) {
        self.solver.add_edge(first, second);
        let _ = writeln!(self.transcript.script, "(assert (< n{} n{}))", first.0, second.0);
    }

    fn new_literal(&mut self, likely: bool) -> Literal {
        let (literal, truth) = (self.solver.new_literal(likely), self.truths);
        self.truths += 1;
        let _ = writeln!(self.transcript.script, "(declare-const t{truth} Bool)");
        self.define(literal, format!("t{truth}"), format!("(not t{truth})"))
    }

    // Two nodes at one position make both literals false. That adds no solution: no clause demands a false literal.
    fn before(&mut self, first: Node, second: Node) -> Literal {
        let literal = self.solver.before(first, second);
        let holds = format!("(< n{} n{})", first.0, second.0);
        self.define(literal, holds, format!("(< n{} n{})", second.0, first.0))
    }

    fn add_clause(&mut self, literals: &[Literal]) {
        self.solver.add_clause(literals);
        self.assert_any(literals);
    }

    fn solve(&mut self, assumptions: &[Literal]) -> Answer {
        let answer = self.solver.solve(assumptions);
        match &answer {
            Answer::Order => self.record(assumptions, true),
            // If the core has no order, neither have all assumptions.
            Answer::Impossible(core) => self.record(core, false),
        }
        answer
    }

    fn position(&self, node: Node) -> u32 {
        self.solver.position(node)
    }

    fn is_true(&self, literal: Literal) -> bool {
        self.solver.is_true(literal)
    }

    fn size(&self) -> u64 {
        self.solver.size()
    }
}

mod tests;
