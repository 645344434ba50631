//! The codes of error responses: the one table from cause to code and message.
//!
//! The specification (section 7) requires the JSON-RPC error convention and shows no codes. The first four are predefined by
//! JSON-RPC; the others are specific to this server, from the range that JSON-RPC reserves for servers (-32000 to -32099).

/// Why a request gets an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCode {
    /// The body is not JSON, or is nested deeper than the bound.
    ParseError,
    /// The JSON is not a JSON-RPC request.
    InvalidRequest,
    /// The method does not exist.
    MethodNotFound,
    /// The params are not valid for the method; `data` lists each wrong member with the reason.
    InvalidParams,
    /// A token sponsorship names no token (section 4.2, rule 4).
    TokenAbsent,
    /// A token sponsorship names a token that is not supported (section 4.2, rule 5).
    TokenUnsupported,
    /// The policy does not sponsor the operation.
    NotSponsored,
    /// The nonce that a signature covers could not be read from the chain.
    ChainUnavailable,
    /// The HTTP method is not POST.
    HttpMethod,
    /// The body is larger than the configured bound.
    BodyTooLarge,
    /// The body did not arrive whole or not in time.
    BodyIncomplete,
    /// More connections are open than the bound allows.
    TooManyConnections,
    /// A web page of an origin that is not configured asks whether it may call the server.
    OriginNotAllowed,
}

impl ErrorCode {
    /// Every cause, in the order of the enum, with its code, its name in logs and metrics, and the message of the error.
    const TABLE: [(Self, i32, &str, &str); 13] = [
        (Self::ParseError, -32700, "parse-error", "parse error"),
        (Self::InvalidRequest, -32600, "invalid-request", "invalid request"),
        (Self::MethodNotFound, -32601, "method-not-found", "method not found"),
        (Self::InvalidParams, -32602, "invalid-params", "invalid params"),
        (Self::TokenAbsent, -32001, "token-absent", "no token to pay in"),
        (Self::TokenUnsupported, -32002, "token-unsupported", "token not supported"),
        (Self::NotSponsored, -32004, "not-sponsored", "not sponsored"),
        (Self::ChainUnavailable, -32003, "chain-unavailable", "chain not available"),
        (Self::HttpMethod, -32010, "http-method-not-allowed", "http method not allowed"),
        (Self::BodyTooLarge, -32011, "body-too-large", "body too large"),
        (Self::BodyIncomplete, -32012, "body-incomplete", "body incomplete"),
        (Self::TooManyConnections, -32013, "too-many-connections", "too many connections"),
        (Self::OriginNotAllowed, -32014, "origin-not-allowed", "origin not allowed"),
    ];

    /// The cause with this number in `error.code`.
    pub(crate) fn of(code: i64) -> Option<Self> {
        Self::TABLE.into_iter().find(|(_, known, ..)| i64::from(*known) == code).map(|(cause, ..)| cause)
    }

    /// The name in logs and metrics.
    pub(crate) const fn name(self) -> &'static str {
        Self::TABLE[self as usize].2
    }

    /// The number in `error.code`.
    pub const fn code(self) -> i32 {
        Self::TABLE[self as usize].1
    }

    /// The start of `error.message`.
    pub const fn message(self) -> &'static str {
        Self::TABLE[self as usize].3
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_cause_is_in_the_row_of_its_number() {
        assert!(ErrorCode::TABLE.iter().enumerate().all(|(place, (cause, ..))| *cause as usize == place));
    }

    #[test]
    fn codes_are_distinct_and_in_the_ranges_of_json_rpc() {
        let codes: HashSet<i32> = ErrorCode::TABLE.iter().map(|(_, code, ..)| *code).collect();
        assert_eq!(codes.len(), ErrorCode::TABLE.len());
        let reserved = [-32700, -32600, -32601, -32602];
        for code in codes {
            assert!(reserved.contains(&code) || (-32099..=-32000).contains(&code), "{code}");
        }
    }
}
