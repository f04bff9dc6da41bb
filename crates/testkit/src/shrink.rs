//! Shrinking of failing programs.

use crate::{Program, Step};

/// Removes steps from `program` as long as `fails` holds, and returns the smallest program reached.
pub fn shrink(mut program: Program, mut fails: impl FnMut(&Program) -> bool) -> Program {
    loop {
        let smaller = candidates(&program).into_iter().find(|candidate| fails(candidate));
        match smaller {
            Some(smaller) => program = smaller,
            None => return program,
        }
    }
}

/// Returns programs with fewer steps, the smallest first.
fn candidates(program: &Program) -> Vec<Program> {
    let mut candidates = Vec::new();
    let mut with_script = |script: usize, steps: Vec<Step>| {
        let mut candidate = program.clone();
        candidate.scripts[script] = steps;
        if candidate.scripts.last().is_some_and(|last| last.is_empty() && script > 0) {
            candidate.scripts.pop();
            let known = candidate.scripts.len();
            for steps in &mut candidate.scripts {
                steps.retain(|step| !matches!(step, Step::Spawn(spawned) if *spawned >= known));
            }
        }
        candidates.push(candidate);
    };
    for (script, steps) in program.scripts.iter().enumerate() {
        let mut length = steps.len();
        while length > 0 {
            for from in (0..=steps.len() - length).step_by(length) {
                let mut rest = steps.clone();
                rest.drain(from..from + length);
                with_script(script, rest);
            }
            length /= 2;
        }
    }
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_core::{Action, PauseOp};

    #[test]
    fn irrelevant_steps_are_removed() {
        let pause = Step::Alone(Action::Pause(PauseOp::Yield));
        let noise = vec![pause; 7];
        let mut guilty = noise.clone();
        guilty.insert(3, Step::Panic);
        let mut main = noise.clone();
        main.insert(5, Step::Spawn(1));
        main.insert(0, Step::Spawn(2));
        let program = Program { objects: vec![], scripts: vec![main, guilty, noise] };
        let fails = |program: &Program| {
            program.scripts[0].contains(&Step::Spawn(1))
                && program.scripts[1].contains(&Step::Panic)
        };
        let smallest = shrink(program, fails);
        let expected = vec![vec![Step::Spawn(1)], vec![Step::Panic]];
        assert_eq!(smallest.scripts, expected);
    }
}
