//! Why a run could not start.

use std::error::Error;

/// Why a run could not start. [`Error::source`] is the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The text is no URL that can be judged.
    #[error("the URL cannot be judged")]
    Url(#[source] Box<dyn Error + Send + Sync>),
    /// The settings for TLS cannot be used: the file of certificates, or the host name of the URL.
    #[error("the settings for TLS cannot be used")]
    Tls(#[source] Box<dyn Error + Send + Sync>),
    /// The reference server could not be set up.
    #[error("the reference server could not be set up")]
    ReferenceServer(#[source] Box<dyn Error + Send + Sync>),
    /// The file of the profile cannot be read.
    #[error("the profile cannot be read")]
    Profile(#[source] Box<dyn Error + Send + Sync>),
}
