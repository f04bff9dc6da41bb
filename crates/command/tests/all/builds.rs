//! Build systems with `raddle cc` and `raddle c++` as compilers, and the commands of README.md.

use std::fs;
use std::path::Path;

use crate::world::World;

const RADDLE: &str = env!("CARGO_BIN_EXE_raddle");

/// Builds the folder `project` by a command, and finds the update that the program loses.
fn builds(name: &str, command: &str, program: &str) {
    let world = World::new(name);
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/project");
    for entry in fs::read_dir(project).unwrap() {
        let file = entry.unwrap();
        fs::copy(file.path(), world.path(file.file_name().to_str().unwrap())).unwrap();
    }
    world.run("sh", &["-c", command]).ends_with(0);
    // A program that was built so also runs without raddle.
    world.run(program, &[]).ends_with(0);
    let found = world.raddle(&["run", program]).ends_with(1);
    found.says(&["assertion failed: counted() == 2", "counter.c:8", "main.cpp:12"]);
}

#[test]
fn a_makefile_with_the_compilers_of_the_environment() {
    builds("make", &format!("CC='{RADDLE} cc' CXX='{RADDLE} c++' make"), "./program");
}

#[test]
fn a_configure_script() {
    let command = format!("CC='{RADDLE} cc' CXX='{RADDLE} c++' ./configure && make");
    builds("configure", &command, "./program");
}

#[test]
fn cmake() {
    let world = World::new("cmake_is_there");
    if world.run("sh", &["-c", "command -v cmake"]).text.is_empty() {
        return eprintln!("cmake is not installed, and was not tried");
    }
    let command = format!(
        "cmake -DCMAKE_C_COMPILER={RADDLE} -DCMAKE_C_COMPILER_ARG1=cc -DCMAKE_CXX_COMPILER={RADDLE} \
         -DCMAKE_CXX_COMPILER_ARG1=c++ -S . -B build && cmake --build build"
    );
    builds("cmake", &command, "build/program");
    // The variables of the environment are enough, too.
    let command =
        format!("CC='{RADDLE} cc' CXX='{RADDLE} c++' cmake -S . -B build && cmake --build build");
    builds("cmake_by_environment", &command, "build/program");
}

/// README.md shows what its commands print, but for times, and for lines that it leaves out.
#[test]
fn the_readme_shows_what_the_command_prints() {
    let text = include_str!("../../../../README.md");
    let (_, section) = text.split_once("## Check a C or C++ program").unwrap();
    let mut blocks = section.split("```").skip(1).step_by(2);
    let (commands, shown) = (blocks.next().unwrap(), blocks.next().unwrap());
    let world = World::new("readme");
    world.build("lost_update.c", &[]);
    fs::rename(world.path("lost_update.c"), world.path("counter.c")).unwrap();
    let mut printed = String::new();
    for line in commands.lines().filter(|line| line.starts_with("raddle ")) {
        let (line, _) = line.split_once('#').unwrap_or((line, ""));
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        printed = world.raddle(&words).text;
    }
    // A time stands in parentheses and begins with a number.
    let without_times = |line: &str| -> String {
        let mut parts = line.split('(');
        let mut text = parts.next().unwrap().to_owned();
        for part in parts {
            let is_time = part.starts_with(|first: char| first.is_ascii_digit());
            text += if is_time { part.split_once(')').unwrap().1 } else { part };
        }
        text
    };
    let mut printed = printed.lines().map(without_times);
    let mut may_skip = false;
    for line in shown.lines().skip(1).map(without_times) {
        if line.trim() == "…" {
            may_skip = true;
        } else if may_skip {
            assert!(printed.any(|found| found == line), "{line}");
            may_skip = false;
        } else {
            assert_eq!(printed.next(), Some(line));
        }
    }
}
