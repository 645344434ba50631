//! Durations as people write them: `500ms`, `10s`, `5m`, or a plain number of seconds.

use std::time::Duration;

/// The longest duration that is accepted, in seconds: a day.
const LONGEST: f64 = 86_400.0;

/// Reads a duration.
pub fn parse(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let (number, unit) = [("ms", 0.001), ("s", 1.0), ("m", 60.0)]
        .into_iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))
        .unwrap_or((text, 1.0));
    let number = number.trim().parse::<f64>();
    let seconds = number.map_err(|_| format!("`{text}` is no duration: write 500ms, 10s or 5m"))? * unit;
    if seconds > 0.0 && seconds <= LONGEST {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(format!("`{text}` is not more than 0 and at most a day"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_plain_seconds() {
        for (text, millis) in [("500ms", 500), ("10s", 10_000), ("5m", 300_000), ("2", 2_000), ("0.5", 500)] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "-1s", "0", "1h", "NaN", "inf", "2d"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
