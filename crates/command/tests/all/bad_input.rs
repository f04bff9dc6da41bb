//! What cannot be checked is refused with advice, and nothing hangs.

use crate::world::World;

#[test]
fn programs_that_cannot_be_checked() {
    let world = World::new("bad_programs");
    let program = world.build("deadlock.c", &[]);
    world.raddle(&["run", "./none"]).ends_with(2).says(&["there is no program ./none"]);
    std::fs::write(world.path("text"), "hello").unwrap();
    world.raddle(&["run", "./text"]).ends_with(2).says(&["is not executable"]);
    std::fs::write(world.path("script"), "#!/bin/sh\n").unwrap();
    world.run("chmod", &["+x", "script", "text"]).ends_with(0);
    world.raddle(&["run", "./script"]).ends_with(2).says(&["is a script"]);
    world.raddle(&["run", "./text"]).ends_with(2).says(&["is not a program for Linux on x86-64"]);
    world.run("chmod", &["u+s", &program]).ends_with(0);
    world.raddle(&["run", &program]).ends_with(2).says(&["setuid"]);
    world.run("gcc", &["-static", "deadlock.c", "-o", "static"]).ends_with(0);
    world.raddle(&["run", "./static"]).ends_with(2).says(&["linked statically"]);
    world.raddle(&["cc", "-static", "deadlock.c"]).ends_with(2).says(&["leave it out"]);
}

#[test]
fn a_program_with_the_real_sanitizer_is_refused() {
    let world = World::new("real_tsan");
    world.build("deadlock.c", &[]);
    world.run("gcc", &["-fsanitize=thread", "deadlock.c", "-o", "real"]).ends_with(0);
    let done = world.raddle(&["run", "./real"]).ends_with(2);
    done.says(&["is linked with ThreadSanitizer's own library", "raddle cc"]);
}

#[test]
fn a_program_that_is_not_instrumented_is_checked_by_its_calls() {
    let world = World::new("plain");
    world.build("deadlock.c", &[]);
    world.run("gcc", &["-g", "deadlock.c", "-o", "plain", "-pthread"]).ends_with(0);
    let done = world.raddle(&["run", "./plain"]).ends_with(1);
    done.says(&["deadlock.c:15", "is not instrumented"]);
}

#[test]
fn what_is_not_modelled_is_refused_by_name() {
    let world = World::new("forks");
    let program = world.build("forks.c", &[]);
    world.raddle(&["run", &program]).ends_with(2).says(&["calls `fork`"]);
}

#[test]
fn a_program_that_hangs_is_reported() {
    let world = World::new("hang");
    let program = world.build("hang.c", &[]);
    let done = world.raddle(&["run", "--watchdog", "200ms", &program]).ends_with(1);
    done.says(&["the program hangs", "hang.c:"]);
}

#[test]
fn words_that_are_not_known() {
    let world = World::new("words");
    let program = world.build("deadlock.c", &[]);
    world.raddle(&[]).ends_with(2).says(&["usage:"]);
    world.raddle(&["walk"]).ends_with(2).says(&["`walk` is not a command"]);
    world.raddle(&["help"]).ends_with(0).says(&["--strategy", "--stdin"]);
    world.raddle(&["run", "--strategy", "lucky", &program]).ends_with(2).says(&["RADDLE_STRATEGY"]);
    world.raddle(&["run", "--threads", "2", &program]).ends_with(2).says(&["one OS thread"]);
    world.raddle(&["run", "--spurious", "1", &program]).ends_with(2).says(&["RADDLE_SPURIOUS"]);
    let words = ["run", "--strategy", "mcr", "--memory", "rc11", &program];
    world.raddle(&words).ends_with(2).says(&["mcr"]);
    world.raddle(&["replay", "r1-none"]).ends_with(2).says(&["raddle list"]);
    world.raddle(&["run", "--replay", "r1-none", &program]).ends_with(2).says(&["token"]);
    world.raddle(&["doctor"]).ends_with(0).says(&["FSGSBASE", "glibc"]);
}
