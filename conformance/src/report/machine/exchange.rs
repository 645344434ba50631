//! Exchanges in reports for machines: bodies, headers and times, with secrets replaced.

use std::time::{Duration, SystemTime};

use base64::{Engine, prelude::BASE64_STANDARD};
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::report::text::curl;
use paymaster_client::redact::Redactor;
use paymaster_exchange::{Exchange, HeaderSet};
use paymaster_settings::settings::ShownTarget;

/// The encoding of a body in a report.
pub(crate) enum EncodedBody {
    /// Text, with its secrets replaced.
    Text(String),
    /// Base64 of bytes that are not UTF-8.
    Base64(String),
}

/// Encodes a body. Bytes that are not UTF-8 are encoded in base64, unless they contain a secret.
pub(crate) fn body(bytes: &[u8], redactor: &Redactor) -> EncodedBody {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return EncodedBody::Text(redactor.apply(text).into_owned());
    }
    let lossy = String::from_utf8_lossy(bytes);
    let clean = redactor.apply(&lossy);
    if clean == lossy {
        EncodedBody::Base64(BASE64_STANDARD.encode(bytes))
    } else {
        EncodedBody::Text(clean.into_owned())
    }
}

impl EncodedBody {
    /// `{"body": "..."}` or `{"body_base64": "..."}`.
    pub(crate) fn json(self) -> Value {
        match self {
            Self::Text(text) => json!({"body": text}),
            Self::Base64(text) => json!({"body_base64": text}),
        }
    }
}

/// The response as JSON: status, headers and body, or why there is no response.
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

/// `[{"name": ..., "value": ...}]`. The values of cookies are credentials and are replaced.
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

/// The headers of a published client as they were sent, in the same form.
pub(crate) fn sent_headers(headers: &HeaderSet, place: &ShownTarget) -> Vec<Value> {
    curl::sent_headers(headers, place).map(|(name, value)| json!({"name": name, "value": value})).collect()
}

/// A time, such as `2026-01-31T12:00:00.000Z`.
pub(crate) fn moment(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// Milliseconds with three decimals, as a JSON number.
pub(crate) fn milliseconds(time: Duration) -> Value {
    let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let text = format!("{}.{:03}", micros / 1000, micros % 1000);
    // This text is always a JSON number.
    serde_json::from_str(&text).unwrap_or_default()
}
