//! Searches by solver: the states they reach, and the orders they find.

mod cases;
mod filters;
mod naive_coverage;
mod reach;
mod state;
