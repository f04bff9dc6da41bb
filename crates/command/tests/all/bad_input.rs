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
    let mut bytes = std::fs::read(world.path("deadlock")).unwrap();
    // The class of the file.
    bytes[4] = 1;
    std::fs::write(world.path("narrow"), bytes).unwrap();
    world.run("chmod", &["+x", "narrow"]).ends_with(0);
    world.raddle(&["run", "./narrow"]).ends_with(2).says(&["is a 32-bit program"]);
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
    let world = World::new("refused");
    world.build("plugin.c", &["-shared", "-fPIC"]);
    std::fs::rename(world.path("plugin"), world.path("plugin.so")).unwrap();
    let program = world.build("refused.c", &["-ldl"]);
    for (which, expected) in [
        ("fork", "calls `fork`"),
        ("vfork", "system call `vfork`"),
        ("system", "calls `system`"),
        ("popen", "calls `popen`"),
        ("posix_spawn", "starts a process by `posix_spawn`"),
        ("execve", "system call `execve`"),
        ("pthread_cancel", "calls `pthread_cancel`"),
        ("pthread_sigqueue", "system call `rt_tgsigqueueinfo`"),
        ("sem_open", "calls `sem_open`"),
        ("futex_pi", "system call `futex` with operation 6 (priority inheritance"),
        ("dlopen", "plugin.so by `dlopen`, which is instrumented"),
        ("alarm", "system call `alarm`"),
    ] {
        let done = world.raddle(&["run", &program, which]).ends_with(2);
        done.says(&[expected, "raddle does not model"]);
    }
    world.raddle(&["run", &program, "none"]).ends_with(0).says(&["exhaustive"]);
}

/// A program's signals: to itself, to a thread that waits for them, and to threads that they would interrupt.
#[test]
fn signals_are_modelled_or_refused() {
    let world = World::new("signals");
    let program = world.build("signals.c", &[]);
    for which in ["raises", "waits", "suspends", "times_out"] {
        for strategy in ["dfs", "dpor", "pos"] {
            let words = ["run", "--strategy", strategy, "--runs", "2000", &program, which];
            world.raddle(&words).ends_with(0);
        }
    }
    for (which, expected) in [
        ("raises", "nothing to explore"),
        ("waits", "exhaustive: 8 classes, 8 executions"),
        ("suspends", "exhaustive: 10 classes, 10 executions"),
        ("times_out", "exhaustive: 1 class, 1 execution"),
    ] {
        world.raddle(&["run", &program, which]).ends_with(0).says(&[expected]);
    }
    for (which, expected) in [
        ("ends", "the program ends itself by SIGTERM"),
        ("ends_by_kill", "the program ends itself by SIGINT"),
        ("waits_forever", "deadlock: no thread is runnable"),
    ] {
        world.raddle(&["run", &program, which]).ends_with(1).says(&[expected, "signals.c:"]);
    }
    for (which, expected) in [
        ("interrupts", "sends SIGUSR1 by `pthread_kill`"),
        ("unblocks", "sends SIGUSR1 by `pthread_kill`"),
        ("tgkill", "sends SIGUSR1 by `tgkill`"),
        ("process", "sends SIGUSR1 by `kill`"),
        ("other_process", "sends a signal to another process by `kill`"),
    ] {
        let done = world.raddle(&["run", &program, which]).ends_with(2);
        done.says(&[expected, "raddle does not model"]);
    }
}

#[test]
fn a_program_that_hangs_is_reported() {
    let world = World::new("hang");
    let program = world.build("hang.c", &[]);
    let done = world.raddle(&["run", "--watchdog", "200ms", &program]).ends_with(1);
    done.says(&["the program hangs", "hang.c:"]);
    for backend in ["fork", "snapshot"] {
        let words = ["run", "--watchdog", "200ms", "--backend", backend, &program];
        world.raddle(&words).ends_with(1).says(&["the program hangs"]);
        assert_eq!(world.processes("hang"), [""; 0].map(std::path::PathBuf::from), "{backend}");
        // Nothing is left of a check whose command was killed.
        let words = ["run", "--watchdog", "60s", "--time", "60s", "--backend", backend, &program];
        let mut command = world.start(&words);
        wait_until(|| !world.processes("hang").is_empty());
        command.kill().unwrap();
        command.wait().unwrap();
        wait_until(|| world.processes("hang").is_empty());
    }
}

/// Programs that never end, and programs that wait for the outside, which is no failure of theirs.
#[test]
fn programs_without_an_end() {
    let world = World::new("endless");
    let program = world.build("endless.c", &[]);
    let options = ["run", "--watchdog", "200ms", "--max-steps", "10000", "--explain", "off"];
    for which in ["loads", "yields", "sleeps"] {
        let done = world.raddle(&[&options[..], &[&program, which]].concat()).ends_with(1);
        done.says(&["thread 1 waits forever in a loop", "endless.c:"]);
    }
    let done = world.raddle(&[&options[..], &[&program, "adds"]].concat()).ends_with(1);
    done.says(&["an execution did not end within 10,000 steps", "endless.c:"]);
    let done = world.raddle(&[&options[..], &[&program, "computes"]].concat()).ends_with(1);
    done.says(&["the program hangs", "endless.c:"]);
    let waits = "waits in the system call `read`, for a terminal, a pipe";
    let words = [&options[..], &["--backend", "fork", &program, "pipe"]].concat();
    world.raddle(&words).ends_with(2).says(&[waits]);
    world.raddle(&[&options[..], &[&program, "pipe"]].concat()).ends_with(2).says(&[waits]);
    // `script` gives the command a terminal.
    let raddle = env!("CARGO_BIN_EXE_raddle");
    let command = format!("{raddle} {} {program} terminal", options.join(" "));
    if world.run("sh", &["-c", "command -v script"]).text.is_empty() {
        eprintln!("script is not installed, so no program has read a terminal");
    } else {
        let words = ["-qec", &command, "/dev/null"];
        world.run("script", &words).ends_with(2).says(&[waits]);
    }
    wait_until(|| world.processes("endless").is_empty());
}

#[track_caller]
fn wait_until(condition: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !condition() {
        assert!(start.elapsed().as_secs() < 20, "it takes too long");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Without debug information places are numbers, and the report says what helps.
#[test]
fn a_program_without_debug_information() {
    let world = World::new("stripped");
    let program = world.build("deadlock.c", &[]);
    world.run("strip", &["--strip-debug", &program]).ends_with(0);
    let done = world.raddle(&["run", &program]).ends_with(1);
    done.says(&["deadlock", "has no debug information; compile it with `-g`"]);
}

#[test]
fn words_that_are_not_known() {
    let world = World::new("words");
    let program = world.build("deadlock.c", &[]);
    world.raddle(&[]).ends_with(2).says(&["usage:"]);
    world.raddle(&["walk"]).ends_with(2).says(&["`walk` is not a command"]);
    world.raddle(&["help"]).ends_with(0).says(&["--strategy", "--stdin"]);
    world.raddle(&["run", "--strategy", "lucky", &program]).ends_with(2).says(&["RADDLE_STRATEGY"]);
    world.raddle(&["run", "--spurious", "1", &program]).ends_with(2).says(&["RADDLE_SPURIOUS"]);
    let words = ["run", "--strategy", "mcr", "--memory", "rc11", &program];
    world.raddle(&words).ends_with(2).says(&["mcr"]);
    world
        .raddle(&["run", "--expect", "none", &program])
        .ends_with(2)
        .says(&["there is no file none"]);
    world.raddle(&["replay", "r1-none"]).ends_with(2).says(&["raddle list"]);
    world.raddle(&["run", "--replay", "r1-none", &program]).ends_with(2).says(&["token"]);
    world.raddle(&["doctor"]).ends_with(0).says(&["FSGSBASE", "glibc"]);
}
