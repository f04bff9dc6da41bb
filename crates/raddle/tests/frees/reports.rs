//! What a report says about freed memory.

use raddle::sync::atomic::{AtomicU32, Ordering::*};
use raddle::{Config, Finding, thread};

fn free(number: *mut AtomicU32) {
    // SAFETY: broken: the other thread uses the number.
    drop(unsafe { Box::from_raw(number) });
}

fn program() {
    let number = Box::into_raw(Box::new(AtomicU32::new(7)));
    let address = number as usize;
    let other = thread::spawn(move || {
        // SAFETY: the memory is there until the execution ends.
        unsafe { &*(address as *const AtomicU32) }.load(SeqCst)
    });
    free(number);
    other.join().unwrap();
}

#[test]
fn both_places_are_named() {
    let report = Config::new().strategy("dpor").run(program);
    let failure = report.failure().expect("a failure");
    let Finding::UseAfterFree { freed, access, .. } = &failure.finding else {
        panic!("{}", raddle::text(&report));
    };
    assert!(access.site.to_string().contains("reports.rs"), "{}", access.site);
    assert!(freed.stack.as_ref().is_some_and(|stack| stack.contains("reports::free")));
    let text = raddle::text(&report);
    assert!(
        text.contains("use after free: thread 1 uses") && text.contains("reports::free"),
        "{text}"
    );
    assert!(!raddle::json(&report).is_empty() && raddle::html(&report).contains("use after free"));
}

#[test]
fn a_token_replays_it() {
    let report = Config::new().strategy("random").run(program);
    let token = &report.failure().expect("a failure").token;
    let again = Config::new().replay(token).run(program);
    assert!(matches!(again.failure().unwrap().finding, Finding::UseAfterFree { .. }));
}
