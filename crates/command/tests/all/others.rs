//! Other compilers and programs that were not written for this, where they are installed. A test says what was seen.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::world::World;

fn is_installed(world: &World, name: &str) -> bool {
    let is_installed = !world.run("sh", &["-c", &format!("command -v {name}")]).text.is_empty();
    if !is_installed {
        eprintln!("{name} is not installed, and was not tried");
    }
    is_installed
}

#[test]
fn programs_that_clang_compiled() {
    let world = World::new("clang");
    if !is_installed(&world, "clang") || !is_installed(&world, "clang++") {
        return;
    }
    let raddle = env!("CARGO_BIN_EXE_raddle");
    for (source, options, code, expected) in [
        ("deadlock.c", "", 1, "deadlock.c:15"),
        ("lost_update.c", "", 1, "assertion failed: counter == 2"),
        ("plain_counter.c", "", 1, "assertion failed: counter == 2"),
        ("store_buffering.c", "--memory rc11", 1, "assertion failed: first || second"),
        ("sizes.c", "", 1, "assertion failed: low == high"),
        ("futex_lock.c", "--strategy dpor", 0, "exhaustive: 42 classes, 42 executions"),
        ("lost_wakeup.cpp", "", 1, "lost_wakeup.cpp:15"),
        ("guards.cpp", "", 0, "exhaustive"),
    ] {
        world.build(source, &[]);
        let word = if source.ends_with(".c") { "CC=clang" } else { "CXX=clang++" };
        let compile = if source.ends_with(".c") { "cc" } else { "c++" };
        let words = format!(
            "{word} {raddle} {compile} -O1 {source} -o program && {raddle} run {options} ./program"
        );
        world.run("sh", &["-c", &words]).ends_with(code).says(&[expected]);
    }
}

/// Programs of Debian, as they are: without instrumentation. pbzip2 and lbzip2 have a thread that waits for signals.
#[test]
fn programs_of_debian() {
    let world = World::new("debian");
    let text = "some text that can be compressed\n".repeat(10_000);
    fs::write(world.path("data"), text).unwrap();
    let data = world.path("data").display().to_string();
    for words in ["pigz -c -p 2 -b 128", "pbzip2 -c -p2 -b1", "lbzip2 -c -n 2 --keep"] {
        let words: Vec<&str> = words.split(' ').chain([&data[..]]).collect();
        if !is_installed(&world, words[0]) {
            continue;
        }
        let options = ["run", "--runs", "10", "--time", "60s", "--fresh-folder", "true", "--"];
        let done = world.raddle(&[&options[..], &words].concat()).ends_with(0);
        let done = done.says(&["is not instrumented", "sampled: 10 executions"]);
        eprintln!("{}: {}", words[0], done.text.lines().next().unwrap_or_default());
    }
}

/// `CC` may name raddle in a way that the command cannot see: under another name, or behind a launcher such as ccache.
#[test]
fn a_compiler_that_calls_raddle_again_ends() {
    let world = World::new("compiler_is_raddle");
    let raddle = env!("CARGO_BIN_EXE_raddle");
    let launcher = format!(
        "#!/bin/sh\necho called >> calls\n[ $(wc -l < calls) -lt 9 ] || exit 9\nexec {raddle} cc \"$@\"\n"
    );
    fs::write(world.path("launcher"), launcher).unwrap();
    fs::set_permissions(world.path("launcher"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(world.path("empty.c"), "int main(void) { return 0; }\n").unwrap();
    let words = ["CC=./launcher", raddle, "cc", "empty.c", "-o", "empty"];
    world.run("env", &words).ends_with(0);
    // Once to compile, and once to ask for its version.
    assert_eq!(fs::read_to_string(world.path("calls")).unwrap().lines().count(), 2);
}
