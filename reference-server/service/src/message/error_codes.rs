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
    /// Every code, in the order of the enum.
    pub const ALL: [Self; 13] = [
        Self::ParseError,
        Self::InvalidRequest,
        Self::MethodNotFound,
        Self::InvalidParams,
        Self::TokenAbsent,
        Self::TokenUnsupported,
        Self::ChainUnavailable,
        Self::NotSponsored,
        Self::HttpMethod,
        Self::BodyTooLarge,
        Self::BodyIncomplete,
        Self::TooManyConnections,
        Self::OriginNotAllowed,
    ];

    /// The cause with this number in `error.code`.
    pub(crate) fn of(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|known| i64::from(known.code()) == code)
    }

    /// The name in logs and metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ParseError => "parse-error",
            Self::InvalidRequest => "invalid-request",
            Self::MethodNotFound => "method-not-found",
            Self::InvalidParams => "invalid-params",
            Self::TokenAbsent => "token-absent",
            Self::TokenUnsupported => "token-unsupported",
            Self::ChainUnavailable => "chain-unavailable",
            Self::NotSponsored => "not-sponsored",
            Self::HttpMethod => "http-method-not-allowed",
            Self::BodyTooLarge => "body-too-large",
            Self::BodyIncomplete => "body-incomplete",
            Self::TooManyConnections => "too-many-connections",
            Self::OriginNotAllowed => "origin-not-allowed",
        }
    }

    /// The number in `error.code`.
    pub const fn code(self) -> i32 {
        match self {
            Self::ParseError => -32700,
            Self::InvalidRequest => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams => -32602,
            Self::TokenAbsent => -32001,
            Self::TokenUnsupported => -32002,
            Self::ChainUnavailable => -32003,
            Self::NotSponsored => -32004,
            Self::HttpMethod => -32010,
            Self::BodyTooLarge => -32011,
            Self::BodyIncomplete => -32012,
            Self::TooManyConnections => -32013,
            Self::OriginNotAllowed => -32014,
        }
    }

    /// The start of `error.message`.
    pub const fn message(self) -> &'static str {
        match self {
            Self::ParseError => "parse error",
            Self::InvalidRequest => "invalid request",
            Self::MethodNotFound => "method not found",
            Self::InvalidParams => "invalid params",
            Self::TokenAbsent => "no token to pay in",
            Self::TokenUnsupported => "token not supported",
            Self::ChainUnavailable => "chain not available",
            Self::NotSponsored => "not sponsored",
            Self::HttpMethod => "http method not allowed",
            Self::BodyTooLarge => "body too large",
            Self::BodyIncomplete => "body incomplete",
            Self::TooManyConnections => "too many connections",
            Self::OriginNotAllowed => "origin not allowed",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_are_distinct_and_in_the_ranges_of_json_rpc() {
        let codes: HashSet<i32> = ErrorCode::ALL.iter().map(|code| code.code()).collect();
        assert_eq!(codes.len(), ErrorCode::ALL.len());
        let reserved = [-32700, -32600, -32601, -32602];
        for code in codes {
            assert!(reserved.contains(&code) || (-32099..=-32000).contains(&code), "{code}");
        }
    }
}
