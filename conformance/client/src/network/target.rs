//! The URL of the target, parsed once.

use hyper::Uri;
use hyper::header::HeaderValue;
use hyper::http::uri::{Authority, Scheme};

/// The URL of a target, in parts.
#[derive(Clone, Debug)]
pub struct Target {
    /// The URL as it was written, secrets included.
    pub url: String,
    /// Whether the scheme is https.
    pub is_https: bool,
    /// Host name or address, without brackets.
    pub(crate) host: String,
    /// Port, 80 (443 with https) where the URL names none.
    pub(crate) port: u16,
    /// Path and query, as written.
    pub(crate) path: Uri,
    /// The value of the Host header.
    pub authority: HeaderValue,
}

/// Why a text is no URL of a target. The texts contain no part of the URL that could be a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// There is a user, and perhaps a password.
    #[error("user and password in the URL are not supported: give an authorization header with -H")]
    UserInfo,
    #[error("the URL names no host")]
    NoHost,
    /// A part is missing, is none that can be tested, or cannot be read.
    #[error("{0}")]
    Malformed(String),
}

impl Target {
    /// Takes a URL apart.
    pub fn parse(url: &str) -> Result<Self, UrlError> {
        let malformed = |why: &str| UrlError::Malformed(why.to_owned());
        let no_scheme = "the URL has no scheme: write it whole, as in http://127.0.0.1:3000/rpc";
        let (scheme, rest) = url.split_once("://").ok_or_else(|| malformed(no_scheme))?;
        let is_https = scheme.eq_ignore_ascii_case("https");
        if !is_https && !scheme.eq_ignore_ascii_case("http") {
            return Err(malformed("only http:// and https:// URLs can be tested"));
        }
        let rest = rest.split('#').next().unwrap_or_default();
        let split = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(split);
        if authority.contains('@') {
            return Err(UrlError::UserInfo);
        }
        let uri = |text: String, part: &str| -> Result<Uri, UrlError> {
            text.parse().map_err(|cause| malformed(&format!("the {part} of the URL is malformed: {cause}")))
        };
        let whole = uri(format!("http://{authority}/"), "host or port")?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let path = uri(format!("{slash}{path}"), "path or query")?;
        let bracketed = whole.host().unwrap_or_default();
        let host = bracketed.trim_start_matches('[').trim_end_matches(']');
        let port = match authority.strip_prefix(bracketed).unwrap_or_default() {
            "" | ":" if is_https => Some(443),
            "" | ":" => Some(80),
            text => text.trim_start_matches(':').parse().ok(),
        };
        let no_port = "the port of the URL is no number from 0 to 65535";
        let port = port.ok_or_else(|| malformed(no_port))?;
        if host.is_empty() {
            return Err(UrlError::NoHost);
        }
        let authority = HeaderValue::from_str(authority.trim_end_matches(':'));
        let authority = authority.map_err(|_| malformed("the host of the URL is malformed"))?;
        Ok(Self { url: url.to_owned(), is_https, host: host.to_owned(), port, path, authority })
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        if self.is_https { "https" } else { "http" }
    }

    /// The whole URL, as a request to a proxy and a request of HTTP/2 carry it.
    pub(crate) fn absolute(&self) -> Uri {
        let mut parts = self.path.clone().into_parts();
        parts.scheme = Some(if self.is_https { Scheme::HTTPS } else { Scheme::HTTP });
        parts.authority = Authority::try_from(self.authority.as_bytes()).ok();
        // Authority and path were valid when the target was parsed, so this cannot fail.
        Uri::from_parts(parts).unwrap_or_else(|_| self.path.clone())
    }

    /// Host and port, as in `127.0.0.1:3000`: no secret.
    pub fn address(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    /// Scheme, host in lower case and port, as in `http://127.0.0.1:3000`: no secret. Two URLs with the same origin reach the same
    /// server (RFC 6454, section 4).
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme(), self.address().to_ascii_lowercase())
    }

    /// Host name or address, without brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether the host is this machine.
    pub fn is_loopback(&self) -> bool {
        self.host.eq_ignore_ascii_case("localhost")
            || self.host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        self.path.path()
    }

    /// The query, without the question mark.
    pub fn query(&self) -> Option<&str> {
        self.path.query()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_parsed_into_parts() {
        for (url, host, port, path, address) in [
            ("http://127.0.0.1:3000", "127.0.0.1", 3000, "/", "127.0.0.1:3000"),
            ("http://localhost/a/b?c=d#e", "localhost", 80, "/a/b?c=d", "localhost:80"),
            ("HTTP://[::1]:81?k=v", "::1", 81, "/?k=v", "[::1]:81"),
            ("http://[::1]/", "::1", 80, "/", "[::1]:80"),
            ("https://[::1]/", "::1", 443, "/", "[::1]:443"),
            ("https://localhost:/x", "localhost", 443, "/x", "localhost:443"),
        ] {
            let target = Target::parse(url).unwrap();
            assert_eq!(target.host, host);
            assert_eq!(target.port, port);
            assert_eq!(target.path.to_string(), path);
            assert_eq!(target.address(), address);
            assert!(target.is_loopback());
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let origin = |url| Target::parse(url).unwrap().origin();
        assert_eq!(origin("https://Host.test/key?k=v"), "https://host.test:443");
        assert_eq!(origin("https://host.test:443"), origin("HTTPS://HOST.test/other"));
        for other in
            ["http://host.test:443", "https://host.test:8443", "https://a.host.test", "https://host.test."]
        {
            assert_ne!(origin(other), origin("https://host.test"), "{other}");
        }
    }

    #[test]
    fn a_proxy_gets_the_whole_url() {
        for (url, whole) in
            [("http://localhost:/a?b", "http://localhost/a?b"), ("https://[::1]:8443", "https://[::1]:8443/")]
        {
            assert_eq!(Target::parse(url).unwrap().absolute().to_string(), whole);
        }
    }

    #[test]
    fn what_is_no_url_of_a_target_is_refused_with_a_reason() {
        for (url, word) in [
            ("127.0.0.1:3000", "scheme"),
            ("ftp://paymaster.example/secret", "only http"),
            ("http://user:pw@host/", "authorization"),
            ("http://host:99999/", "port"),
            ("http:///path", "host"),
            ("http://host/a b", "path"),
        ] {
            let refusal = Target::parse(url).unwrap_err().to_string();
            assert!(refusal.contains(word), "{url}: {refusal}");
            assert!(!refusal.contains("secret") && !refusal.contains("pw"), "{refusal}");
        }
    }
}
