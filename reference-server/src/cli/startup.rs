//! What the command prints once it listens: what it serves, and how to judge it when it misbehaves.

use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use paymaster_reference_server::{Config, Fault, Secret, SigningConfig, Variant};
use paymaster_schemas::{Basis, find_clause};

/// A server that listens.
pub(crate) struct Started<'a> {
    pub(crate) config: &'a Config,
    pub(crate) address: SocketAddr,
    /// The address of the metrics, if they are on.
    pub(crate) metrics: Option<SocketAddr>,
    /// The address that signatures recover to.
    pub(crate) signer: &'a str,
    pub(crate) faults: &'a [&'static Fault],
    pub(crate) variants: &'a [&'static Variant],
    /// This program, as it was called.
    pub(crate) program: &'a str,
    /// The arguments on which the profile depends.
    pub(crate) profile_arguments: &'a [String],
}

/// The file that the printed commands write the profile to.
const PROFILE: &str = "reference-profile.toml";
/// The harness, which is built into the same folder.
const HARNESS: &str = "paymaster-conformance";

impl Started<'_> {
    /// The text for a person. Its first line is for programs as well: `listening on http://ADDRESS:PORT`.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("listening on http://{}\n", self.address);
        let mut line = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        line("POST at any path is JSON-RPC; GET /health shows that it runs".to_owned());
        line(self.origins());
        line(self.signatures());
        if self.config.signing.enabled {
            line(self.nonces());
        }
        if let Some(address) = self.metrics {
            line(format!("metrics are at http://{address}/metrics"));
        }
        for fault in self.faults {
            line(format!("fault {}: {}", fault.name, fault.about));
            line(format!("  it breaks {}", statement(fault.clause)));
            if !fault.also.is_empty() {
                line(format!("  and with it {}", fault.also.join(", ")));
            }
        }
        for variant in self.variants {
            line(format!("variant {}: {}", variant.name, variant.about));
            line("  it is lawful: no rule of the specification fails".to_owned());
            if !variant.warns.is_empty() {
                line(format!("  these warn: {}", variant.warns.join(", ")));
            }
        }
        if !self.faults.is_empty() || !self.variants.is_empty() {
            text.push_str(&self.commands());
        }
        text
    }

    fn origins(&self) -> String {
        match &self.config.cors.origins[..] {
            [] => "no web page of another origin can read the responses".to_owned(),
            origins if origins.iter().any(|origin| origin == "*") => {
                "web pages of every origin can read the responses (--cors-origin limits them)".to_owned()
            }
            origins => format!("web pages of these origins can read the responses: {}", origins.join(", ")),
        }
    }

    fn signatures(&self) -> String {
        let signing = &self.config.signing;
        if !signing.enabled {
            return "signing is off: the signatures are zeros".to_owned();
        }
        let public = signing.key == Secret::new(SigningConfig::TEST_KEY);
        let warning = if public { ", a public test key: never send funds to it" } else { "" };
        format!("signatures are for chain {} and by {}{warning}", signing.chain_id, self.signer)
    }

    fn nonces(&self) -> String {
        let url = &self.config.chain.rpc_url;
        if *url == paymaster_reference_server::RpcUrl::default() {
            "every senderNonce in the paymaster's contract is taken as 0 (--chain-rpc reads it from a chain)"
                .to_owned()
        } else {
            // Debug leaves out path and query, which may hold a key.
            format!("the senderNonce of each sponsored sender is read from the chain at {url:?}")
        }
    }

    /// The commands that judge this server.
    fn commands(&self) -> String {
        let sibling = Path::new(self.program).with_file_name(HARNESS);
        let harness = if sibling.is_file() { sibling.display().to_string() } else { HARNESS.to_owned() };
        let mut text = "to judge it, paste into another terminal in the same folder:\n".to_owned();
        let mut command = |words: &[&str], rest: &str| {
            let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {}{rest}", words.join(" "));
        };
        let mut words = vec![self.program];
        words.extend(self.profile_arguments.iter().map(String::as_str));
        words.push("--print-profile");
        let mut specifications = self.faults.iter().map(|fault| fault.specification);
        let mut of_variants = self.variants.iter().map(|variant| variant.specification);
        let is_erc_7677 = |specification| specification == Some("erc-7677");
        let specification: &[&str] = if specifications.any(is_erc_7677) || of_variants.any(is_erc_7677) {
            &["--spec", "erc-7677"]
        } else {
            &[]
        };
        words.extend(specification.last());
        command(&words, &format!(" >{PROFILE}"));
        let url = format!("http://{}/", reachable(self.address));
        let mut words = vec![harness.as_str(), "check", url.as_str(), "--config", PROFILE];
        words.extend(specification);
        let mut clauses: Vec<_> = self.faults.iter().map(|fault| fault.clause).collect();
        clauses.dedup();
        for clause in &clauses {
            words.extend(["--rule", clause]);
        }
        // A broken clause that the specification does not state is only a warning without it.
        let is_stated = |id: &&str| find_clause(id).is_some_and(|clause| clause.basis == Basis::Stated);
        if !clauses.iter().all(is_stated) {
            words.push("--strict");
        }
        command(&words, "");
        text
    }
}

/// A clause with its section and its statement.
fn statement(id: &str) -> String {
    match find_clause(id) {
        Some(clause) => format!("{id} (section {}): {}", clause.section, clause.text),
        None => id.to_owned(),
    }
}

/// The address by which this machine reaches a server that listens at `address`.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address.ip() {
            IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._/:=,[]@".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_every_address_is_reached_by_loopback() {
        for (address, expected) in
            [("0.0.0.0:1", "127.0.0.1:1"), ("[::]:2", "[::1]:2"), ("192.0.2.1:3", "192.0.2.1:3")]
        {
            assert_eq!(reachable(address.parse().unwrap()).to_string(), expected);
        }
    }

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("a.toml"), "a.toml");
        assert_eq!(quoted("my file's"), r"'my file'\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("$HOME"), "'$HOME'");
    }
}
