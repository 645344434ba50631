//! What the user says of a target, for other binaries: the same file, environment and flags as a check reads.

use std::{path::PathBuf, time::Duration};

use crate::settings::Settings;
use crate::{
    args::{RunArgs, TrustArgs},
    environment::Environment,
    setup::Setup,
};
use paymaster_client::redact::Redactor;

pub use crate::file::LoadTable;

/// What the command line of another binary says of the target.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// The paymaster URL.
    pub url: Option<String>,
    /// The configuration file.
    pub config: Option<PathBuf>,
    /// Request headers, `Name: value`.
    pub headers: Vec<String>,
    /// Total time of one exchange.
    pub timeout: Option<Duration>,
    /// The seed of what is generated.
    pub seed: Option<u64>,
    /// Certificates to believe instead of the platform's.
    pub cacert: Option<PathBuf>,
    /// Whether any certificate is believed.
    pub insecure: bool,
}

/// What is known of a target before it is asked.
#[derive(Debug)]
pub struct Known {
    /// Transport, profile, seed and limits; [`Settings::rate`] is the profile's own limit.
    pub settings: Settings,
    /// Hides the secrets.
    pub redactor: Redactor,
    /// The `[load]` table of the file.
    pub load: LoadTable,
    /// Whether neither file, environment nor flags name a URL, so that the embedded server is meant.
    pub embedded: bool,
}

/// Reads file, environment and flags. `embedded` starts a server to fall back on where no URL is named, and gives its URL
/// and profile; it is not called otherwise.
pub fn read<E>(
    flags: &Flags,
    embedded: impl FnOnce() -> Result<(String, paymaster_judge::target::profile::Profile), E>,
) -> Result<Known, String>
where
    E: std::fmt::Display,
{
    let environment = Environment::of_process();
    let args = RunArgs {
        config: flags.config.clone(),
        headers: flags.headers.clone(),
        seed: flags.seed,
        timeout: flags.timeout,
        trust: TrustArgs {
            cacert: flags.cacert.clone(),
            insecure: flags.insecure,
        },
        ..RunArgs::default()
    };
    let setup = Setup::read(&args, flags.url.as_deref(), &environment)?;
    let load = setup.load.clone();
    let own = setup.layer.url.clone();
    let is_embedded = own.is_none();
    let (setup, url) = if let Some(url) = own {
        (setup, url)
    } else {
        let (url, profile) = embedded().map_err(|cause| format!("the embedded server: {cause}"))?;
        (setup.of_known(profile), url)
    };
    let (settings, _, redactor) = setup.settings(&url)?;
    Ok(Known {
        settings,
        redactor,
        load,
        embedded: is_embedded,
    })
}

/// Whether the environment declines colours.
pub fn is_plain() -> bool {
    Environment::of_process().is_plain()
}
