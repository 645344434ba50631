//! Retry-After: how long a target asks us to wait (RFC 9110, 10.2.3).

use std::time::{Duration, SystemTime};

use paymaster_exchange::Response;

/// The pause after a 429 that names none.
const DEFAULT_PAUSE: Duration = Duration::from_secs(1);

/// How long to wait before the same request is sent again; none when the response is an answer.
///
/// A 503 without Retry-After is an answer like any other: nothing in it says that waiting helps.
pub fn pause(response: &Response, now: SystemTime) -> Option<Duration> {
    let asked = response
        .header("retry-after")
        .and_then(|text| parse(text.trim(), now));
    match response.status {
        429 => Some(asked.unwrap_or(DEFAULT_PAUSE)),
        503 => asked,
        _ => None,
    }
}

fn parse(text: &str, now: SystemTime) -> Option<Duration> {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::from(u32::MAX))));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(status: u16, value: Option<&str>) -> Response {
        Response {
            status,
            headers: value
                .map(|value| ("retry-after".to_owned(), value.to_owned()))
                .into_iter()
                .collect(),
            body: bytes::Bytes::new(),
        }
    }

    #[test]
    fn seconds_dates_and_silence() {
        let now = httpdate::parse_http_date("Fri, 15 May 2015 15:34:21 GMT").unwrap();
        let secs = |n| Some(Duration::from_secs(n));
        for (status, value, expected) in [
            (200, Some("7"), None),
            (429, None, secs(1)),
            (429, Some("7"), secs(7)),
            (429, Some("soon"), secs(1)),
            (429, Some("99999999999999999999999"), secs(u64::from(u32::MAX))),
            (503, None, None),
            (503, Some("0"), secs(0)),
            (503, Some("Fri, 15 May 2015 15:34:31 GMT"), secs(10)),
            (503, Some("Fri, 15 May 2015 15:34:01 GMT"), secs(0)),
        ] {
            assert_eq!(
                pause(&response(status, value), now),
                expected,
                "{status} {value:?}"
            );
        }
    }
}
