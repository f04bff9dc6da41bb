//! The tests of the examples: each bug is found, and the fixed program has none.
// The examples' `main` functions are unused here, and each example includes the support module.
#![allow(dead_code, clippy::duplicate_mod)]

#[path = "../../examples/async_mailbox.rs"]
mod async_mailbox;
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
