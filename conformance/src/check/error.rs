//! Why a run could not start.

use std::{error::Error, fmt};

/// Why a run could not start. [`Error::source`] is the cause.
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckError {
    /// The text is no URL that can be judged.
    Url(Box<dyn Error + Send + Sync>),
    /// The settings for TLS cannot be used: the file of certificates, or the host name of the URL.
    Tls(Box<dyn Error + Send + Sync>),
    /// The reference server could not be set up.
    ReferenceServer(Box<dyn Error + Send + Sync>),
    /// The file of the profile cannot be read.
    Profile(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Url(_) => "the URL cannot be judged",
            Self::Tls(_) => "the settings for TLS cannot be used",
            Self::ReferenceServer(_) => "the reference server could not be set up",
            Self::Profile(_) => "the profile cannot be read",
        })
    }
}

impl Error for CheckError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Url(cause) | Self::Tls(cause) | Self::ReferenceServer(cause) | Self::Profile(cause) => {
                Some(cause.as_ref())
            }
        }
    }
}
