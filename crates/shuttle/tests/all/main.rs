//! Tests of the drop-in for Shuttle.

mod checks;
mod futures;
mod schedulers;
mod support;
mod threads;
