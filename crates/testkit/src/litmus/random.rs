//! Random litmus tests, and their shrinking.

use raddle_core::Order;
use raddle_strategy::Rng;

use super::{Code, Instruction};

const LOADS: [Order; 3] = [Order::Relaxed, Order::Acquire, Order::SeqCst];
const STORES: [Order; 3] = [Order::Relaxed, Order::Release, Order::SeqCst];
const FENCES: [Order; 4] = [Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];
const UPDATES: [Order; 5] =
    [Order::Relaxed, Order::Acquire, Order::Release, Order::AcqRel, Order::SeqCst];

/// Returns a random program with all kinds of instructions and memory orderings. It has up to `max` instructions, four
/// threads and three variables, and at most about `combinations` candidate executions.
pub fn random_code(rng: &mut Rng, max: usize, combinations: u64) -> Code {
    loop {
        let code = any_code(rng, max);
        if combinations_of(&code) <= combinations {
            return code;
        }
    }
}

/// Returns the number of candidate executions: combinations of sources and modification orders.
fn combinations_of(code: &Code) -> u64 {
    let mut all = 1u64;
    for variable in code.variables() {
        let here = || {
            let all = code.threads.iter().flatten();
            all.filter(move |instruction| instruction.variable() == Some(variable))
        };
        let reads = here().filter(|instruction| instruction.reads()).count() as u32;
        let stores = here().filter(|instruction| !matches!(instruction, Instruction::Load(..)));
        let stores = stores.count() as u64;
        let orders = (1..=stores).product::<u64>();
        all = all.saturating_mul(orders).saturating_mul((stores + 1).saturating_pow(reads));
    }
    all
}

fn any_code(rng: &mut Rng, max: usize) -> Code {
    let threads = 2 + rng.below(3);
    let variables = 1 + rng.below(3);
    let length = threads + rng.below(max + 1 - threads.min(max));
    // Some programs use mostly one memory ordering.
    let style = rng.below(4);
    let mut code = Code { threads: vec![Vec::new(); threads] };
    for at in 0..length.min(max) {
        let thread = if at < threads { at } else { rng.below(threads) };
        let instruction = random_instruction(rng, variables, style);
        code.threads[thread].push(instruction);
    }
    code
}

fn random_instruction(rng: &mut Rng, variables: usize, style: usize) -> Instruction {
    let variable = ['x', 'y', 'z'][rng.below(variables)];
    let mut pick = |orders: &[Order]| match style {
        1 if rng.below(4) > 0 => Order::Relaxed,
        2 if rng.below(4) > 0 => Order::SeqCst,
        _ => orders[rng.below(orders.len())],
    };
    let (load, store, update) = (pick(&LOADS), pick(&STORES), pick(&UPDATES));
    let (failure, fence) = (pick(&LOADS), FENCES[rng.below(FENCES.len())]);
    let fence = if style == 2 && rng.below(2) == 0 { Order::SeqCst } else { fence };
    let value = 1 + rng.below(2) as u64;
    match rng.below(12) {
        0..=3 => Instruction::Load(variable, load),
        4..=7 => Instruction::Store(variable, Some(value), store),
        8 => Instruction::Add(variable, value, update),
        9 => Instruction::Swap(variable, value, update),
        10 => Instruction::Exchange(variable, rng.below(2) as u64, 1 + value, update, failure),
        _ => Instruction::Fence(fence),
    }
}

/// Removes instructions from `code` and weakens memory orderings as long as `fails` holds. Returns the smallest program
/// reached.
pub fn shrink_code(mut code: Code, mut fails: impl FnMut(&Code) -> bool) -> Code {
    while let Some(smaller) = candidates(&code).into_iter().find(|candidate| fails(candidate)) {
        code = smaller;
    }
    code
}

fn candidates(code: &Code) -> Vec<Code> {
    let mut all = Vec::new();
    for thread in 0..code.threads.len() {
        if code.threads.len() > 1 {
            let mut candidate = code.clone();
            candidate.threads.remove(thread);
            all.push(candidate);
        }
        for at in 0..code.threads[thread].len() {
            let mut candidate = code.clone();
            candidate.threads[thread].remove(at);
            all.push(candidate);
        }
        for at in 0..code.threads[thread].len() {
            if let Some(weaker) = weaker(code.threads[thread][at]) {
                let mut candidate = code.clone();
                candidate.threads[thread][at] = weaker;
                all.push(candidate);
            }
        }
    }
    all
}

/// Returns the instruction with relaxed orderings, or `None` if it has no others.
fn weaker(instruction: Instruction) -> Option<Instruction> {
    let relaxed = Order::Relaxed;
    let weaker = match instruction {
        Instruction::Store(variable, value, _) => Instruction::Store(variable, value, relaxed),
        Instruction::Load(variable, _) => Instruction::Load(variable, relaxed),
        Instruction::Add(variable, value, _) => Instruction::Add(variable, value, relaxed),
        Instruction::Swap(variable, value, _) => Instruction::Swap(variable, value, relaxed),
        Instruction::Exchange(variable, expected, new, ..) => {
            Instruction::Exchange(variable, expected, new, relaxed, relaxed)
        }
        Instruction::Fence(_) | Instruction::Require(_) | Instruction::Await(_) => return None,
    };
    (weaker != instruction).then_some(weaker)
}
