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
    let Finding::UseAfterFree { freed, access, stack, .. } = &failure.finding else {
        panic!("{}", raddle::text(&report));
    };
    assert!(access.site.to_string().contains("reports.rs"), "{}", access.site);
    assert!(freed.stack.as_ref().is_some_and(|stack| stack.contains("reports::free")));
    assert!(stack.as_ref().is_some_and(|stack| stack.contains("reports::program::{{closure}}")));
    let text = raddle::text(&report);
    assert!(
        text.contains("use after free: thread 1 uses") && text.contains("reports::free"),
        "{text}"
    );
    assert!(!report.to_json().is_empty() && report.to_html().contains("use after free"));
}

/// Both threads free a number that no thread has used, or, if `is_object` is false, memory with no object in it.
fn program_that_frees_twice(is_object: bool) {
    let layout = std::alloc::Layout::new::<[u64; 4]>();
    let address = if is_object {
        Box::into_raw(Box::new(AtomicU32::new(7))) as usize
    } else {
        // SAFETY: the layout is not empty.
        unsafe { std::alloc::alloc(layout) as usize }
    };
    let free = move || {
        thread::yield_now();
        if is_object {
            free(address as *mut AtomicU32);
        } else {
            // SAFETY: broken: the other thread frees it, too.
            unsafe { std::alloc::dealloc(address as *mut u8, layout) };
        }
    };
    let other = thread::spawn(free);
    free();
    other.join().unwrap();
}

#[test]
fn both_frees_are_named() {
    for is_object in [true, false] {
        for strategy in ["dpor", "random"] {
            let config = Config::new().strategy(strategy);
            let report = config.run(move || program_that_frees_twice(is_object));
            let text = raddle::text(&report);
            let failure = report.failure().expect("a failure");
            let Finding::FreedTwice { first, second } = &failure.finding else { panic!("{text}") };
            for freed in [first, second] {
                let is_named = |stack: &String| stack.contains("program_that_frees_twice");
                assert!(freed.stack.as_ref().is_some_and(is_named), "{text}");
            }
            assert!(text.contains("freed twice: object 1, by"), "{text}");
            assert!(text.matches("stack of the ").count() == 2, "{text}");
            assert_eq!(text.contains("object 1  made at"), is_object, "{text}");
        }
    }
}

#[test]
fn a_token_replays_it() {
    let report = Config::new().strategy("random").run(program);
    let token = &report.failure().expect("a failure").token;
    let again = Config::new().replay(token).run(program);
    assert!(matches!(again.failure().unwrap().finding, Finding::UseAfterFree { .. }));
}
