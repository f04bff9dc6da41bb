//! `cargo raddle` with a crate that knows nothing of raddle.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::process::Command;

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
        "(held by thread 1, acquired at src/lib.rs:53)",
        "let _first = b2.lock().unwrap();",
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

/// The form of results for programs.
#[test]
fn results_are_lines_of_json() {
    let world = world("cargo_json");
    let words =
        ["test", "--message-format", "json", "--time", "1s", "tests::lost_update", "tests::passes"];
    let done = world.cargo_raddle("fixture", &words).ends_with(100);
    let line = |of: &str| {
        done.text.lines().find(|line| line.starts_with('{') && line.contains(of)).unwrap()
    };
    let (passes, lost) = (line("\"tests::passes\""), line("\"tests::lost_update\""));
    assert!(
        passes.contains("\"result\": \"pass\"") && passes.contains("\"token\": null"),
        "{passes}"
    );
    assert!(
        lost.contains("\"result\": \"fail\"") && lost.contains("cargo raddle replay fixture/"),
        "{lost}"
    );
    let summary = line("\"summary\"");
    assert!(summary.contains("\"passed\": 1,\"failed\": 1,"), "{summary}");
}

/// A binary of the crate, with its arguments.
#[test]
fn binaries_are_checked_from_main_on() {
    let world = world("cargo_run");
    let done = world.cargo_raddle("fixture", &["run"]).ends_with(100).says(&[
        "fixture::run/fixture",
        "the program loses an update",
        "src/main.rs:",
    ]);
    let (_, words) = done.text.split_once("replay: cargo raddle ").unwrap();
    let words: Vec<&str> = words.lines().next().unwrap().split_whitespace().collect();
    world.cargo_raddle("fixture", &words).ends_with(100).says(&["replayed from its token"]);
    let explain: Vec<&str> = ["explain"].into_iter().chain(words[1..].iter().copied()).collect();
    world.cargo_raddle("fixture", &explain).ends_with(100).says(&["why: it fails whenever"]);
    let fixed = ["run", "--time", "1s", "--", "fixed"];
    world.cargo_raddle("fixture", &fixed).ends_with(0).says(&["1 passed"]);
}

/// Tests in documentation, which rustdoc builds and runs by the command.
#[test]
fn tests_in_documentation_are_checked() {
    let world = world("cargo_doc");
    let done = world.cargo_raddle("fixture", &["test", "--doc", "--time", "1s"]).ends_with(0);
    done.says(&["src/lib.rs - (line 3) ... ok"]);
}

/// Cargo's own test command, and cargo-nextest, with the command as runner of programs.
#[test]
fn other_runners_check_tests() {
    let world = world("cargo_runner");
    let variables = world.cargo_raddle("fixture", &["env"]).ends_with(0);
    let pairs: Vec<(String, String)> = variables
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("export ")?.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.trim_matches('\'').to_owned()))
        .collect();
    assert!(pairs.iter().any(|(name, _)| name.ends_with("_RUNNER")), "{}", variables.text);
    let cargo = |words: &[&str]| {
        let mut command = Command::new("cargo");
        command.args(words).envs(pairs.iter().map(|(name, value)| (name, value)));
        world.in_crate("fixture", &mut command)
    };
    cargo(&["test", "--lib", "tests::passes"])
        .ends_with(0)
        .says(&["PASS", "fixture tests::passes"]);
    let failed = cargo(&["test", "--lib", "tests::lost_update"]).ends_with(101);
    failed.says(&["an update is lost", "replay: cargo raddle replay fixture/tests::lost_update/"]);
    // As cargo-nextest does: lists the tests, and runs each in a process of its own.
    let has_nextest = Command::new("cargo-nextest").arg("--version").output().is_ok();
    if !has_nextest {
        eprintln!("cargo-nextest is not installed, so only its protocol was tested");
        return;
    }
    let words =
        ["nextest", "run", "--lib", "-E", "test(passes) + test(lost_update)", "--no-fail-fast"];
    world.cargo_raddle("fixture", &words).ends_with(100).says(&[
        "2 tests run: 1 passed, 1 failed",
        "an update is lost",
        "replay: cargo raddle replay fixture/tests::lost_update/",
    ]);
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

/// Crates that cannot be checked, or not as others.
#[test]
fn unusual_crates() {
    let world = World::new("cargo_unusual");
    world.write_crate("untested", "", "pub fn nothing() {}");
    world.cargo_raddle("untested", &["test"]).ends_with(4).says(&["no tests"]);
    let nightly = ["test", "-Z", "unstable-options"];
    world.cargo_raddle("untested", &nightly).ends_with(101).says(&["nightly"]);
    world.cargo_raddle("untested", &["run"]).ends_with(2).says(&["no binary"]);
    let no_toolchain = |command: &mut Command| {
        command.env_remove("RUSTUP_TOOLCHAIN").env("RUSTUP_AUTO_INSTALL", "0");
        command.env_remove("RUSTC");
    };
    fs::write(world.path("untested/rust-toolchain.toml"), "[toolchain]\nchannel = \"1.2.3\"\n")
        .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
    no_toolchain(command.args(["raddle", "test"]));
    world.in_crate("untested", &mut command).ends_with(2).says(&["1.2.3", "not installed"]);
    world.write_crate("macros", "[lib]\nproc-macro = true", MACROS);
    world.cargo_raddle("macros", &["test"]).ends_with(0).says(&["1 passed"]);
    world.write_crate("outside", "", OUTSIDE);
    let done = world.cargo_raddle("outside", &["test", "--time", "1s"]).ends_with(3);
    done.says(&[
        "waits_for_the_network  (blocked outside raddle",
        "3 tests: 2 passed, 0 failed, 1 inconclusive",
    ]);
}

const MACROS: &str = "
#[test]
fn has_a_test() {
    assert_eq!(1 + 1, 2);
}";

const OUTSIDE: &str = "
#[cfg(test)]
mod tests {
    use std::io::{Read, Write, stdin};
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    #[test]
    fn waits_for_the_network() {
        let listener = TcpListener::bind(\"127.0.0.1:0\").unwrap();
        let _ = listener.accept();
    }

    #[test]
    fn reads_the_terminal() {
        let mut text = String::new();
        thread::spawn(move || stdin().read_line(&mut text).unwrap()).join().unwrap();
    }

    #[test]
    fn talks_to_itself() {
        let listener = TcpListener::bind(\"127.0.0.1:0\").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut text = [0; 5];
            stream.read_exact(&mut text).unwrap();
            stream.write_all(&text).unwrap();
        });
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(b\"hello\").unwrap();
        let mut text = [0; 5];
        client.read_exact(&mut text).unwrap();
        assert_eq!(&text, b\"hello\");
        server.join().unwrap();
    }
}";

/// Tests that are long, that create many threads one after the other, and that are correct by means that the memory
/// model does not know.
#[test]
fn tests_of_real_suites_pass() {
    let world = World::new("cargo_real");
    world.write_crate("real", "", REAL);
    let done = world.cargo_raddle("real", &["test", "--time", "2s"]).ends_with(0);
    done.says(&["3 passed, 0 failed", "% of the steps chosen"]);
}

const REAL: &str = r#"
#[cfg(test)]
mod tests {
    use std::cell::UnsafeCell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    #[test]
    fn is_long() {
        let counter = Arc::new(AtomicUsize::new(0));
        let add = |counter: &AtomicUsize| {
            for _ in 0..50_000 {
                counter.fetch_add(1, Ordering::Relaxed);
            }
        };
        let other = counter.clone();
        let thread = thread::spawn(move || add(&other));
        add(&counter);
        thread.join().unwrap();
        assert_eq!(counter.load(Ordering::Relaxed), 100_000);
    }

    #[test]
    fn has_many_threads() {
        let sum: usize = (0..1_200).map(|id| thread::spawn(move || id).join().unwrap()).sum();
        assert_eq!(sum, 1_199 * 600);
    }

    /// A full fence, as libraries write it for x86.
    fn fence(by_assembly: bool) {
        if by_assembly {
            let word = UnsafeCell::new(0_usize);
            unsafe { std::arch::asm!("lock not qword ptr [{0}]", in(reg) word.get(), options(nostack)) };
        } else {
            let _ = AtomicUsize::new(0).compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst);
        }
    }

    #[test]
    fn has_fences() {
        for by_assembly in [false, true] {
            let flags = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
            let enter = move |flags: &[AtomicUsize; 2], own: usize| {
                flags[own].store(1, Ordering::Relaxed);
                fence(by_assembly);
                flags[1 - own].load(Ordering::Relaxed)
            };
            let other = flags.clone();
            let thread = thread::spawn(move || enter(&other, 1));
            let (here, there) = (enter(&flags, 0), thread.join().unwrap());
            assert!(here + there > 0, "both threads are first");
        }
    }
}
"#;

/// Tests that start processes: these run as they are, and nothing of them is left.
#[test]
fn tests_have_to_do_with_other_processes() {
    let world = World::new("cargo_processes");
    world.write_crate("processes", "", PROCESSES);
    let words = ["test", "--time", "1s", "--runs", "200", "--skip", "asks_a_server"];
    let done = world.cargo_raddle("processes", &words).ends_with(0);
    done.says(&["4 passed, 0 failed, 0 inconclusive"]);
    let is_left = |process: fs::DirEntry| {
        fs::read(process.path().join("cmdline")).is_ok_and(|words| words == b"sleep\x0098765\x00")
    };
    assert!(!fs::read_dir("/proc").unwrap().flatten().any(is_left));
}

/// Who asks a server last is up to the schedule, which is replayed.
#[test]
#[ignore = "the server has to answer within half a second, which a busy machine does not always allow"]
fn tests_ask_servers() {
    let world = World::new("cargo_server");
    world.write_crate("processes", "", PROCESSES);
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port().to_string();
    std::thread::spawn(move || {
        for client in server.incoming().flatten() {
            std::thread::spawn(move || {
                let mut lines = BufReader::new(client.try_clone().unwrap()).lines();
                while let Some(Ok(line)) = lines.next() {
                    writeln!(&client, "{line} to you").unwrap();
                }
            });
        }
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
    let words = ["raddle", "test", "--time", "1s", "--runs", "200", "asks_a_server"];
    command.args(words).env("SERVER_PORT", port);
    let done = world.in_crate("processes", &mut command).ends_with(100);
    done.says(&["1 failed, 0 inconclusive", "assertion failed: *last.lock().unwrap() == 0"]);
}

const PROCESSES: &str = r#"
#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpStream;
    use std::process::{Command, Stdio};
    use std::sync::{Arc, Mutex};
    use std::thread;

    #[test]
    fn starts_a_process() {
        let thread = thread::spawn(|| Command::new("true").status().unwrap());
        assert!(thread.join().unwrap().success());
    }

    #[test]
    fn reads_what_a_process_writes() {
        let echo = |text| Command::new("echo").arg(text).output().unwrap().stdout;
        let thread = thread::spawn(move || echo("one"));
        assert_eq!(thread.join().unwrap(), b"one\n");
    }

    #[test]
    fn talks_to_a_process() {
        let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut input, mut output) = (cat.stdin.take().unwrap(), cat.stdout.take().unwrap());
        let thread = thread::spawn(move || input.write_all(b"hello").unwrap());
        let mut text = String::new();
        output.read_to_string(&mut text).unwrap();
        thread.join().unwrap();
        assert_eq!(text, "hello");
        assert!(cat.wait().unwrap().success());
    }

    #[test]
    fn leaves_a_process() {
        thread::spawn(|| drop(Command::new("sleep").arg("98765").spawn().unwrap())).join().unwrap();
    }

    #[test]
    fn asks_a_server() {
        let last = Arc::new(Mutex::new(0));
        let ask = |id: usize, last: &Mutex<usize>| {
            let port = std::env::var("SERVER_PORT").unwrap();
            let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
            writeln!(stream, "{id}").unwrap();
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line).unwrap();
            assert_eq!(line, format!("{id} to you\n"));
            *last.lock().unwrap() = id;
        };
        let other = last.clone();
        let thread = thread::spawn(move || ask(1, &other));
        ask(0, &last);
        thread.join().unwrap();
        assert!(*last.lock().unwrap() == 0);
    }
}
"#;
