//! Heads of messages as they are passed on.

use hyper::{
    HeaderMap,
    header::{ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderName, TRAILER},
};

/// Headers that end at each hop, beside those that Connection names (RFC 9110, section 7.6.1).
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

/// The headers of a request as they are passed on.
pub(super) fn of_request(headers: &HeaderMap) -> HeaderMap {
    end_to_end(headers, &[HOST, ACCEPT_ENCODING, CONTENT_LENGTH, EXPECT])
}

/// The headers of an answer as they are passed on. Its body is passed on whole, so its length is known anew, but for an answer
/// to HEAD, which has the length of a body that is not there.
pub(super) fn of_answer(headers: &HeaderMap, to_head: bool) -> HeaderMap {
    let ours: &[HeaderName] = if to_head {
        &[TRAILER]
    } else {
        &[TRAILER, CONTENT_LENGTH]
    };
    end_to_end(headers, ours)
}

/// Every header but those of one hop and those that are `ours` to set, in their order.
fn end_to_end(headers: &HeaderMap, ours: &[HeaderName]) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    let mut passed = HeaderMap::new();
    for (name, value) in headers {
        if !HOP_BY_HOP.contains(&name.as_str()) && !named.contains(name) && !ours.contains(name) {
            passed.append(name, value.clone());
        }
    }
    passed
}

/// Path and query to ask the upstream for: the upstream's own, and behind it what the wallet asked for. A wallet that is given
/// the relay's bare address is asking for the upstream's URL as it is.
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
    fn the_wallets_path_stands_behind_the_upstreams() {
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
    fn what_is_for_one_hop_ends_here_and_the_rest_is_kept() {
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
