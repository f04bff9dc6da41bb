//! Human-readable numbers and durations.

use std::time::Duration;

/// Returns a whole number with separated thousands: `10,000`.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number of things: `1 step`, `2 steps`.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

/// Returns an estimate with two digits: `about 1,200,000`, `about 3e12`.
pub(crate) fn about(number: f64) -> String {
    if number >= 1e12 {
        return format!("about {number:.0e}");
    }
    let digits = number.max(1.0).log10().floor() as i32;
    let unit = 10f64.powi((digits - 1).max(0));
    format!("about {}", thousands(((number / unit).round() * unit) as u64))
}

/// Returns an upper bound of a probability, rounded up: `0.43`, `8.5e-4`.
pub(crate) fn probability(probability: f64) -> String {
    if probability >= 0.1 {
        return format!("{:.2}", (probability * 100.0).ceil() / 100.0);
    }
    let exponent = probability.max(1e-300).log10().floor();
    let unit = 10f64.powf(exponent - 1.0);
    format!("{:.1e}", (probability.max(1e-300) / unit - 1e-9).ceil() * unit)
}

/// Returns a part of a whole in percent: `3.1 %`, `0.042 %`.
pub(crate) fn share(part: f64) -> String {
    let percent = part * 100.0;
    let digits = if percent <= 0.0 { 0.0 } else { percent.log10().floor() };
    // Two significant digits, and none after the point of a large share.
    let decimals = if percent <= 0.0 { 0 } else { (1.0 - digits).clamp(0.0, 9.0) as usize };
    format!("{percent:.decimals$} %")
}

/// Returns a duration with its significant digits: `0.4 ms`, `0.02 s`, `2 min 5 s`.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    let milliseconds = seconds * 1e3;
    if milliseconds < 0.01 {
        format!("{:.1} µs", seconds * 1e6)
    } else if milliseconds < 0.1 {
        format!("{milliseconds:.2} ms")
    } else if milliseconds < 10.0 {
        format!("{milliseconds:.1} ms")
    } else if seconds < 0.1 {
        format!("{seconds:.2} s")
    } else if seconds < 10.0 {
        format!("{seconds:.1} s")
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{} min {} s", thousands(time.as_secs() / 60), time.as_secs() % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_rounded_up() {
        for (number, text) in [
            (1.0, "1.00"),
            (0.4201, "0.43"),
            (8.41e-4, "8.5e-4"),
            (8.5e-4, "8.5e-4"),
            (0.0999, "1.0e-1"),
            (0.0, "1.0e-300"),
        ] {
            assert_eq!(probability(number), text);
        }
    }

    #[test]
    fn shares_have_two_digits() {
        for (part, text) in [
            (0.0, "0 %"),
            (1.0, "100 %"),
            (0.5, "50 %"),
            (0.031, "3.1 %"),
            (0.00042, "0.042 %"),
            (0.0996, "10.0 %"),
        ] {
            assert_eq!(share(part), text);
        }
    }

    #[test]
    fn estimates_have_two_digits() {
        for (number, text) in [
            (0.3, "about 0"),
            (7.4, "about 7"),
            (123_456.0, "about 120,000"),
            (2.6e13, "about 3e13"),
        ] {
            assert_eq!(about(number), text);
        }
    }

    #[test]
    fn thousands_are_separated() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (12_345, "12,345"),
            (123_456, "123,456"),
            (1_000_000, "1,000,000"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(thousands(number), text);
        }
    }

    #[test]
    fn singular_and_plural_are_distinguished() {
        assert_eq!(count(0, "class", "classes"), "0 classes");
        assert_eq!(count(1, "class", "classes"), "1 class");
        assert_eq!(count(1_204, "class", "classes"), "1,204 classes");
    }

    #[test]
    fn durations_have_their_significant_digits() {
        for (microseconds, text) in [
            (3, "3.0 µs"),
            (42, "0.04 ms"),
            (412, "0.4 ms"),
            (9_949, "9.9 ms"),
            (20_000, "0.02 s"),
            (400_000, "0.4 s"),
            (10_040_000, "10 s"),
            (119_000_000, "119 s"),
            (125_000_000, "2 min 5 s"),
        ] {
            assert_eq!(time(Duration::from_micros(microseconds)), text);
        }
    }
}
