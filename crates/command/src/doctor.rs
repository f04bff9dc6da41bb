//! `raddle doctor`: whether this machine has what raddle needs, and what to do if not.

use std::fs;
use std::process::Command;

use crate::{Exit, Problem, compile, library};

/// Checks the machine. The exit code is 2 if programs cannot be checked here.
pub(crate) fn doctor() -> Result<Exit, Problem> {
    let mut is_usable = true;
    let mut say = |name: &str, is_needed: bool, found: Result<String, String>| {
        let (mark, text) = match &found {
            Ok(text) => ("ok", text),
            Err(text) => (if is_needed { "NO" } else { "--" }, text),
        };
        println!("{mark}  {name}: {text}");
        is_usable &= found.is_ok() || !is_needed;
    };
    say("library", true, library().map_err(|problem| problem.to_string()));
    say("processor", true, fsgsbase());
    say("C library", true, glibc());
    say("C compiler", false, compiler(&["cc", "gcc", "clang"]));
    say("C++ compiler", false, compiler(&["c++", "g++", "clang++"]));
    say("addresses", false, addresses());
    say("debugger", false, debugger());
    Ok(if is_usable { Exit::Clean } else { Exit::Usage })
}

fn library() -> Result<String, Problem> {
    Ok(library::folder()?.display().to_string())
}

fn fsgsbase() -> Result<String, String> {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has = processors.split_whitespace().any(|word| word == "fsgsbase");
    let advice =
        "FSGSBASE is missing: raddle needs Linux 5.9 or later, on a processor of 2013 or later";
    if has { Ok("FSGSBASE".into()) } else { Err(advice.into()) }
}

fn glibc() -> Result<String, String> {
    let answer = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let text = answer.map(|answer| String::from_utf8_lossy(&answer.stdout).trim().to_owned());
    match text {
        Ok(version) if version.starts_with("glibc") => Ok(version),
        Ok(_) | Err(_) => Err("not glibc: raddle needs it".into()),
    }
}

fn compiler(names: &[&str]) -> Result<String, String> {
    let found = names.iter().find_map(|name| compile::find(name));
    let missing =
        || format!("none of {}; install gcc or clang to build programs", names.join(", "));
    found.map(|path| path.display().to_string()).ok_or_else(missing)
}

fn addresses() -> Result<String, String> {
    let setting = fs::read_to_string("/proc/sys/kernel/randomize_va_space").unwrap_or_default();
    Ok(match setting.trim() {
        "0" => "the same in every process".into(),
        _ => "random; raddle asks the kernel for fixed ones".into(),
    })
}

fn debugger() -> Result<String, String> {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    match scope.trim() {
        "" | "0" | "1" => Ok("a replay can be debugged".into()),
        scope => Err(format!("ptrace_scope is {scope}: a replay cannot be debugged")),
    }
}
