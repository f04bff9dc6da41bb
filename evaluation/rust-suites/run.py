#!/usr/bin/env python3
"""Runs the own tests of published crates by `cargo raddle test`, and writes what became of them.

Usage: run.py [--time T] [--only CRATE] [--small] [--twice] [--out FILE]; `cargo raddle` must be installed.
Sources come from crates.io by version and checksum, other versions from the lock files in `locks`."""
import argparse, hashlib, io, json, os, shutil, subprocess, sys, tarfile, tempfile, time, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
# Crate, version, SHA-256 of the package, other words for `cargo raddle test`.
CRATES = [tuple(line.split(" ", 3)) for line in open(f"{HERE}/crates.txt").read().splitlines()
          if line and not line.startswith("#")]
# The fixed small part: crates whose tests take seconds.
SMALL = ["once_cell"]

def fetch(name, version, digest, folder):
    url = f"https://static.crates.io/crates/{name}/{name}-{version}.crate"
    data = urllib.request.urlopen(url).read()
    assert hashlib.sha256(data).hexdigest() == digest, f"{name} {version} is not the package with this checksum"
    tarfile.open(fileobj=io.BytesIO(data)).extractall(folder, filter="data")
    source = f"{folder}/{name}-{version}"
    with open(f"{source}/Cargo.toml", "a") as manifest:
        manifest.write("\n[workspace]\n")
    # Tests are checked by the toolchain at hand.
    for toolchain in ("rust-toolchain", "rust-toolchain.toml"):
        if os.path.exists(f"{source}/{toolchain}"):
            os.remove(f"{source}/{toolchain}")
    lock = f"{HERE}/locks/{name}.lock"
    if os.path.exists(lock):
        shutil.copy(lock, f"{source}/Cargo.lock")
    return source

def check(source, words):
    command = ["cargo", "raddle", "test", "--message-format", "json", *words]
    done = subprocess.run(command, cwd=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        sys.exit(f"{command} in {source} ended with {done.returncode}:\n{done.stderr}")
    return [line for line in lines if line["type"] == "test"]

def key(test):
    return f"{test['binary']} {test['name']}"

def schedules_differ(source, words):
    """Runs all tests with one fixed number of schedules in two fresh processes. Returns the tests whose results or numbers of
    executions differ."""
    words = [*words, "--time", "60s", "--runs", "20", "--strategy", "pos", "--memory", "sc"]
    first, second = (dict((key(test), test) for test in check(source, words)) for _ in range(2))
    fields = ("result", "note", "token")
    return [name for name in first if any(first[name][f] != second.get(name, {}).get(f) for f in fields)]

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--time", default="2s")
    parser.add_argument("--only", action="append")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--keep", help="a folder for sources and builds")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    wanted = SMALL if arguments.small else arguments.only
    folder = arguments.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    rows, notes, total = [], [], [0, 0, 0, 0]
    for name, version, digest, *rest in CRATES:
        if wanted and name not in wanted:
            continue
        source = f"{folder}/{name}-{version}"
        if not os.path.exists(source):
            fetch(name, version, digest, folder)
        words = ["--time", arguments.time, *(rest[0].split() if rest else [])]
        start = time.time()
        tests = check(source, words)
        counts = [sum(test["result"] == result for test in tests) for result in ("pass", "fail", "inconclusive")]
        row = [len(tests), *counts]
        total = [a + b for a, b in zip(total, row)]
        rows.append(f"| {name} {version} | " + " | ".join(map(str, row)) + f" | {time.time() - start:.0f} s |")
        notes += [f"- {key(test)}: {test['result']}: {test['note']}" for test in tests if test["result"] != "pass"]
        if arguments.twice:
            differing = schedules_differ(source, rest[0].split() if rest else [])
            notes += [f"- {test}: differs in two fresh processes" for test in differing]
        print(rows[-1], flush=True)
    count, passed, failed, inconclusive = total
    share = lambda part: f"{100 * part / max(count, 1):.1f} %"
    text = "\n".join([
        "| crate | tests | pass | fail | inconclusive | time |", "| --- | --- | --- | --- | --- | --- |", *rows,
        "| all | " + " | ".join(map(str, total)) + " | |", "",
        f"{share(passed)} pass, {share(passed + inconclusive)} pass or are inconclusive with a reason.", "", *notes, ""])
    if arguments.out:
        open(arguments.out, "w").write(text)
    print(text)
    sys.exit(1 if failed else 0)

main()
