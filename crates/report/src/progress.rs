//! The progress of a running check, in one line.

use std::time::Duration;

use raddle_results::Progress;

use crate::number::{about, count, thousands, time};

/// Returns the progress of a check after `elapsed`: how much was done, how fast, and which part of the whole
/// that is.
pub fn progress(name: &str, progress: &Progress, elapsed: Duration) -> String {
    let Progress { executions, classes, total } = *progress;
    let per_second = executions as f64 / elapsed.as_secs_f64().max(1e-6);
    let share = match total {
        Some(total) => {
            let share = (100.0 * executions as f64 / total.max(1.0)).clamp(0.0, 100.0);
            format!(", {share:.0} % of {}", about(total))
        }
        None => String::new(),
    };
    format!(
        "{name}: {} ({}/s), {}{share}, {}",
        count(executions, "execution", "executions"),
        thousands(per_second as u64),
        count(classes, "class", "classes"),
        time(elapsed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(executions: u64, classes: u64, total: Option<f64>) -> String {
        progress("queue", &Progress { executions, classes, total }, Duration::from_secs(2))
    }

    #[test]
    fn progress_shows_count_rate_and_share() {
        assert_eq!(
            line(12_000, 3_000, Some(48_321.0)),
            "queue: 12,000 executions (6,000/s), 3,000 classes, 25 % of about 48,000, 2.0 s"
        );
        assert_eq!(line(1, 1, None), "queue: 1 execution (0/s), 1 class, 2.0 s");
    }

    #[test]
    fn a_share_is_at_most_100_percent() {
        assert!(line(200, 200, Some(100.0)).contains("100 % of about 100"));
        assert!(line(0, 0, Some(0.0)).contains(" 0 % of about 0"));
    }
}
