//! `cargo raddle` with a crate that knows nothing of raddle.

use crate::world::World;

fn world(name: &str) -> World {
    let world = World::new(name);
    world.copy_crate("fixture");
    world
}

/// Each test has its result, and the failures can be replayed by the commands that are printed.
#[test]
fn tests_have_their_results() {
    let world = world("cargo_results");
    let done = world.cargo_raddle("fixture", &["test", "--time", "1s"]).ends_with(100).says(&[
        "FAIL",
        "fixture tests::lost_update  (assertion `left == right` failed: an update is lost: left: 1, right: 2)",
        "fixture tests::deadlock  (deadlock: 2 threads wait for one another)",
        "8 tests: 6 passed, 2 failed, 0 inconclusive, 1 skipped",
        "replayed once: it fails in the same way",
        "panicked at src/lib.rs:",
        "Mutex::lock: Mutex",
        "(held by thread 1, acquired at src/lib.rs:48)",
        "48 │     let _first = b2.lock().unwrap();",
    ]);
    for passed in [
        "tests::passes",
        "tests::panics_on_purpose",
        "tests::returns_a_result",
        "time::sleeping_long_enough_is_enough",
        "time::waits_time_out_in_order",
        "time::loops_see_time_pass",
    ] {
        let line = done.text.lines().find(|line| line.contains(&format!("{passed}  ")));
        assert!(
            line.is_some_and(|line| line.trim().starts_with("PASS")),
            "{passed}: {}",
            done.text
        );
    }
    let commands: Vec<&str> = done
        .text
        .lines()
        .filter_map(|line| line.split_once("replay: cargo raddle ").map(|(_, words)| words))
        .collect();
    assert_eq!(commands.len(), 2, "{}", done.text);
    for command in commands {
        let words: Vec<&str> = command.split_whitespace().collect();
        world.cargo_raddle("fixture", &words).ends_with(100).says(&["replayed from its token"]);
        world.cargo_raddle("fixture", &["list"]).ends_with(0).says(&[command]);
    }
    // The other words of `cargo test`, with what is built already.
    world
        .cargo_raddle("fixture", &["test", "tests::passes", "--", "--exact"])
        .ends_with(0)
        .says(&["1 tests: 1 passed", "8 skipped"]);
    world.cargo_raddle("fixture", &["test", "is_ignored", "--ignored"]).ends_with(0);
    world.cargo_raddle("fixture", &["test", "no_such_test"]).ends_with(4).says(&["no tests"]);
    world
        .cargo_raddle("fixture", &["replay", "fixture/tests::none/0/r1-x"])
        .ends_with(2)
        .says(&["has no test tests::none"]);
}

#[test]
fn what_cannot_be_done_is_said() {
    let world = world("cargo_bad_input");
    for (words, code, expected) in [
        (&["test", "--features", "broken"][..], 101, "this feature breaks the build"),
        (&["test", "-p", "other"], 101, "other"),
        (&["test", "--strategy", "fastest"], 2, "fastest"),
        (&["test", "--target", "wasm32-unknown-unknown"], 2, "chosen by raddle"),
        (&["replay"], 2, "which token?"),
        (&["replay", "r1-x"], 2, "is no token of a test"),
        (&["tset"], 2, "`tset` is not a command"),
        (&["help"], 0, "--strategy"),
    ] {
        world.cargo_raddle("fixture", words).ends_with(code).says(&[expected]);
    }
    let words = ["test", "--manifest-path", "none/Cargo.toml"];
    world.cargo_raddle("fixture", &words).ends_with(2).says(&["none/Cargo.toml"]);
}
