//! A broken invariant of raddle is a panic that says so, never a finding about the program.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle::{Config, Finding, Panics, thread};
use raddle_strategy::Pct;

use crate::support::{child, child_case};

/// Panics inside of a crate below the mirror.
fn break_raddle() {
    std::hint::black_box(Pct::new(std::hint::black_box(0)));
}

/// Returns the text with which a check panics.
fn text_of(config: Config, program: fn()) -> String {
    let report = catch_unwind(AssertUnwindSafe(|| config.run(program)));
    let payload = report.map(|report| raddle::text(&report)).expect_err("raddle is broken");
    *payload.downcast::<String>().expect("a text")
}

#[test]
fn a_panic_inside_of_raddle_is_no_finding() {
    let programs: [fn(); 4] = [
        break_raddle,
        || thread::spawn(break_raddle).join().unwrap(),
        // The program hides the panic.
        || assert!(catch_unwind(break_raddle).is_err()),
        || assert!(thread::spawn(break_raddle).join().is_err()),
    ];
    for program in programs {
        for panics in [Panics::Fail, Panics::Join] {
            for strategy in ["auto", "dpor", "random"] {
                let text = text_of(Config::new().strategy(strategy).panics(panics), program);
                assert!(text.starts_with("raddle has a bug"), "{text}");
                assert!(text.contains("the depth of a bug is at least 1"), "{text}");
                assert!(text.contains("pct.rs:") && text.contains("Please report it"), "{text}");
                assert!(text.contains("execution: r1-"), "{text}");
            }
        }
    }
    // Later checks on this OS thread are not affected.
    assert!(Config::new().run(|| thread::spawn(|| ()).join().unwrap()).failure().is_none());
}

/// The search makes runs on other OS threads, too.
#[test]
fn a_panic_inside_of_raddle_on_another_os_thread() {
    let text = text_of(Config::new().strategy("random").threads(2), break_raddle);
    assert!(text.starts_with("raddle has a bug"), "{text}");
}

/// The mirror panics where `std` does. That is a failure of the program.
#[test]
fn a_panic_of_the_mirror_is_a_finding() {
    use raddle::sync::atomic::{AtomicU32, Ordering};
    let programs: [fn(); 3] = [
        || _ = AtomicU32::new(0).load(std::hint::black_box(Ordering::Release)),
        || _ = raddle::choose(0),
        || panic!("raddle invariants are not broken"),
    ];
    for program in programs {
        let report = Config::new().run(program);
        let finding = report.failure().map(|failure| &failure.finding);
        assert!(matches!(finding, Some(Finding::Panic(_))), "{}", raddle::text(&report));
    }
}

#[test]
fn child_entry() {
    if child_case().as_deref() == Some("raddle panics twice") {
        struct Breaks;
        impl Drop for Breaks {
            fn drop(&mut self) {
                break_raddle();
            }
        }
        Config::new().run(|| {
            let _breaks = Breaks;
            break_raddle();
        });
    }
}

/// Rust ends the process, and the message still names the reason.
#[test]
fn a_second_panic_inside_of_raddle() {
    let output = child("own_bugs::child_entry", "raddle panics twice");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("raddle has a bug"), "{text}");
}
