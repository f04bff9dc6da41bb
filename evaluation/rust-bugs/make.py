#!/usr/bin/env python3
"""Makes a package for each version: a manifest and a lock file. Yanked versions are written into the lock file of the
fixed version. Run once; the results are committed."""
import json, os, re, subprocess, urllib.request

BUGS = [
    # test, crate, buggy, fixed, other dependencies and features
    ("crossbeam_channel", "crossbeam-channel", "0.5.14", "0.5.15", ""),
    ("crossbeam_deque", "crossbeam-deque", "0.8.0", "0.8.1", ""),
    ("spin_once", "spin", "0.9.7", "0.9.9", ""),
    ("spin_rwlock", "spin", "0.5.1", "0.5.2", ""),
    ("thread_local", "thread_local", "1.1.3", "1.1.4", ""),
    ("internment", "internment", "0.3.13", "0.4.0", ""),
    ("oneshot", "oneshot", "0.1.11", "0.2.1", ", features = [\"async\"]"),
    ("simple_mutex", "simple-mutex", "1.1.2", "1.1.3", ""),
    ("event_listener", "event-listener", "5.3.0", "5.3.1", ""),
    ("tokio_broadcast", "tokio", "1.44.1", "1.44.2", ', default-features = false, features = ["sync"]'),
]

def entry(name, version):
    path = f"{name[:2]}/{name[2:4]}/{name}"
    text = urllib.request.urlopen(f"https://index.crates.io/{path}").read().decode()
    return next(e for e in map(json.loads, text.splitlines()) if e["vers"] == version)

def write(folder, test, name, version, more):
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/Cargo.toml", "w") as file:
        file.write(f'''[package]
name = "{test}-{version.replace('.', '-')}"
version = "0.0.0"
edition = "2021"
publish = false
autotests = false

[lib]
path = "../empty.rs"

[[test]]
name = "{test}"
path = "../tests/{test}.rs"

[dependencies]
{name} = {{ version = "={version}"{more} }}

[workspace]
''')

def lock(folder):
    subprocess.run(["cargo", "generate-lockfile", "-q"], cwd=folder, check=True)

for test, name, buggy, fixed, more in BUGS:
    write(f"{test}-{fixed}", test, name, fixed, more)
    lock(f"{test}-{fixed}")
    write(f"{test}-{buggy}", test, name, buggy, more)
    known = entry(name, buggy)
    if not known["yanked"]:
        lock(f"{test}-{buggy}")
        continue
    text = open(f"{test}-{fixed}/Cargo.lock").read()
    old = re.search(rf'\[\[package\]\]\nname = "{name}"\nversion = "{re.escape(fixed)}"\n.*?(?=\n\[\[|\Z)', text, re.S).group(0)
    new = old.replace(fixed, buggy)
    new = re.sub(r'checksum = "[0-9a-f]*"', f'checksum = "{known["cksum"]}"', new)
    text = text.replace(old, new).replace(f"{test}-{fixed.replace('.', '-')}", f"{test}-{buggy.replace('.', '-')}")
    open(f"{test}-{buggy}/Cargo.lock", "w").write(text)
