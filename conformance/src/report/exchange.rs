//! An exchange as machines read it: bodies as text where they are text, times, secrets replaced.

use std::time::{Duration, SystemTime};

use base64::{Engine, prelude::BASE64_STANDARD};
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use paymaster_client::redact::Redactor;
use paymaster_exchange::Exchange;

/// A body as it may be written.
pub(crate) enum Written {
    /// Text, secrets replaced.
    Text(String),
    /// No UTF-8: base64.
    Base64(String),
}

/// A body as it may be written. One that is no UTF-8 is kept whole in base64, unless a secret stands in it.
pub(crate) fn body(bytes: &[u8], redactor: &Redactor) -> Written {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Written::Text(redactor.apply(text).into_owned());
    }
    let lossy = String::from_utf8_lossy(bytes);
    let clean = redactor.apply(&lossy);
    if clean == lossy {
        Written::Base64(BASE64_STANDARD.encode(bytes))
    } else {
        Written::Text(clean.into_owned())
    }
}

impl Written {
    /// `{"body": "..."}` or `{"body_base64": "..."}`.
    pub(crate) fn json(self) -> Value {
        match self {
            Self::Text(text) => json!({"body": text}),
            Self::Base64(text) => json!({"body_base64": text}),
        }
    }
}

/// What came back: status, headers and body, or why there is no response.
pub(crate) fn answer(exchange: &Exchange, redactor: &Redactor) -> Value {
    match &exchange.outcome {
        Ok(response) => {
            let mut value = body(&response.body, redactor).json();
            value["status"] = response.status.into();
            value["headers"] = headers(&response.headers, redactor);
            value
        }
        Err(failure) => json!({"failure": redactor.apply(&failure.to_string())}),
    }
}

/// `[{"name": ..., "value": ...}]`. What a target sets as a cookie opens doors too.
pub(crate) fn headers(headers: &[(String, String)], redactor: &Redactor) -> Value {
    let shown = headers.iter().map(|(name, value)| {
        let value = if name == "set-cookie" {
            paymaster_client::redact::REDACTED.into()
        } else {
            redactor.apply(value)
        };
        json!({"name": name, "value": value})
    });
    shown.collect()
}

/// A time of day, as `2026-01-31T12:00:00.000Z`.
pub(crate) fn moment(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Milliseconds, three digits behind the point.
pub(crate) fn milliseconds(time: Duration) -> Value {
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let text = format!("{}.{:03}", micros / 1000, micros % 1000);
    // Digits with a point between them are a JSON number.
    serde_json::from_str(&text).unwrap_or_default()
}
