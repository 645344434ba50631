//! The target of another binary: the same file, environment and flags as those of a check.

use crate::{
    args::RunArgs,
    settings::{
        Settings, ShownTarget,
        environment::Environment,
        file::LoadTable,
        setup::{RunSetup, SetupError},
    },
    which,
};
use paymaster_client::redact::Redactor;
use paymaster_engine::{knowledge::Knowledge, specification::Specification};
use std::sync::Arc;

/// A target, before the first request to it.
#[derive(Debug)]
pub struct TargetSetup {
    /// Transport, profile, seed and limits; [`Settings::rate`] is the limit of the profile.
    pub settings: Settings,
    /// The target as reports may show it. The embedded server has no URL there, because it ends with the run.
    pub shown_target: ShownTarget,
    /// Replaces the secrets in outputs.
    pub redactor: Redactor,
    /// The `[load]` table of the configuration file.
    pub load: LoadTable,
    /// Whether neither file, environment nor flags name a URL, so that the target is the embedded server.
    pub embedded: bool,
}

/// Reads file, environment and flags, and asks the target which specification it serves where nothing names one. `embedded` is called
/// where no URL is named: it starts a server, and gives its URL and its profile by that specification.
pub async fn read(
    args: &RunArgs,
    url: Option<&str>,
    embedded: impl FnOnce(&Specification) -> Result<(String, Arc<dyn Knowledge>), SetupError>,
) -> Result<TargetSetup, SetupError> {
    let setup = which::read(args, url, &Environment::of_process()).await?;
    let load = setup.load.clone();
    let named = setup.merged.url.clone();
    let is_embedded = named.is_none();
    let (setup, url) = if let Some(url) = named {
        (setup, url)
    } else {
        let (url, profile) = embedded(setup.profile.known.specification())?;
        (setup.for_embedded(&*profile), url)
    };
    let RunSetup { settings, mut shown_target, redactor } = setup.settings(&url)?;
    shown_target.literal.take_if(|_| is_embedded);
    Ok(TargetSetup { settings, shown_target, redactor, load, embedded: is_embedded })
}
