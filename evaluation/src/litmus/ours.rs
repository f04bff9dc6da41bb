//! Litmus tests over raddle.

super::body::body!(raddle);
