//! HTTP proxies, as the usual variables ask for them.

use std::{fmt, sync::Arc};

use base64::{Engine, prelude::BASE64_STANDARD};
use hyper::{Uri, header::HeaderValue};
use hyper_util::client::proxy::matcher::Matcher;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::target::Target;

/// The variables that are read, the first that is set counts. `HTTP_PROXY` in capitals is not read under CGI, where it is a header
/// of whoever sent the request.
pub const VARIABLES: [(&str, &[&str]); 4] = [
    ("http", &["http_proxy", "HTTP_PROXY"]),
    ("https", &["https_proxy", "HTTPS_PROXY"]),
    ("all", &["all_proxy", "ALL_PROXY"]),
    ("no", &["no_proxy", "NO_PROXY"]),
];

/// Which proxy goes with which target.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    matcher: Option<Arc<Matcher>>,
    secrets: Vec<String>,
}

impl Proxies {
    /// The proxies that an environment names; `lookup` gives the value of a variable. The error names the variable, not its value,
    /// which may hold a password.
    pub fn of<'a>(lookup: impl Fn(&str) -> Option<&'a str>) -> Result<Self, String> {
        let is_cgi = lookup("REQUEST_METHOD").is_some();
        let mut builder = Matcher::builder();
        let mut secrets = Vec::new();
        let mut named = false;
        for (kind, variables) in VARIABLES {
            let set = variables.iter().find_map(|variable| {
                let value = lookup(variable).filter(|value| !value.is_empty());
                let told_by_a_stranger = is_cgi && *variable == "HTTP_PROXY";
                value
                    .filter(|_| !told_by_a_stranger)
                    .map(|value| (*variable, value))
            });
            let Some((variable, value)) = set else { continue };
            if kind == "no" {
                builder = builder.no(value.to_owned());
                continue;
            }
            let alone = Matcher::builder().all(value.to_owned()).build();
            if alone.intercept(&Uri::from_static("http://host/")).is_none() {
                return Err(format!(
                    "the variable {variable} is no URL of a proxy, as http://host:3128"
                ));
            }
            secrets.extend(credentials(value));
            named = true;
            builder = match kind {
                "http" => builder.http(value.to_owned()),
                "https" => builder.https(value.to_owned()),
                _ => builder.all(value.to_owned()),
            };
        }
        Ok(Self {
            matcher: named.then(|| Arc::new(builder.build())),
            secrets,
        })
    }

    /// What of the variables may stand in no output.
    pub fn secrets(&self) -> &[String] {
        &self.secrets
    }

    /// The proxy for a target; none when it is asked directly.
    pub(crate) fn for_target(&self, target: &Target) -> Result<Option<Proxy>, String> {
        let Some(intercept) = self
            .matcher
            .as_ref()
            .and_then(|matcher| matcher.intercept(&target.absolute()))
        else {
            return Ok(None);
        };
        let uri = intercept.uri();
        let scheme = uri.scheme_str().unwrap_or("http");
        if scheme != "http" {
            return Err(format!(
                "the proxy that the environment names for this target is a {scheme}:// one; only http:// proxies are supported (name the host of the target in no_proxy to go without)"
            ));
        }
        let host = uri.host().unwrap_or_default();
        Ok(Some(Proxy {
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port: uri.port_u16().unwrap_or(80),
            authorization: intercept.basic_auth().cloned(),
        }))
    }
}

/// User and password of a proxy URL in every form in which they travel.
fn credentials(url: &str) -> Vec<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((user_info, _)) = authority.rsplit_once('@') else {
        return Vec::new();
    };
    let mut secrets = vec![user_info.to_owned(), BASE64_STANDARD.encode(user_info)];
    if let Some((_, password)) = user_info.split_once(':') {
        secrets.push(password.to_owned());
    }
    secrets
}

/// A proxy on the way to a target.
#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) authorization: Option<HeaderValue>,
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

/// Host and port: no secret.
impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// Longest answer to CONNECT that we are willing to read, in bytes.
const LONGEST_HEAD: usize = 8 * 1024;

impl Proxy {
    /// Asks for a tunnel to `address` (RFC 9110, section 9.3.6); afterwards the stream leads to the target.
    pub(crate) async fn tunnel(&self, stream: &mut TcpStream, address: &str) -> Result<(), String> {
        let mut request = format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n").into_bytes();
        if let Some(authorization) = &self.authorization {
            request.extend_from_slice(b"Proxy-Authorization: ");
            request.extend_from_slice(authorization.as_bytes());
            request.extend_from_slice(b"\r\n");
        }
        request.extend_from_slice(b"\r\n");
        let lost = |cause: std::io::Error| format!("the proxy {self}: {cause}");
        stream.write_all(&request).await.map_err(lost)?;
        let mut head = Vec::new();
        // Byte by byte, so that nothing of what stands behind the head is taken from the tunnel; it is one short answer a connection.
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() == LONGEST_HEAD {
                return Err(format!(
                    "the proxy {self} answered CONNECT with more than {LONGEST_HEAD} bytes of headers"
                ));
            }
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(cause) => return Err(lost(cause)),
            }
        }
        let head = String::from_utf8_lossy(&head);
        let mut words = head.lines().next().unwrap_or_default().split(' ');
        let (version, status) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        match status {
            _ if !version.starts_with("HTTP/1.") => Err(format!("the proxy {self} does not speak HTTP/1.1")),
            "407" => Err(format!(
                "the proxy {self} wants a user and a password (407): write them into its URL, as http://user:password@host:port"
            )),
            _ if status.len() == 3 && status.starts_with('2') => Ok(()),
            _ => Err(format!(
                "the proxy {self} refused a tunnel to {address} (status {status})"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &'static str)]) -> Result<Proxies, String> {
        Proxies::of(|name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| *value)
        })
    }

    fn chosen(variables: &[(&str, &'static str)], url: &str) -> Option<String> {
        let target = Target::parse(url).unwrap();
        let proxy = proxies(variables).unwrap().for_target(&target).unwrap();
        proxy.map(|proxy| proxy.to_string())
    }

    #[test]
    fn the_variables_choose_the_proxy() {
        for (variables, url, proxy) in [
            (&[][..], "http://a.test/", None),
            (&[("http_proxy", "http://p:81")], "http://a.test/", Some("p:81")),
            (&[("http_proxy", "http://p:81")], "https://a.test/", None),
            (&[("HTTP_PROXY", "p:81")], "http://a.test/", Some("p:81")),
            (
                &[("HTTP_PROXY", "p:81"), ("REQUEST_METHOD", "GET")],
                "http://a.test/",
                None,
            ),
            (&[("HTTPS_PROXY", "http://p")], "https://a.test/", Some("p:80")),
            (
                &[("all_proxy", "http://[::1]:9")],
                "https://a.test/",
                Some("[::1]:9"),
            ),
            (
                &[("all_proxy", "http://p:1"), ("NO_PROXY", "b.test,a.test")],
                "https://a.test/",
                None,
            ),
            (
                &[("http_proxy", "http://p:1"), ("no_proxy", "127.0.0.0/8,::1")],
                "http://127.0.0.1:3/",
                None,
            ),
            (
                &[("http_proxy", "http://p:1"), ("no_proxy", "::1")],
                "http://[::1]:3/",
                None,
            ),
            (&[("http_proxy", "")], "http://a.test/", None),
        ] {
            assert_eq!(chosen(variables, url).as_deref(), proxy, "{variables:?} {url}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused_without_showing_it() {
        let refusal = proxies(&[("https_proxy", "ftp://u:topsecret@p")]).unwrap_err();
        assert!(
            refusal.contains("https_proxy") && !refusal.contains("topsecret"),
            "{refusal}"
        );
        let target = Target::parse("http://a.test/").unwrap();
        let socks = proxies(&[("all_proxy", "socks5://u:topsecret@p:1")]).unwrap();
        let refusal = socks.for_target(&target).unwrap_err();
        assert!(
            refusal.contains("socks5") && !refusal.contains("topsecret"),
            "{refusal}"
        );
    }

    #[test]
    fn credentials_are_secret_in_every_form() {
        let proxies = proxies(&[("http_proxy", "http://user:topsecret@p:1")]).unwrap();
        assert_eq!(
            proxies.secrets(),
            ["user:topsecret", "dXNlcjp0b3BzZWNyZXQ=", "topsecret"]
        );
        let target = Target::parse("http://a.test/").unwrap();
        let proxy = proxies.for_target(&target).unwrap().unwrap();
        assert_eq!(proxy.authorization.clone().unwrap(), "Basic dXNlcjp0b3BzZWNyZXQ=");
        assert_eq!(format!("{proxy:?}"), "Proxy(p:1)");
    }
}
