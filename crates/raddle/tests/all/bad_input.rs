//! Invalid settings, tokens and programs: each gives a message with advice.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::sync::{Arc, Mutex};
use raddle::{Config, Finding, Report, Verdict, thread};

fn message(config: Config, program: fn()) -> String {
    config.try_run(program).expect_err("this makes no sense").to_string()
}

fn two_threads() {
    let counter = Arc::new(AtomicUsize::new(0));
    let other = thread::spawn({
        let counter = counter.clone();
        move || counter.fetch_add(1, SeqCst)
    });
    counter.fetch_add(1, SeqCst);
    other.join().unwrap();
}

fn fails_in_two_threads() {
    two_threads();
    panic!("always");
}

/// Returns the token of a failing run of `program`.
fn token(name: &'static str, program: fn()) -> String {
    Config::new().name(name).run(program).failure().unwrap().token.clone()
}

#[test]
fn an_unknown_strategy() {
    let text = message(Config::new().strategy("lucky"), two_threads);
    assert!(text.contains("unknown strategy `lucky`") && text.contains("pct:D"), "{text}");
}

#[test]
fn settings_that_allow_nothing() {
    for (config, what) in [
        (Config::new().runs(0), "zero runs check nothing"),
        (Config::new().max_steps(0), "zero steps"),
        (Config::new().threads(0), "at least one and at most 1024 OS threads"),
        (Config::new().threads(5000), "at least one and at most 1024 OS threads"),
        (Config::new().stack_size(100), "16 KiB"),
    ] {
        let text = message(config, two_threads);
        assert!(text.contains(what), "{text}");
    }
}

#[test]
fn run_panics_with_the_same_message() {
    let panic = catch_unwind(|| Config::new().runs(0).run(two_threads)).unwrap_err();
    let text = panic.downcast::<String>().unwrap();
    assert!(text.starts_with("raddle: zero runs check nothing"), "{text}");
}

#[test]
fn texts_that_are_not_tokens() {
    for word in ["hello", "r2-AAAA", ""] {
        let text = message(Config::new().replay(word), two_threads);
        assert!(text.contains("tokens begin with `r1-`"), "{text}");
    }
    for word in ["r1-", "r1-AAAAAAAA", "r1-????"] {
        let text = message(Config::new().replay(word), two_threads);
        assert!(text.contains("damaged replay token"), "{text}");
    }
    let whole = token("a", fails_in_two_threads);
    let text = message(Config::new().name("a").replay(&whole[..whole.len() - 2]), two_threads);
    assert!(text.contains("copy all of it"), "{text}");
}

#[test]
fn the_token_of_another_check() {
    let foreign = token("a", fails_in_two_threads);
    let text = message(Config::new().name("b").replay(foreign), fails_in_two_threads);
    assert!(text.contains("was not made by the check `b`"), "{text}");
}

#[test]
fn the_token_of_a_program_that_has_changed() {
    let old = token("changed", fails_in_two_threads);
    let shorter = message(Config::new().name("changed").replay(&old), || {});
    assert!(shorter.contains("has changed since the token was made"), "{shorter}");
    let longer = message(Config::new().name("changed").replay(&old), || {
        two_threads();
        two_threads();
    });
    assert!(longer.contains("has changed since the token was made"), "{longer}");
    let gone = message(Config::new().name("changed").replay(&old), two_threads);
    assert!(gone.contains("has changed since the token was made"), "{gone}");
}

#[test]
fn a_program_without_threads() {
    let report = Config::new().name("alone").run(|| {
        let mutex = Mutex::new(1);
        *mutex.lock().unwrap() += 1;
    });
    assert!(matches!(report.verdict, Verdict::NothingToExplore), "{:?}", report.verdict);
    assert_eq!(
        raddle::text(&report),
        "raddle: test `alone` ok — nothing to explore: the program runs one thread and makes no \
         choices; it ran without failing"
    );
}

#[test]
fn an_empty_program_under_every_strategy() {
    for strategy in ["random", "round-robin", "pct:3", "dfs", "dpor", "auto"] {
        let report = Config::new().strategy(strategy).run(|| {});
        assert!(matches!(report.verdict, Verdict::NothingToExplore), "{strategy}");
    }
}

#[test]
fn a_choice_with_bound_zero() {
    let outside = catch_unwind(|| raddle::choose(0)).unwrap_err();
    let text = outside.downcast_ref::<&str>().unwrap();
    assert!(text.contains("nothing to choose from"), "{text}");
    let report = Config::new().run(|| {
        raddle::choose(0);
    });
    assert!(panic_message(&report).contains("nothing to choose from"));
}

#[test]
fn a_check_inside_a_check() {
    let report = Config::new().run(|| raddle::check(two_threads));
    let text = panic_message(&report);
    assert!(text.contains("checks do not nest"), "{text}");
    // Later checks are not affected.
    assert!(Config::new().run(two_threads).failure().is_none());
}

#[test]
fn a_handle_used_outside_its_execution() {
    let slot = Arc::new(std::sync::Mutex::new(None));
    let report = Config::new().runs(1).run({
        let slot = slot.clone();
        move || *slot.lock().unwrap() = Some(thread::spawn(|| 1))
    });
    assert!(report.failure().is_none(), "{}", raddle::text(&report));
    let handle = slot.lock().unwrap().take().unwrap();
    let panic = catch_unwind(AssertUnwindSafe(|| handle.join())).unwrap_err();
    let text = panic.downcast_ref::<&str>().unwrap();
    assert!(text.contains("outside the execution that spawned its thread"), "{text}");
}

#[test]
fn a_panic_whose_payload_is_not_a_string() {
    let report = Config::new().run(|| std::panic::panic_any(7));
    assert_eq!(panic_message(&report), "a panic whose payload is not a string");
}

fn panic_message(report: &Report) -> String {
    match &report.failure().expect("it panics").finding {
        Finding::Panic(panic) => panic.message.clone(),
        other => panic!("no panic: {other:?}"),
    }
}

/// Run by `a_bad_environment` in another process. Otherwise it is an ordinary check.
#[test]
fn victim() {
    raddle::check(two_threads);
}

#[test]
fn a_bad_environment() {
    for (name, value, hint) in [
        ("RADDLE_STRATEGY", "lucky", "RADDLE_STRATEGY: unknown strategy `lucky`"),
        ("RADDLE_RUNS", "0", "zero runs check nothing"),
        ("RADDLE_RUNS", "many", "RADDLE_RUNS=10_000"),
        ("RADDLE_TIME", "10", "500ms, 10s or 2m"),
        ("RADDLE_REPLAY", "r1-nonsense", "damaged replay token"),
        ("RADDLE_STRATGY", "dfs", "RADDLE_STRATGY is not a setting; did you mean RADDLE_STRATEGY?"),
    ] {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "bad_input::victim"])
            .env(name, value)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!output.status.success() && text.contains(hint), "{name}={value}: {text}");
    }
}
