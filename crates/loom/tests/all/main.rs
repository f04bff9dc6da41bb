//! Tests of the drop-in for Loom: each thing that Loom checks, in a program with the mistake and in one without.

mod cells;
mod futures;
mod leaks;
mod settings;
mod statics;
mod support;
mod threads;
