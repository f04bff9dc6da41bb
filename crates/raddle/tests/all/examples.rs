//! Every example finds its bug, and nothing once it is fixed.
// What only their `main` uses, and what they share, which each has for itself.
#![allow(dead_code, clippy::duplicate_mod)]

#[path = "../../examples/bank_transfer.rs"]
mod bank_transfer;
#[path = "../../examples/bounded_queue.rs"]
mod bounded_queue;
#[path = "../../examples/cache_wakeup.rs"]
mod cache_wakeup;
#[path = "../../examples/lazy_init.rs"]
mod lazy_init;
#[path = "../../examples/lock_free_stack.rs"]
mod lock_free_stack;
#[path = "../../examples/own_strategy.rs"]
mod own_strategy;
