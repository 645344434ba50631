//! Which headers, and which path, are forwarded.

use hyper::HeaderMap;
use hyper::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, TRAILER};

/// Hop-by-hop headers, besides those that Connection names (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// The headers of a forwarded request.
pub(super) fn of_request(headers: &HeaderMap) -> HeaderMap {
    end_to_end(headers, &[HOST, ACCEPT_ENCODING, CONTENT_LENGTH, EXPECT])
}

/// The headers of a forwarded answer. Content-Length is set anew for its body, except in an answer to HEAD, which names the length of a
/// body that is not sent.
pub(super) fn of_answer(headers: &HeaderMap, to_head: bool) -> HeaderMap {
    let own: &[HeaderName] = if to_head { &[TRAILER] } else { &[TRAILER, CONTENT_LENGTH] };
    end_to_end(headers, own)
}

/// Every header except hop-by-hop ones and those that the relay sets itself, in their order.
fn end_to_end(headers: &HeaderMap, own: &[HeaderName]) -> HeaderMap {
    let named = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named = named.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok());
    let named: Vec<HeaderName> = named.collect();
    let mut forwarded = HeaderMap::new();
    for (name, value) in headers {
        if !HOP_BY_HOP.contains(&name.as_str()) && !named.contains(name) && !own.contains(name) {
            forwarded.append(name, value.clone());
        }
    }
    forwarded
}

/// Path and query of a forwarded request: those of the upstream, followed by those of the wallet's request. The path `/` of a wallet
/// means the upstream's URL.
pub(super) fn path(
    upstream_path: &str,
    upstream_query: Option<&str>,
    path: &str,
    query: Option<&str>,
) -> String {
    let mut whole = if path == "/" {
        upstream_path.to_owned()
    } else {
        format!("{}{path}", upstream_path.trim_end_matches('/'))
    };
    let queries: Vec<&str> = upstream_query.into_iter().chain(query).collect();
    if !queries.is_empty() {
        whole.push('?');
        whole.push_str(&queries.join("&"));
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wallets_path_follows_the_upstreams() {
        for (upstream, query, asked, more, expected) in [
            ("/", None, "/", None, "/"),
            ("/api/key", None, "/", None, "/api/key"),
            ("/api/key/", None, "/", None, "/api/key/"),
            ("/", None, "/api/key", Some("a=b"), "/api/key?a=b"),
            ("/api/", Some("k=v"), "/x", Some("a=b"), "/api/x?k=v&a=b"),
            ("/api", Some("k=v"), "/", None, "/api?k=v"),
        ] {
            assert_eq!(path(upstream, query, asked, more), expected);
        }
    }

    #[test]
    fn hop_by_hop_headers_are_removed() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Hop"),
            ("x-hop", "1"),
            ("transfer-encoding", "chunked"),
            ("accept-encoding", "br"),
            ("content-length", "3"),
            ("host", "h"),
            ("x-api-key", "k"),
            ("origin", "o"),
        ] {
            headers.insert(name, value.parse().unwrap());
        }
        let names = |headers: &HeaderMap| headers.keys().map(HeaderName::to_string).collect::<Vec<_>>();
        assert_eq!(names(&of_request(&headers)), ["x-api-key", "origin"]);
        assert!(names(&of_answer(&headers, true)).contains(&"content-length".to_owned()));
        assert!(!names(&of_answer(&headers, false)).contains(&"content-length".to_owned()));
    }
}
