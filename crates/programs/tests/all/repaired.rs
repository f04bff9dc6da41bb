//! Programs whose bug is a memory ordering, repaired.

use raddle::{Change, Config, Explain, Failure, Memory};
use raddle_programs::Form;
use raddle_programs::weak::{Instance, PROGRAMS, Program};

/// Finds the bug of a program and explains it.
fn explained(program: &'static Program, explain: Explain) -> Option<Failure> {
    let instance = Instance { form: Form::Bugged, tries: program.tries.least, extra_stores: 0 };
    let config = Config::new().name(program.name).strategy("dfs").runs(200_000).max_steps(20_000);
    let config = config.memory(Memory::Rc11).unlimited_time().explain(explain);
    let report = config.run(program.closure(instance));
    report.failure().filter(|found| program.failure.is(&found.finding)).cloned()
}

fn repaired(failure: &Failure) -> String {
    let Some(known) = &failure.explanation else { return format!("{:?}", failure.unexplained) };
    let mut text = format!("{} executions, {:?}", known.executions, known.no_repairs);
    for repair in &known.repairs {
        let Change::Orders(orders) = &repair.change else { continue };
        text += &format!("\n    {} executions:", repair.executions);
        for one in orders {
            let fence = if one.is_fence { "fence before " } else { "" };
            text += &format!(" {fence}{} {:?} → {:?};", one.site, one.op.action(), one.order);
        }
    }
    text
}

/// Prints all programs.
#[test]
#[ignore = "takes minutes, and prints a table"]
fn every_weak_program() {
    let mut count = 0;
    for program in PROGRAMS {
        let start = std::time::Instant::now();
        let Some(failure) = explained(program, Explain::Full) else {
            println!("{:<20} not found", program.name);
            continue;
        };
        count +=
            u32::from(failure.explanation.as_ref().is_some_and(|known| !known.repairs.is_empty()));
        println!("{:<20} {:?} {}", program.name, start.elapsed(), repaired(&failure));
    }
    println!("{count} of {} repaired", PROGRAMS.len());
}
