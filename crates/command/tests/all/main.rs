//! Tests of the command with real programs, which its own compilers build.
//!
//! They need gcc or clang, as the tests of the README's first steps with C do.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

mod bad_input;
mod builds;
mod cargo;
mod differential;
mod features;
mod litmus;
mod loops;
mod objects;
mod others;
mod programs;
mod suite;
mod world;
