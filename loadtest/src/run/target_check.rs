//! Protects public hosts from a load that their owner may not want.

use std::net::IpAddr;

/// The highest rate for a public host, in requests per second.
pub const PUBLIC_RATE: f64 = 10.0;

/// Whether an address belongs to this machine or to a private network.
pub fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            let [first, second, ..] = v4.octets();
            // 100.64.0.0/10 (RFC 6598): used inside the networks of carriers and clusters.
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

/// Allows more than [`PUBLIC_RATE`] only if every address is private or the user owns the target. `rate` is the highest requested
/// rate in requests per second; `None` for the closed model, which has no limit.
pub fn check(addresses: &[IpAddr], rate: Option<f64>, own_target: bool) -> Result<(), String> {
    let private = !addresses.is_empty() && addresses.iter().all(|address| is_private(*address));
    let slow = rate.is_some_and(|rate| rate <= PUBLIC_RATE);
    if private || own_target || slow {
        return Ok(());
    }
    Err(format!(
        "the target is neither this machine nor on a private network: if you may load it, give --i-own-this-target (or own-target = true under [load] in the profile); otherwise limit the load to {PUBLIC_RATE} requests a second in all: requests-per-second under [target] in the profile, and no rate above it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn private_addresses_are_recognized() {
        for text in "127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.1.1 100.64.0.1 ::1 fd00::1 fe80::1 \
            ::ffff:10.0.0.1"
            .split(' ')
        {
            assert!(is_private(text.parse().unwrap()), "{text}");
        }
        for text in "8.8.8.8 172.32.0.1 100.128.0.1 0.0.0.0 2001:4860:4860::8888 ::ffff:8.8.8.8 ::".split(' ')
        {
            assert!(!is_private(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn a_public_host_gets_a_low_rate_only() {
        let public = addresses(&["10.0.0.1", "8.8.8.8"]);
        assert!(check(&public, Some(PUBLIC_RATE), false).is_ok());
        assert!(check(&public, Some(PUBLIC_RATE + 0.1), false).is_err());
        assert!(check(&public, None, false).is_err());
        assert!(check(&public, None, true).is_ok());
        assert!(check(&addresses(&["10.0.0.1"]), None, false).is_ok());
        assert!(check(&[], None, false).is_err());
    }
}
