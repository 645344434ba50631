//! The request headers of published HTTP clients, as they send them with a JSON-RPC request over plain HTTP.
//!
//! To add a client, add it to `clients.txt`. Names of headers are case-insensitive; they stand in lower case, as in HTTP/2.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use paymaster_exchange::HeaderSet;

/// Every client, as `clients.txt` describes them.
pub static CLIENTS: LazyLock<Vec<Arc<HeaderSet>>> = LazyLock::new(|| {
    let mut clients: Vec<HeaderSet> = Vec::new();
    for line in include_str!("clients.txt").lines().filter(|line| !line.starts_with('#')) {
        if let Some(head) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            let (name, traits) = head.split_once(' ').unwrap_or((head, ""));
            clients.push(HeaderSet {
                name,
                lines: Cow::default(),
                in_title_case: traits.contains("title-case"),
                spaces_json: traits.contains("spaces"),
            });
        } else if let Some((client, line)) = clients.last_mut().zip(line.split_once(": ")) {
            client.lines.to_mut().push(line);
        }
    }
    clients.into_iter().map(Arc::new).collect()
});

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
