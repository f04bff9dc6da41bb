//! Answers by Z3, on the command line, in the language of SMT-LIB: positions are integers.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::problem::{Problem, Term};

/// Whether it can be called.
pub(crate) fn is_there() -> bool {
    Command::new("z3")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether there is an order, for every question of every problem.
pub(crate) fn answers(problems: &[Problem]) -> Vec<Vec<bool>> {
    let mut script = String::from("(set-logic QF_IDL)\n");
    problems.iter().for_each(|problem| add(problem, &mut script));
    let mut child = Command::new("z3")
        .arg("-in")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 starts");
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let mut lines = output.lines().map(|line| match line {
        "sat" => true,
        "unsat" => false,
        other => panic!("z3 says: {other}"),
    });
    problems.iter().map(|problem| lines.by_ref().take(problem.questions.len()).collect()).collect()
}

fn add(problem: &Problem, script: &mut String) {
    script.push_str("(push)\n");
    for node in 0..problem.nodes {
        let _ = writeln!(script, "(declare-const n{node} Int)");
    }
    for truth in 0..problem.truths {
        let _ = writeln!(script, "(declare-const t{truth} Bool)");
    }
    for &(first, second) in &problem.always {
        assert_any(&[Term::Before(first, second)], script);
    }
    problem.clauses.iter().for_each(|clause| assert_any(clause, script));
    for question in &problem.questions {
        script.push_str("(push)\n");
        question.iter().for_each(|&term| assert_any(&[term], script));
        script.push_str("(check-sat)\n(pop)\n");
    }
    script.push_str("(pop)\n");
}

fn assert_any(clause: &[Term], script: &mut String) {
    script.push_str("(assert (or false");
    for term in clause {
        let _ = match term {
            Term::Before(first, second) => write!(script, " (< n{first} n{second})"),
            Term::Truth(truth, true) => write!(script, " t{truth}"),
            Term::Truth(truth, false) => write!(script, " (not t{truth})"),
        };
    }
    script.push_str("))\n");
}
