//! Memory that is used after it was freed, or freed twice: kinds of wrong programs and their correct twins, under every
//! strategy that claims something and both memory models. `raddle::Alloc` keeps freed memory until the execution ends.

mod counts;
mod lists;
mod owners;
mod reports;

use raddle::{Config, Finding, Memory, Report, Verdict};

#[global_allocator]
static ALLOCATOR: raddle::Alloc = raddle::Alloc::new();

/// What a program does with memory.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Does {
    /// Nothing wrong.
    Right,
    UseAfterFree,
    FreesTwice,
    /// Either of the two, or a race: whatever comes first.
    Wrong,
}

/// Every strategy that searches or samples, with the memory models that it supports.
const STRATEGIES: [(&str, Memory); 17] = [
    ("dpor", Memory::Sc),
    ("bpor:2", Memory::Sc),
    ("dfs", Memory::Sc),
    ("mcr", Memory::Sc),
    ("random", Memory::Sc),
    ("pos-star", Memory::Sc),
    ("pct:3", Memory::Sc),
    ("urw", Memory::Sc),
    ("auto", Memory::Sc),
    ("dpor-classic", Memory::Sc),
    ("bpor:0-3", Memory::Sc),
    ("pos", Memory::Sc),
    ("dpor", Memory::Rc11),
    ("auto", Memory::Rc11),
    ("c11-random", Memory::Rc11),
    ("dfs", Memory::Rc11),
    ("random", Memory::Rc11),
];

/// All other strategies. They may miss what is wrong, but must not claim that nothing is.
const OTHERS: [(&str, Memory); 30] = [
    ("bpor:fair:2", Memory::Sc),
    ("bpor:2:fair:2", Memory::Sc),
    ("bpor:0-2:fair:2", Memory::Sc),
    ("pcr", Memory::Sc),
    ("dfs:2", Memory::Sc),
    ("dfs:fair:2", Memory::Sc),
    ("dfs:2:fair:2", Memory::Sc),
    ("dfs-delay:2", Memory::Sc),
    ("bpor-plain:2", Memory::Sc),
    ("bpor-plain:fair:2", Memory::Sc),
    ("bpor-plain:2:fair:2", Memory::Sc),
    ("round-robin", Memory::Sc),
    ("basic-pos", Memory::Sc),
    ("pct", Memory::Sc),
    ("pct:3:50", Memory::Sc),
    ("surw", Memory::Sc),
    ("rapos", Memory::Sc),
    ("delay:2", Memory::Sc),
    ("portfolio:pos+pct:2", Memory::Sc),
    ("round-robin", Memory::Rc11),
    ("pos-star", Memory::Rc11),
    ("basic-pos", Memory::Rc11),
    ("pct:3", Memory::Rc11),
    ("surw", Memory::Rc11),
    ("urw", Memory::Rc11),
    ("rapos", Memory::Rc11),
    ("delay:2", Memory::Rc11),
    ("pctwm:2:2", Memory::Rc11),
    ("pctwm:2:2:20", Memory::Rc11),
    ("pct-weak:3", Memory::Rc11),
];

fn run(strategy: &str, memory: Memory, program: fn()) -> Report {
    Config::new().strategy(strategy).memory(memory).runs(3_000).run(program)
}

/// Checks that no other strategy says anything wrong.
fn check_others(does: Does, shares_objects: bool, program: fn()) {
    let others = OTHERS.iter().filter(|(strategy, _)| shares_objects || *strategy != "pcr");
    for &(strategy, memory) in others {
        let config = Config::new().strategy(strategy).memory(memory).runs(60);
        let report = config.explain(raddle::Explain::Off).run(program);
        match report.failure() {
            Some(_) => judge(strategy, memory, does, &report),
            None => {
                let is_right = does == Does::Right || !is_exhaustive(&report);
                assert!(is_right, "{strategy}, {memory:?}: {}", raddle::text(&report));
            }
        }
    }
}

/// Checks what every strategy says of a program.
fn check(does: Does, program: fn()) {
    for (strategy, memory) in STRATEGIES {
        check_by(strategy, memory, does, program);
    }
    check_others(does, true, program);
}

/// Checks what every strategy says of a program in which threads share only references, which `mcr` and `pcr` refuse.
fn check_without_sharing(does: Does, program: fn()) {
    for (strategy, memory) in STRATEGIES.into_iter().filter(|(strategy, _)| *strategy != "mcr") {
        check_by(strategy, memory, does, program);
    }
    check_others(does, false, program);
}

fn check_by(strategy: &str, memory: Memory, does: Does, program: fn()) {
    judge(strategy, memory, does, &run(strategy, memory, program));
}

fn judge(strategy: &str, memory: Memory, does: Does, report: &Report) {
    let text = || format!("{strategy}, {memory:?}: {}", raddle::text(report));
    let Some(failure) = report.failure() else {
        assert_eq!(does, Does::Right, "nothing found by {}", text());
        return;
    };
    match failure.finding {
        Finding::UseAfterFree { .. } => {
            assert!(matches!(does, Does::UseAfterFree | Does::Wrong), "{}", text());
        }
        Finding::FreedTwice { .. } => {
            assert!(matches!(does, Does::FreesTwice | Does::Wrong), "{}", text());
        }
        Finding::Race { .. } => assert_eq!(does, Does::Wrong, "{}", text()),
        _ => panic!("{}", text()),
    }
    assert!(failure.reproduced, "{}", text());
}

fn is_exhaustive(report: &Report) -> bool {
    matches!(report.verdict, Verdict::Exhausted)
}
