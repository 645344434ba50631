//! Proxies, as the usual environment variables name them.

use std::{fmt, sync::Arc};

use base64::{Engine, prelude::BASE64_STANDARD};
use hyper::{Uri, header::HeaderValue};
use hyper_util::client::proxy::matcher::{Builder, Intercept, Matcher};

use crate::environment::Environment;
use crate::network::{ConnectError, Target};

/// Sets what a variable is about.
type SetProxy = fn(Builder, String) -> Builder;

/// The variables in both spellings, and what each sets. The first one that is set counts. `HTTP_PROXY` in capitals is not read under CGI,
/// where its value comes from a header of the request.
const VARIABLES: [([&str; 2], SetProxy); 4] = [
    (["http_proxy", "HTTP_PROXY"], Builder::http),
    (["https_proxy", "HTTPS_PROXY"], Builder::https),
    (["all_proxy", "ALL_PROXY"], Builder::all),
    (["no_proxy", "NO_PROXY"], Builder::no),
];

/// Which proxy is used for which target.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    matcher: Option<Arc<Matcher>>,
    /// The parts of the variables that must not stand in any output.
    pub secrets: Vec<String>,
}

impl Proxies {
    /// The proxies that an environment names.
    pub fn of(environment: &Environment) -> Result<Self, ConnectError> {
        let is_cgi = environment.is_set("REQUEST_METHOD");
        let mut builder = Matcher::builder();
        let mut secrets = Vec::new();
        let mut is_set = false;
        for (variables, set) in VARIABLES {
            let usable = |name: &&str| environment.is_set(name) && !(is_cgi && *name == "HTTP_PROXY");
            let Some(variable) = variables.into_iter().find(usable) else { continue };
            let value = environment.get(variable).map_err(ConnectError::of)?.unwrap_or_default();
            builder = set(builder, value.to_owned());
            if variable.eq_ignore_ascii_case("no_proxy") {
                continue;
            }
            let alone = Matcher::builder().all(value.to_owned()).build();
            if alone.intercept(&Uri::from_static("http://host/")).is_none() {
                return Err(ConnectError::of(format!(
                    "the variable {variable} is no URL of a proxy, as http://host:3128"
                )));
            }
            secrets.extend(credentials(value));
            is_set = true;
        }
        Ok(Self { matcher: is_set.then(|| Arc::new(builder.build())), secrets })
    }

    /// The proxy for a target; none when the target is reached directly.
    pub(crate) fn for_target(&self, target: &Target) -> Result<Option<Proxy>, ConnectError> {
        let matcher = self.matcher.as_ref();
        let intercept = matcher.and_then(|matcher| matcher.intercept(&target.absolute()));
        intercept.as_ref().map(Proxy::of).transpose()
    }
}

/// User and password of a proxy URL, as written and as Proxy-Authorization carries them.
fn credentials(url: &str) -> Vec<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let Some((user_info, _)) = authority.rsplit_once('@') else { return Vec::new() };
    let mut secrets = vec![user_info.to_owned(), BASE64_STANDARD.encode(user_info)];
    if let Some((_, password)) = user_info.split_once(':') {
        secrets.push(password.to_owned());
    }
    secrets
}

/// A proxy between this machine and a target.
#[derive(Clone)]
pub(crate) struct Proxy {
    /// Host and port, as in `proxy.test:3128` or `[::1]:3128`: no secret.
    address: String,
    pub(crate) kind: ProxyKind,
}

/// How a proxy is spoken to.
#[derive(Clone)]
pub(crate) enum ProxyKind {
    /// HTTP: whole URLs for http:// targets, CONNECT for https:// targets.
    Http { authorization: Option<HeaderValue> },
    /// SOCKS5 (RFC 1928).
    Socks5 {
        /// User and password.
        credentials: Option<(String, String)>,
        /// Whether the host name of the target becomes an address on this machine (`socks5://`), and not at the proxy (`socks5h://`).
        resolves_here: bool,
    },
}

impl Proxy {
    fn of(intercept: &Intercept) -> Result<Self, ConnectError> {
        let uri = intercept.uri();
        let credentials = intercept.raw_auth().map(|(user, password)| (user.to_owned(), password.to_owned()));
        let socks5 = |resolves_here| ProxyKind::Socks5 { credentials, resolves_here };
        let (kind, default_port) = match uri.scheme_str().unwrap_or("http") {
            "http" => (ProxyKind::Http { authorization: intercept.basic_auth().cloned() }, 80),
            "socks5" => (socks5(true), 1080),
            "socks5h" => (socks5(false), 1080),
            scheme => {
                return Err(ConnectError::of(format!(
                    "the proxy that the environment names for this target is a {scheme}:// one; only http://, socks5:// and socks5h:// proxies are supported (name the host of the target in no_proxy to go without)"
                )));
            }
        };
        let host = uri.host().unwrap_or_default();
        let port = uri.port_u16().unwrap_or(default_port);
        Ok(Self { address: format!("{host}:{port}"), kind })
    }

    /// The URL of the proxy without credentials, for hyper-util's connectors.
    pub(crate) fn uri(&self) -> Uri {
        let uri = Uri::try_from(format!("http://{}/", self.address));
        // The address comes from a URI, so it is part of a valid one.
        uri.unwrap_or_default()
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({self})")
    }
}

/// Host and port: no secret.
impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &'static str)]) -> Result<Proxies, ConnectError> {
        Proxies::of(&variables.iter().copied().collect())
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
            (&[("HTTP_PROXY", "p:81"), ("REQUEST_METHOD", "GET")], "http://a.test/", None),
            (&[("HTTPS_PROXY", "http://p")], "https://a.test/", Some("p:80")),
            (&[("all_proxy", "http://[::1]:9")], "https://a.test/", Some("[::1]:9")),
            (&[("all_proxy", "http://p:1"), ("NO_PROXY", "b.test,a.test")], "https://a.test/", None),
            (&[("http_proxy", "http://p:1"), ("no_proxy", "127.0.0.0/8,::1")], "http://127.0.0.1:3/", None),
            (&[("http_proxy", "http://p:1"), ("no_proxy", "::1")], "http://[::1]:3/", None),
            (&[("http_proxy", "")], "http://a.test/", None),
            (&[("all_proxy", "socks5h://p")], "http://a.test/", Some("p:1080")),
        ] {
            assert_eq!(chosen(variables, url).as_deref(), proxy, "{variables:?} {url}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused_without_showing_it() {
        let refusal = proxies(&[("https_proxy", "ftp://u:topsecret@p")]);
        let refusal = refusal.unwrap_err().to_string();
        assert!(refusal.contains("https_proxy") && !refusal.contains("topsecret"), "{refusal}");
        let target = Target::parse("http://a.test/").unwrap();
        let socks = proxies(&[("all_proxy", "socks4://u:topsecret@p:1")]).unwrap();
        let refusal = socks.for_target(&target).unwrap_err().to_string();
        assert!(refusal.contains("socks4") && !refusal.contains("topsecret"), "{refusal}");
    }

    #[test]
    fn credentials_are_secret_in_every_form() {
        let proxies = proxies(&[("http_proxy", "http://user:topsecret@p:1")]).unwrap();
        assert_eq!(proxies.secrets, ["user:topsecret", "dXNlcjp0b3BzZWNyZXQ=", "topsecret"]);
        let target = Target::parse("http://a.test/").unwrap();
        let proxy = proxies.for_target(&target).unwrap().unwrap();
        let ProxyKind::Http { authorization } = &proxy.kind else {
            panic!("an HTTP proxy");
        };
        assert_eq!(authorization.as_ref().unwrap(), "Basic dXNlcjp0b3BzZWNyZXQ=");
        assert_eq!(format!("{proxy:?}"), "Proxy(p:1)");
    }

    #[test]
    fn socks_resolves_here_or_at_the_proxy() {
        let target = Target::parse("https://a.test/").unwrap();
        for (url, expected) in [("socks5://user:a%20b@p", true), ("socks5h://user:a%20b@p", false)] {
            let chosen = proxies(&[("all_proxy", url)]).unwrap().for_target(&target);
            let ProxyKind::Socks5 { credentials, resolves_here } = chosen.unwrap().unwrap().kind else {
                panic!("a SOCKS proxy");
            };
            assert_eq!(resolves_here, expected);
            assert_eq!(credentials, Some(("user".to_owned(), "a b".to_owned())));
        }
    }
}
