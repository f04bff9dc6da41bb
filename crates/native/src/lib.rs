//! The library inside a native program: takes over its threads, synchronisation and memory accesses, and runs the
//! whole check (session, explorers, engine) in the program's own process.
//!
//! The `raddle` command loads it with `LD_PRELOAD` and tells it in the environment what to do ([`plan`]). Without a
//! plan every function does what the function it stands in for does, so a program that was linked with this library
//! also runs alone.
//!
//! One OS thread runs everything: the host, which is raddle, and the threads of the program, which are coroutines on
//! borrowed stacks ([`coroutines`]). All memory of raddle is in a shared mapping ([`arena`]), so that it survives a run:
//! the end of a forked process, or the restored memory of this one ([`process`]).
#![allow(
    clippy::missing_safety_doc,
    reason = "the callers are compiled code of the program, by the C ABI"
)]

mod accesses;
mod act;
mod alarms;
mod arena;
mod coroutines;
mod crash;
mod descriptors;
mod dispatch;
mod drive;
mod fences;
mod first_thread;
mod frames;
mod fresh;
mod futex;
mod heap;
mod hooks;
mod host;
mod layout;
mod leaks;
mod memory;
mod modules;
mod names;
mod one_thread;
mod outside;
mod panics;
mod phases;
mod plan;
mod posix;
mod process;
mod races;
mod real;
mod run;
mod snapshot;
mod stacks;
mod syscalls;
mod system;
mod threads;
mod variables;

// One thread at a time allocates in a program under control. Unit tests run on several.
#[cfg_attr(not(test), global_allocator)]
#[cfg_attr(test, expect(dead_code, reason = "unit tests allocate as usual"))]
static HEAP: arena::Arena = arena::Arena;
