//! What executions print.

use raddle::sync::Arc;
use raddle::sync::atomic::{AtomicU32, Ordering::SeqCst};
use raddle::{Config, thread};

/// Fails if the thread is late. Every execution prints.
fn prints() {
    use raddle::{eprintln, print, println};
    let value = Arc::new(AtomicU32::new(0));
    let other = value.clone();
    let thread = thread::spawn(move || {
        println!("stores\n1");
        other.store(1, SeqCst);
    });
    eprintln!("main saw {}", value.load(SeqCst));
    print!("joins");
    thread.join().unwrap();
    println!();
    assert_eq!(value.fetch_add(1, SeqCst), 0);
}

#[test]
fn a_report_shows_what_the_failing_execution_printed() {
    let report = Config::new().strategy("random").run(prints);
    let text = report.to_string();
    for (line, times) in
        [("prints: stores", 1), ("prints: 1", 1), ("prints: main saw ", 1), ("prints: joins", 1)]
    {
        assert_eq!(text.matches(line).count(), times, "{line}\n{text}");
    }
    assert!(text.contains("tests/all/printing.rs:13\n"), "{text}");
    assert!(report.to_json().contains(r#""output""#));
    assert!(report.to_html().contains("prints: stores"));
    // What is printed depends on the schedule, and the replay prints the same.
    let again =
        Config::new().strategy("random").replay(&report.failure().unwrap().token).run(prints);
    let notes = |report: &raddle::Report| report.failure().unwrap().trace.notes().to_vec();
    assert_eq!(notes(&report), notes(&again));
}

/// Arguments may be steps, so they are evaluated in every execution.
#[test]
fn arguments_are_evaluated_in_every_execution() {
    let report = Config::new().strategy("dfs").run(|| {
        let value = AtomicU32::new(7);
        raddle::println!("{}", value.load(SeqCst));
        raddle::eprint!("{}", value.load(SeqCst));
    });
    assert_eq!((report.executions, report.steps), (1, 3));
}

/// The macros of raddle stand for those of `std` in the function of a test.
#[raddle::test(runs = 3, name = "attribute")]
#[should_panic(expected = "prints: drawn")]
fn in_a_test_the_macros_stand_for_those_of_std() {
    let show = |drawn: u32| println!("drawn {drawn}");
    show(raddle::choose(5));
    eprint!("{}", 1);
    std::println!("and this is printed");
    panic!("at the end");
}

#[test]
fn outside_of_executions_they_are_those_of_std() {
    raddle::println!("{}", 1);
    raddle::print!("");
    raddle::eprintln!();
    raddle::eprint!("{x}", x = 2);
    raddle::println!();
}
