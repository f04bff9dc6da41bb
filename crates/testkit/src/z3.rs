//! Solvers held against Z3: what is said to a [`Recorded`] one is written down in the language of SMT-LIB,
//! with its answers, and Z3 is asked the same on the command line. Positions in an order are integers.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use raddle_solve::{Answer, Cdcl, Literal, Node, OrderSolver};

/// What a solver was told and asked, and what it said: whether there is an order.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    script: String,
    answers: Vec<bool>,
}

/// How many answers were the same.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Agreed {
    /// Orders, where Z3 finds one too.
    pub possible: u64,
    /// Cores to which Z3 finds no order either.
    pub impossible: u64,
}

thread_local! {
    static TRANSCRIPTS: RefCell<Vec<Transcript>> = const { RefCell::new(Vec::new()) };
}

/// The transcripts of all recorded solvers of this thread that are gone, since this was called last.
pub fn transcripts() -> Vec<Transcript> {
    TRANSCRIPTS.take()
}

/// Whether Z3 can be called. If not, that is said where it is seen, past the capture of test output.
pub fn is_there() -> bool {
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

/// Asks Z3 everything that was asked in the transcripts.
///
/// # Errors
/// The number of the first transcript, and of the question in it, that it answers differently.
pub fn compare(transcripts: &[Transcript]) -> Result<Agreed, (usize, usize)> {
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
    // On a thread of its own: Z3 answers while it reads.
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

/// raddle's solver, which writes down what it hears and says.
#[derive(Default)]
pub struct Recorded {
    solver: Cdcl,
    truths: usize,
    /// What literals mean, in Z3's words.
    meanings: HashMap<Literal, String>,
    transcript: Transcript,
}

impl Recorded {
    fn mean(&mut self, literal: Literal, so: String, otherwise: String) -> Literal {
        self.meanings.insert(literal, so);
        self.meanings.insert(!literal, otherwise);
        literal
    }

    fn demand(&mut self, any_of: &[Literal]) {
        self.transcript.script.push_str("(assert (or false");
        for literal in any_of {
            let _ = write!(self.transcript.script, " {}", self.meanings[literal]);
        }
        self.transcript.script.push_str("))\n");
    }

    fn note(&mut self, assumptions: &[Literal], is_possible: bool) {
        self.transcript.script.push_str("(push)\n");
        for &assumption in assumptions {
            self.demand(&[assumption]);
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
    fn node(&mut self) -> Node {
        let node = self.solver.node();
        let _ = writeln!(self.transcript.script, "(declare-const n{} Int)", node.0);
        node
    }

    fn always(&mut self, first: Node, second: Node) {
        self.solver.always(first, second);
        let _ = writeln!(self.transcript.script, "(assert (< n{} n{}))", first.0, second.0);
    }

    fn fresh(&mut self, likely: bool) -> Literal {
        let (literal, truth) = (self.solver.fresh(likely), self.truths);
        self.truths += 1;
        let _ = writeln!(self.transcript.script, "(declare-const t{truth} Bool)");
        self.mean(literal, format!("t{truth}"), format!("(not t{truth})"))
    }

    // Two nodes in one place make both literals false, which helps nobody: none is demanded to be false.
    fn before(&mut self, first: Node, second: Node) -> Literal {
        let literal = self.solver.before(first, second);
        let so = format!("(< n{} n{})", first.0, second.0);
        self.mean(literal, so, format!("(< n{} n{})", second.0, first.0))
    }

    fn clause(&mut self, literals: &[Literal]) {
        self.solver.clause(literals);
        self.demand(literals);
    }

    fn solve(&mut self, assumptions: &[Literal]) -> Answer {
        let answer = self.solver.solve(assumptions);
        match &answer {
            Answer::Order => self.note(assumptions, true),
            // That the core is enough says that all of them are.
            Answer::Impossible(core) => self.note(core, false),
        }
        answer
    }

    fn position(&self, node: Node) -> u32 {
        self.solver.position(node)
    }

    fn is_true(&self, literal: Literal) -> bool {
        self.solver.is_true(literal)
    }

    fn told(&self) -> u64 {
        self.solver.told()
    }
}
