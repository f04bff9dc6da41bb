//! Golden tests of reports. `UPDATE_EXPECT=1 cargo test -p raddle-report` rewrites the goldens.

mod build;
mod causes;
mod clean;
mod deadlocks;
mod explained;
mod findings;
mod html;
mod json;
mod picture;
mod programs;
mod real;
mod round_trip;
mod site;
mod sizes;
mod warnings;
