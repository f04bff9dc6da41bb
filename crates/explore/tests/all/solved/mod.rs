//! Searches by solver: what they reach, and whether every order they find is one.

mod cases;
mod filters;
mod naive_coverage;
mod reach;
mod state;
