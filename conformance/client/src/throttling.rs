//! What to do when a target throttles a request: with status 429, or with 503 and Retry-After (RFC 9110, section 10.2.3).
//!
//! A request is sent again after the pause that Retry-After states. [`Retries`] says how often and how long. Nothing here sleeps
//! or sends.

use std::time::{Duration, SystemTime};

use paymaster_exchange::Response;

/// The pause after a 429 without a readable Retry-After.
const DEFAULT_PAUSE: Duration = Duration::from_secs(1);

/// What to do after a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThrottleDecision {
    /// The response is an answer to the request.
    NotThrottled,
    /// Wait this long, then send the same request again.
    Wait(Duration),
    /// Do not send the request again.
    GiveUp,
}

/// The least pause before the first repetition; each further repetition waits at least that much longer. Retry-After has whole seconds, so 0
/// may stand for any part of one.
const LEAST_PAUSE: Duration = Duration::from_millis(50);

/// How often and how long one request is sent again, and how often and how long it was: start from one of the constants.
#[derive(Clone, Copy, Debug)]
pub struct Retries {
    /// How often the request is sent in all.
    pub tries: u32,
    /// The longest sum of the pauses.
    patience: Duration,
    throttled: u32,
    waited: Duration,
}

impl Retries {
    /// For a request of a conformance run. The time limit of the run bounds the pauses.
    pub const CHECK: Self = Self { tries: 8, patience: Duration::MAX, throttled: 0, waited: Duration::ZERO };

    /// For a request of the discovery before a load test.
    pub const BEFORE_LOAD: Self = Self { tries: u32::MAX, patience: Duration::from_secs(10), ..Self::CHECK };

    /// Decides what to do after a response to this request. `now` is called only where Retry-After is a date.
    pub fn decide(&mut self, response: &Response, now: impl FnOnce() -> SystemTime) -> ThrottleDecision {
        match stated_pause(response, now) {
            Some(stated) => self.wait(stated),
            None => ThrottleDecision::NotThrottled,
        }
    }

    /// Decides what to do after a response that throttles this request in its body, which states no pause.
    pub fn throttled_without_time(&mut self) -> ThrottleDecision {
        self.wait(DEFAULT_PAUSE)
    }

    fn wait(&mut self, stated: Duration) -> ThrottleDecision {
        self.throttled = self.throttled.saturating_add(1);
        let pause = stated.max(LEAST_PAUSE.saturating_mul(self.throttled));
        self.waited = self.waited.saturating_add(pause);
        if self.throttled >= self.tries || self.waited > self.patience {
            return ThrottleDecision::GiveUp;
        }
        ThrottleDecision::Wait(pause)
    }
}

/// Whether a response throttles its request. A 503 without Retry-After does not: nothing in it says that waiting helps.
pub fn is_throttled(response: &Response) -> bool {
    // Which time it is changes how long the pause is, not whether there is one.
    stated_pause(response, || SystemTime::UNIX_EPOCH).is_some()
}

/// Whether a response throttles its request and states no time. It may come from a limit on requests in flight as well as from a rate
/// limit.
pub fn is_throttled_without_time(response: &Response) -> bool {
    response.status == 429 && retry_after(response, || SystemTime::UNIX_EPOCH).is_none()
}

/// The pause that a response asks for; none where it does not throttle the request. A load test sends no request again,
/// but its users pause this long.
pub fn stated_pause(response: &Response, now: impl FnOnce() -> SystemTime) -> Option<Duration> {
    match response.status {
        429 => Some(retry_after(response, now).unwrap_or(DEFAULT_PAUSE)),
        503 => retry_after(response, now),
        _ => None,
    }
}

/// The readable Retry-After of a response.
fn retry_after(response: &Response, now: impl FnOnce() -> SystemTime) -> Option<Duration> {
    parse(response.header("retry-after")?.trim(), now)
}

/// Reads the value of Retry-After: seconds or a date.
fn parse(text: &str, now: impl FnOnce() -> SystemTime) -> Option<Duration> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::from(u32::MAX))));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, value: Option<&str>) -> Response {
        Response {
            status,
            headers: value.map(|value| ("retry-after".to_owned(), value.to_owned())).into_iter().collect(),
            body: bytes::Bytes::new().into(),
        }
    }

    #[test]
    fn a_pause_is_read_from_seconds_and_dates() {
        let now = httpdate::parse_http_date("Fri, 15 May 2015 15:34:21 GMT").unwrap();
        let secs = |n| Some(Duration::from_secs(n));
        for (status, value, expected) in [
            (200, Some("7"), None),
            (429, None, secs(1)),
            (429, Some("0"), secs(0)),
            (429, Some("7"), secs(7)),
            (429, Some("soon"), secs(1)),
            (429, Some("99999999999999999999999"), secs(u64::from(u32::MAX))),
            (503, None, None),
            (503, Some("soon"), None),
            (503, Some("0"), secs(0)),
            (503, Some("Fri, 15 May 2015 15:34:31 GMT"), secs(10)),
            (503, Some("Fri, 15 May 2015 15:34:01 GMT"), secs(0)),
        ] {
            let response = response(status, value);
            assert_eq!(stated_pause(&response, || now), expected, "{status} {value:?}");
            assert_eq!(is_throttled(&response), expected.is_some(), "{status} {value:?}");
            let without_time = status == 429 && expected == secs(1);
            assert_eq!(is_throttled_without_time(&response), without_time, "{status} {value:?}");
        }
    }

    /// The decisions for the same response again and again, until the request is given up or `most` decisions were made.
    fn decisions(mut retries: Retries, response: &Response, most: usize) -> Vec<ThrottleDecision> {
        let mut decisions = Vec::new();
        while decisions.len() < most && decisions.last() != Some(&ThrottleDecision::GiveUp) {
            decisions.push(retries.decide(response, SystemTime::now));
        }
        decisions
    }

    #[test]
    fn a_check_waits_a_little_longer_each_time_and_gives_up_with_the_last_try() {
        let millis = |n| ThrottleDecision::Wait(Duration::from_millis(n));
        let soon = decisions(Retries::CHECK, &response(429, Some("0")), 20);
        assert_eq!(soon[..3], [millis(50), millis(100), millis(150)]);
        assert_eq!(soon.len(), 8);
        assert_eq!(soon[7], ThrottleDecision::GiveUp);
        let stated = decisions(Retries::CHECK, &response(503, Some("2")), 3);
        assert_eq!(stated, [millis(2_000); 3]);
        let answer = decisions(Retries::CHECK, &response(503, None), 1);
        assert_eq!(answer, [ThrottleDecision::NotThrottled]);
    }

    #[test]
    fn the_discovery_of_a_load_test_has_limited_patience() {
        let once = decisions(Retries::BEFORE_LOAD, &response(429, Some("60")), 5);
        assert_eq!(once, [ThrottleDecision::GiveUp]);
        let soon = decisions(Retries::BEFORE_LOAD, &response(429, Some("4")), 5);
        assert_eq!(soon[1..], [ThrottleDecision::Wait(Duration::from_secs(4)), ThrottleDecision::GiveUp]);
    }
}
