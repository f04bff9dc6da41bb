#!/bin/sh
# Checks the historical bugs: for each version of each crate one line with package, exit code and result.
# Usage: run.sh [TIME]; `cargo raddle` must be installed. Works on a copy, because builds go into `target`.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$here"/. "$work"
cd "$work" || exit 2
for manifest in */Cargo.toml; do
    package=$(dirname "$manifest")
    out=$(cd "$package" && cargo raddle test --locked --time "${1:-60s}" --runs 1000000 --test-threads 1 2>&1)
    code=$?
    line=$(printf '%s\n' "$out" | grep -E ' (PASS|FAIL|INCONCLUSIVE) \[' | head -n 1)
    printf '%s: exit %s: %s\n' "$package" "$code" "$line"
done
