//! `[cors]` of the configuration: which web pages may call the server (Cross-Origin Resource Sharing).

use crate::config::ConfigError;

config! {
    /// The web pages that may read responses of the server.
    pub struct CorsConfig {
        /// Origins of the pages, such as `http://localhost:5173`; `*` is any origin, and an empty list is none.
        pub origins: Vec<String> = vec![ANY.to_owned()],
    }
}

/// Stands for any origin.
const ANY: &str = "*";
/// The origin of pages without one of their own: files, and sandboxed frames.
const NULL: &str = "null";

/// The origins that are allowed, as browsers write them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cors {
    /// Every origin.
    Any,
    /// These origins only.
    Listed(Vec<String>),
}

impl Cors {
    pub(crate) fn new(config: &CorsConfig) -> Result<Self, ConfigError> {
        let origins = config.origins.iter().map(|text| {
            serialized(text).ok_or_else(|| {
                let wanted = "`*`, `null` or an origin without a path, such as http://localhost:5173";
                ConfigError::value("cors.origins", wanted, text)
            })
        });
        let origins = origins.collect::<Result<Vec<_>, _>>()?;
        Ok(if origins.iter().any(|origin| origin == ANY) { Self::Any } else { Self::Listed(origins) })
    }

    /// Whether pages of that origin may read responses.
    pub(crate) fn allows(&self, origin: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(origins) => origins.iter().any(|allowed| allowed.as_bytes() == origin),
        }
    }
}

/// An origin as browsers write it: in lower case, without the default port of its scheme; none when `text` is no origin.
fn serialized(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    if text == ANY || text == NULL {
        return Some(text);
    }
    let (scheme, authority) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_lowercase());
    let in_authority = |letter: char| letter.is_ascii_alphanumeric() || "-._:[]".contains(letter);
    if !is_scheme || authority.is_empty() || !authority.chars().all(in_authority) {
        return None;
    }
    let default_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return Some(text),
    };
    let origin = text.strip_suffix(default_port).unwrap_or(&text);
    Some(origin.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cors(origins: &[&str]) -> Result<Cors, ConfigError> {
        let origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
        Cors::new(&CorsConfig { origins })
    }

    #[test]
    fn origins_are_compared_as_browsers_write_them() {
        for (configured, sent) in [
            ("http://localhost:5173", "http://localhost:5173"),
            ("HTTP://LocalHost:80", "http://localhost"),
            ("https://wallet.example:443", "https://wallet.example"),
            ("http://[::1]:3000", "http://[::1]:3000"),
            ("chrome-extension://abcdef", "chrome-extension://abcdef"),
            ("null", "null"),
            ("*", "https://any.example"),
        ] {
            let cors = cors(&[configured]).unwrap();
            assert!(cors.allows(sent.as_bytes()), "{configured} {sent}");
        }
        let listed = cors(&["http://localhost:5173"]).unwrap();
        for other in ["http://localhost", "https://localhost:5173", "http://localhost:51730", "null", ""] {
            assert!(!listed.allows(other.as_bytes()), "{other}");
        }
        assert!(!cors(&[]).unwrap().allows(b"null"));
    }

    #[test]
    fn what_is_no_origin_is_refused() {
        for text in [
            "",
            "localhost:5173",
            "http://",
            "http://localhost:5173/",
            "http://user@host",
            "http://*.example",
        ] {
            let error = cors(&[text]).unwrap_err().to_string();
            assert!(
                error.contains("`cors.origins` must be") && error.contains("http://localhost:5173"),
                "{error}"
            );
        }
    }
}
