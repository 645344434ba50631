//! How much may be sent to a host that is nobody's own.

use std::net::IpAddr;

/// Requests a second that bother nobody.
pub const POLITE: f64 = 10.0;

/// Whether an address belongs to this machine or to a private network.
pub fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            // 100.64.0.0/10 is what carriers and clusters use among themselves.
            let shared = first == 100 && (64..128).contains(&second);
            v4.is_loopback() || v4.is_private() || v4.is_link_local() || shared
        }
        IpAddr::V6(v6) => {
            v6.to_ipv4_mapped().is_some_and(|v4| is_private(v4.into()))
                || v6.is_loopback()
                || v6.is_unique_local()
                || v6.is_unicast_link_local()
        }
    }
}

/// Refuses to send more than a polite rate to a host that is not private and not said to be the user's own. `rate` is the
/// highest asked rate; none in the closed model, which sends as fast as it is answered.
pub fn check(addresses: &[IpAddr], rate: Option<f64>, own_target: bool) -> Result<(), String> {
    let private = !addresses.is_empty() && addresses.iter().all(|address| is_private(*address));
    let polite = rate.is_some_and(|rate| rate <= POLITE);
    if private || own_target || polite {
        return Ok(());
    }
    Err(format!(
        "the target is neither this machine nor on a private network: give --rate {POLITE} or less, or, if it is yours to load, --i-own-this-target (or own-target = true under [load] in the profile)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn private_addresses_are_known() {
        for text in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.1.1",
            "100.64.0.1",
            "::1",
            "fd00::1",
            "fe80::1",
            "::ffff:10.0.0.1",
        ] {
            assert!(is_private(text.parse().unwrap()), "{text}");
        }
        for text in [
            "8.8.8.8",
            "172.32.0.1",
            "100.128.0.1",
            "0.0.0.0",
            "2001:4860:4860::8888",
            "::ffff:8.8.8.8",
            "::",
        ] {
            assert!(!is_private(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn a_strange_host_gets_a_polite_rate_and_no_more() {
        let strange = addresses(&["10.0.0.1", "8.8.8.8"]);
        assert!(check(&strange, Some(POLITE), false).is_ok());
        assert!(check(&strange, Some(POLITE + 0.1), false).is_err());
        assert!(check(&strange, None, false).is_err());
        assert!(check(&strange, None, true).is_ok());
        assert!(check(&addresses(&["10.0.0.1"]), None, false).is_ok());
        assert!(check(&[], None, false).is_err());
    }
}
