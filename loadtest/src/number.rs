//! Conversions between counts, floats and times, and random numbers that are a pure function of a seed.

use std::time::{Duration, SystemTime};

use fastrand::Rng;

/// A count as a float: exact below 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// The whole part of a number. 0 if it is negative or not a number, and the largest count if it is too large.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
pub(crate) fn whole(number: f64) -> u64 {
    number as u64
}

/// `part` of `of` in percent; 0 of nothing.
pub(crate) fn percent(part: u64, of: u64) -> f64 {
    float(part) * 100.0 / float(of.max(1))
}

/// So many events in so many seconds, per second; 0 without time.
pub(crate) fn per_second(times: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { float(times) / seconds } else { 0.0 }
}

/// A time in nanoseconds; of more than 584 years, the largest count.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The time in seconds since 1970.
pub(crate) fn epoch() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// The random numbers of the part `number` of a seed: independent of those of its other parts.
pub(crate) fn random_part(seed: u64, number: u64) -> Rng {
    Rng::with_seed(seed ^ Rng::with_seed(number).u64(..))
}
