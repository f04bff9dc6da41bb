#!/usr/bin/env python3
"""Schedules per second of CPU time for two tests in Rust: all in one process, and each in a process of its own; and the CPU
time of one schedule beside that of plain runs. `cargo raddle` must be installed."""
import os, resource, subprocess, sys, tempfile

SOURCE = """
#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;
    use std::thread;

    #[test]
    fn two_threads() {
        let counter = Arc::new(AtomicUsize::new(0));
        let other = counter.clone();
        let thread = thread::spawn(move || {
            other.fetch_add(1, Ordering::SeqCst);
        });
        counter.fetch_add(1, Ordering::SeqCst);
        thread.join().unwrap();
        assert_eq!(counter.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn channel() {
        let (sender, receiver) = mpsc::channel();
        let threads: Vec<_> = (0..3)
            .map(|id| {
                let sender = sender.clone();
                thread::spawn(move || (0..4).for_each(|i| sender.send(10 * id + i).unwrap()))
            })
            .collect();
        drop(sender);
        assert_eq!(receiver.iter().count(), 12);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}
"""

def cpu(command, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stdout}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

def raddle(test, runs, *more):
    return ["cargo", "raddle", "test", "--lib", test, "--exact", "--strategy", "random", "--memory", "sc", "--races",
            "false", "--time", "10m", "--runs", str(runs), *more]

def main():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/src")
        open(f"{folder}/src/lib.rs", "w").write(SOURCE)
        open(f"{folder}/Cargo.toml", "w").write(
            '[package]\nname = "speed"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n')
        print("| test | one process | fork | one schedule in plain runs |\n| --- | --- | --- | --- |")
        for test, runs in ("tests::two_threads", 100_000), ("tests::channel", 20_000):
            cpu(raddle(test, 10), folder)
            rates = []
            for backend, runs in ("snapshot", runs), ("fork", 2_000):
                few, many = (cpu(raddle(test, n, "--backend", backend), folder) for n in (100, runs + 100))
                rates.append(runs / (many - few))
            subprocess.run(["cargo", "test", "--no-run", "-q"], cwd=folder, check=True, stderr=subprocess.DEVNULL)
            deps = f"{folder}/target/debug/deps"
            binary = next(f"{deps}/{f}" for f in os.listdir(deps) if f.startswith("speed-") and "." not in f)
            plain = sum(cpu([binary, test, "--exact"], folder) for _ in range(20)) / 20
            print(f"| {test} | {rates[0]:,.0f}/s | {rates[1]:,.0f}/s | {1 / rates[0] / plain:.2f} |", flush=True)

main()
