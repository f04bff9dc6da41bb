//! RC11 for programs in C: litmus tests as C11 programs have the outcomes and the number of execution graphs that the
//! axioms allow, which brute force computes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use raddle_core::{Order, Rng};
use raddle_testkit::litmus::table::{MORE, TESTS};
use raddle_testkit::litmus::{Code, Instruction, Outcome, axioms, random_code};

use crate::world::World;

/// The program says which outcome it has by a file of that name, because executions share nothing else.
const MAIN: &str = r#"
int main(int count, char **arguments) {
    int number = atoi(arguments[1]);
    pthread_t threads[8];
    char name[200];
    int at = sprintf(name, "outcomes/%d/", number), created = 0;
    for (int i = 0; i < READS; i++)
        seen[i] = -1;
    for (; bodies[number][created]; created++)
        pthread_create(&threads[created], 0, bodies[number][created], 0);
    for (int i = 0; i < created; i++)
        pthread_join(threads[i], 0);
    for (int i = 0; i < reads[number]; i++)
        at += sprintf(name + at, seen[i] < 0 ? "_ " : "%ld ", seen[i]);
    for (const char *variable = variables[number]; *variable; variable++)
        at += sprintf(name + at, "%c%lu ", *variable,
                      atomic_load_explicit(&values[*variable - 'a'], memory_order_relaxed));
    close(open(name, O_CREAT | O_WRONLY, 0644));
    return 0;
}
"#;

fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "memory_order_relaxed",
        Order::Acquire => "memory_order_acquire",
        Order::Release => "memory_order_release",
        Order::AcqRel => "memory_order_acq_rel",
        Order::SeqCst => "memory_order_seq_cst",
    }
}

/// Returns the statement for the instruction with this number in its thread. `read` is the value that the thread read
/// last.
fn statement(number: usize, instruction: Instruction) -> String {
    let place = instruction.variable().map_or(0, |variable| variable as u8 - b'a');
    let place = format!("&values[{place}]");
    match instruction {
        Instruction::Store(_, value, by) => {
            let value = value.map_or("read".to_owned(), |value| value.to_string());
            format!("atomic_store_explicit({place}, {value}, {});", order(by))
        }
        Instruction::Load(_, by) => {
            format!("read = atomic_load_explicit({place}, {});", order(by))
        }
        Instruction::Add(_, value, by) => {
            format!("read = atomic_fetch_add_explicit({place}, {value}, {});", order(by))
        }
        Instruction::Swap(_, value, by) => {
            format!("read = atomic_exchange_explicit({place}, {value}, {});", order(by))
        }
        Instruction::Exchange(_, expected, new, success, failure) => format!(
            "read = {expected}; atomic_compare_exchange_strong_explicit({place}, &read, {new}, {}, {});",
            order(success),
            order(failure)
        ),
        Instruction::Fence(by) => format!("atomic_thread_fence({});", order(by)),
        Instruction::Require(value) => format!("if (read != {value}) return 0;"),
        Instruction::Await(value) => format!("if (read != {value}) goto at{};", number - 1),
    }
}

/// Returns a program in C that runs the litmus test whose number is its argument.
fn source(codes: &[Code]) -> String {
    let mut text = String::from(
        "#include <fcntl.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         #include <unistd.h>\n\n#define READS 32\nstatic _Atomic unsigned long values[26];\nstatic long seen[READS];\n",
    );
    let (mut bodies, mut reads, mut variables) = (String::new(), String::new(), String::new());
    for (number, code) in codes.iter().enumerate() {
        let (mut names, mut count) = (String::new(), 0);
        for (thread, instructions) in code.threads.iter().enumerate() {
            let name = format!("body_{number}_{thread}");
            write!(text, "static void *{name}(void *unused) {{\n    unsigned long read = 0;\n")
                .unwrap();
            for (number, &instruction) in instructions.iter().enumerate() {
                if matches!(instructions.get(number + 1), Some(Instruction::Await(_))) {
                    writeln!(text, "at{number}:").unwrap();
                }
                writeln!(text, "    {}", statement(number, instruction)).unwrap();
                if instruction.reads() {
                    writeln!(text, "    seen[{count}] = (long)read;").unwrap();
                    count += 1;
                }
            }
            text += "    (void)read;\n    return unused;\n}\n";
            write!(names, "{name}, ").unwrap();
        }
        writeln!(bodies, "    {{{names}0}},").unwrap();
        write!(reads, "{count}, ").unwrap();
        write!(variables, "\"{}\", ", code.variables().into_iter().collect::<String>()).unwrap();
    }
    write!(
        text,
        "static void *(*const bodies[][8])(void *) = {{\n{bodies}}};\nstatic const int reads[] = {{{reads}}};\n\
         static const char *const variables[] = {{{variables}}};\n{MAIN}"
    )
    .unwrap();
    text
}

/// Returns the name of the file for an outcome.
fn file(outcome: &Outcome) -> String {
    let read = outcome.read.iter().map(|value| match value {
        Some(value) => format!("{value} "),
        None => "_ ".to_owned(),
    });
    let last = outcome.last.iter().map(|(variable, value)| format!("{variable}{value} "));
    read.chain(last).collect()
}

/// Checks the program for each of these with a strategy, which must find all outcomes and graphs, and no others.
fn check(name: &str, codes: &[Code], strategy: &str) {
    let world = World::new(name);
    let program = world.build_text("litmus.c", &source(codes), &["-Wno-unused"]);
    for (number, code) in codes.iter().enumerate() {
        let consistent = axioms::consistent(code);
        let allowed: BTreeSet<String> = consistent.values().map(file).collect();
        let folder = world.path(&format!("outcomes/{number}"));
        fs::create_dir_all(&folder).unwrap();
        let options = ["run", "--memory", "rc11", "--strategy", strategy, "--time", "60s"];
        let number = number.to_string();
        let words = ["--runs", "1_000_000", "--format", "json", "--", &program, &number];
        let done = world.raddle(&[&options[..], &words].concat()).ends_with(0);
        assert!(done.executions().1, "{strategy} `{code}`: {}", done.text);
        let entries = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        let seen: BTreeSet<String> = entries.map(|name| name.into_string().unwrap()).collect();
        assert_eq!(seen, allowed, "{strategy}: the outcomes of `{code}`");
        let graphs = consistent.len() as u64;
        assert_eq!(done.number("classes"), graphs, "{strategy}: the graphs of `{code}`");
    }
}

fn is_full() -> bool {
    std::env::var_os("RADDLE_TEST_SCALE").is_some()
}

/// The tests of the literature: a part of them, or all with `RADDLE_TEST_SCALE`.
#[test]
fn programs_in_c_have_the_outcomes_of_the_axioms() {
    let step = if is_full() { 1 } else { 4 };
    let tests = TESTS.iter().chain(MORE).step_by(step);
    let codes: Vec<Code> = tests.map(|test| test.code.parse().unwrap()).collect();
    check("litmus", &codes, "dpor");
    if is_full() {
        check("litmus_dfs", &codes, "dfs");
    }
}

/// Random programs with all kinds of instructions and memory orderings.
#[test]
fn random_programs_in_c_have_the_outcomes_of_the_axioms() {
    let mut rng = Rng::new(21);
    let count = if is_full() { 500 } else { 8 };
    let any = || random_code(&mut rng, 8, 20_000);
    let codes = std::iter::repeat_with(any).filter(is_for_gcc).take(count);
    check("random_litmus", &codes.collect::<Vec<_>>(), "dpor");
}

/// Compilers make an exchange stronger whose ordering of failure is not allowed by older standards.
fn is_for_gcc(code: &Code) -> bool {
    let is_allowed = |instruction: &Instruction| match *instruction {
        Instruction::Exchange(.., success, failure) => {
            failure == Order::Relaxed
                || success == Order::SeqCst
                || failure == Order::Acquire && matches!(success, Order::Acquire | Order::AcqRel)
        }
        _ => true,
    };
    code.threads.iter().flatten().all(is_allowed)
}
