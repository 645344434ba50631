//! The request headers of published HTTP clients, as they send them with a JSON-RPC request over plain HTTP.
//!
//! To add a client, add a row to `SETS`. Names of headers are case-insensitive; they stand in lower case, as in HTTP/2.

use std::sync::{Arc, LazyLock};

use paymaster_exchange::HeaderSet;

/// Every client. `host` and `content-length` are left out: our own client sends them.
pub static CLIENTS: LazyLock<Vec<Arc<HeaderSet>>> =
    LazyLock::new(|| SETS.iter().cloned().map(Arc::new).collect());

static SETS: &[HeaderSet] = &[
    // The http transport of viem, in Node's fetch.
    HeaderSet::new(
        "viem",
        &[
            ("content-type", "application/json"),
            ("accept", "*/*"),
            ("accept-language", "*"),
            ("sec-fetch-mode", "cors"),
            ("user-agent", "node"),
            ("accept-encoding", "gzip, deflate"),
        ],
    ),
    // @biconomy/account 4, in Node's fetch.
    HeaderSet::new(
        "biconomy",
        &[
            ("accept", "application/json"),
            ("content-type", "application/json"),
            ("accept-language", "*"),
            ("sec-fetch-mode", "cors"),
            ("user-agent", "node"),
            ("accept-encoding", "gzip, deflate"),
        ],
    ),
    // ethers 6, in Node's http: names in title case, no accept, no user-agent, and before Node 19 no connection that is kept.
    HeaderSet::new(
        "ethers",
        &[("accept-encoding", "gzip"), ("content-type", "application/json"), ("connection", "close")],
    )
    .in_title_case(),
    HeaderSet::new(
        "axios",
        &[
            ("accept", "application/json, text/plain, */*"),
            ("content-type", "application/json"),
            ("user-agent", "axios/1.7.9"),
            ("accept-encoding", "gzip, compress, deflate, br"),
        ],
    ),
    // axios in a backend that passes the id of its own request on.
    HeaderSet::new(
        "axios-with-request-id",
        &[
            ("accept", "application/json, text/plain, */*"),
            ("content-type", "application/json"),
            ("x-request-id", "5f3c7f3e-8f2b-4c66-9d0a-1f6f0c9f2f11"),
            ("user-agent", "axios/1.7.9"),
            ("accept-encoding", "gzip, compress, deflate, br"),
        ],
    ),
    // fetch of a wallet's page in Firefox.
    HeaderSet::new(
        "browser",
        &[
            ("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"),
            ("accept", "*/*"),
            ("accept-language", "en-US,en;q=0.5"),
            ("accept-encoding", "gzip, deflate, br"),
            ("referer", "https://wallet.example/"),
            ("content-type", "application/json"),
            ("origin", "https://wallet.example"),
            ("sec-fetch-dest", "empty"),
            ("sec-fetch-mode", "cors"),
            ("sec-fetch-site", "cross-site"),
        ],
    ),
    // Go's net/http: no accept.
    HeaderSet::new(
        "go",
        &[
            ("user-agent", "Go-http-client/1.1"),
            ("content-type", "application/json"),
            ("accept-encoding", "gzip"),
        ],
    ),
    // web3j on OkHttp: no accept.
    HeaderSet::new(
        "web3j",
        &[
            ("content-type", "application/json; charset=utf-8"),
            ("accept-encoding", "gzip"),
            ("user-agent", "okhttp/4.9.0"),
        ],
    ),
    // cURL without options: no accept-encoding, so that every coding is acceptable.
    HeaderSet::new(
        "curl",
        &[("user-agent", "curl/8.5.0"), ("accept", "*/*"), ("content-type", "application/json")],
    ),
    // fetch of a wallet's page in Chromium: zstd, another language.
    HeaderSet::new(
        "chrome",
        &[
            ("content-type", "application/json"),
            ("accept", "*/*"),
            ("accept-encoding", "gzip, deflate, br, zstd"),
            ("accept-language", "pl-PL,pl;q=0.9,de;q=0.7"),
            ("origin", "https://wallet.example"),
            ("sec-fetch-mode", "cors"),
            (
                "user-agent",
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
            ),
        ],
    ),
    // A backend behind two proxies that passes on where its own request came from.
    HeaderSet::new(
        "traced-backend",
        &[
            ("accept", "application/json, text/plain, */*"),
            ("content-type", "application/json"),
            ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
            ("x-forwarded-for", "203.0.113.7, 198.51.100.23"),
            ("x-forwarded-proto", "https"),
            ("user-agent", "axios/1.7.9"),
            ("accept-encoding", "gzip, compress, deflate, br"),
        ],
    ),
    // Node's http with a body that is written in parts: chunked, in HTTP/1.1.
    HeaderSet::new("streaming", &[("content-type", "application/json"), ("transfer-encoding", "chunked")]),
    // Retrofit on OkHttp: the charset in capitals.
    HeaderSet::new(
        "retrofit",
        &[
            ("content-type", "application/json; charset=UTF-8"),
            ("accept-encoding", "gzip"),
            ("user-agent", "okhttp/4.12.0"),
        ],
    ),
    // fetch of a wallet that is an extension of Chromium, in a language that writes numbers in digits of its own.
    HeaderSet::new(
        "extension",
        &[
            ("content-type", "application/json"),
            ("accept", "*/*"),
            ("accept-encoding", "gzip, deflate, br, zstd"),
            ("accept-language", "fa-IR,fa;q=0.9"),
            ("origin", "chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn"),
            ("sec-fetch-dest", "empty"),
            ("sec-fetch-mode", "cors"),
            ("sec-fetch-site", "none"),
            ("priority", "u=1, i"),
        ],
    ),
    // requests in a Python backend, which sends what json.dumps wrote: spaces behind colons and commas.
    HeaderSet::new(
        "python-requests",
        &[
            ("user-agent", "python-requests/2.32.3"),
            ("accept-encoding", "gzip, deflate"),
            ("accept", "*/*"),
            ("content-type", "application/json"),
        ],
    )
    .with_spaces(),
];

/// One group in this many is sent with the headers of a client.
const SHARE: u64 = 4;

/// The step of splitmix64 from one state to the next.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The number that splitmix64 makes of a state: well mixed, and the same everywhere.
pub fn mixed(state: u64) -> u64 {
    let mut mixed = state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The client whose headers a group is sent with; none for the plain headers. It depends on the seed and the number of the group
/// alone, so that the same seed sends the same bytes at any concurrency.
pub fn client_of_group(seed: u64, number: usize) -> Option<Arc<HeaderSet>> {
    let mixed = mixed(seed.wrapping_add((number as u64 + 1).wrapping_mul(GOLDEN)));
    let place = (mixed / SHARE) % CLIENTS.len() as u64;
    let client = usize::try_from(place).ok().and_then(|place| CLIENTS.get(place));
    client.filter(|_| mixed.is_multiple_of(SHARE)).cloned()
}

/// The client with this name.
pub fn find_client(name: &str) -> Option<Arc<HeaderSet>> {
    CLIENTS.iter().find(|client| client.name == name).cloned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn names_are_unique_and_lines_are_well_formed() {
        for client in &*CLIENTS {
            assert!(
                Arc::ptr_eq(&find_client(client.name).unwrap(), client),
                "{} is listed twice",
                client.name
            );
            let content_type = client.header("content-type").unwrap_or_default();
            assert!(content_type.starts_with("application/json"), "{}", client.name);
            for (name, value) in &*client.lines {
                let token = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
                assert!(name.bytes().all(token), "{name}");
                assert!(value.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{value}");
            }
        }
    }

    #[test]
    fn every_client_has_its_part_of_a_quarter_of_the_groups() {
        const GROUPS: usize = 40_000;
        for seed in [0, 1, 7, u64::MAX] {
            let mut counts = BTreeMap::<&str, usize>::new();
            for number in 0..GROUPS {
                if let Some(client) = client_of_group(seed, number) {
                    *counts.entry(client.name).or_default() += 1;
                }
            }
            assert_eq!(counts.len(), CLIENTS.len());
            let even = GROUPS / 4 / CLIENTS.len();
            assert!(
                counts.values().all(|count| (even * 8 / 10..even * 12 / 10).contains(count)),
                "{counts:?}"
            );
        }
    }
}
