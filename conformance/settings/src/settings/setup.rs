//! Merges the settings of all sources, and makes of them a transport, a profile and the description of the target in reports.

use std::{error::Error, path::PathBuf, time::Duration};

use crate::{
    args::{RunArgs, TrustArgs},
    headers::{self, Header},
    output::shell,
    settings::{
        Settings, ShownTarget,
        environment::Environment,
        file::{self, LoadTable, TargetProfile},
        profile_file::ProfileFile,
        public_words::is_common,
    },
};
use paymaster_client::{
    http::transport::Transport,
    network::{
        connector::{ConnectError, Connector},
        proxies::Proxies,
        target::Target,
    },
    redact::Redactor,
};
use paymaster_engine::{knowledge::Knowledge, specification::Specification};

/// The budget of a quick run.
pub const QUICK: Duration = Duration::from_mins(1);

/// Why the settings cannot be used: the error of what was read or built, as the user reads it.
pub type SetupError = Box<dyn Error + Send + Sync>;

/// The merged settings of all sources.
#[derive(Debug)]
pub struct Setup {
    /// What flags, environment and configuration file set.
    pub merged: RunArgs,
    /// The list of known failures that the configuration file names.
    pub known_failing: Option<PathBuf>,
    /// The profile of the target.
    pub profile: TargetProfile,
    /// The `[load]` table.
    pub load: LoadTable,
    /// The configuration file that was read.
    config: Option<PathBuf>,
    headers: Vec<Header>,
    proxies: Proxies,
    embedded: bool,
    /// How many requests asked the target which specification it serves.
    pub(crate) asked: usize,
}

impl Setup {
    /// Reads configuration file, environment and flags.
    pub fn read(args: &RunArgs, url: Option<&str>, environment: &Environment) -> Result<Self, SetupError> {
        let config = file::chosen(args.common.config.as_deref(), environment)?;
        let spec = file::asked(args.common.spec.as_deref(), environment)?;
        let (profile, run) = file::read(config.as_deref(), spec)?;
        let merged = args.merged(url, environment, &profile.target, &run)?;
        let headers = headers::merged(
            &profile.target.headers,
            environment.get("PAYMASTER_HEADERS")?.unwrap_or_default(),
            &args.common.headers,
            environment,
        )?;
        Ok(Self {
            merged,
            known_failing: run.known_failing,
            profile,
            load: run.load,
            config,
            headers,
            proxies: Proxies::of(environment)?,
            embedded: false,
            asked: 0,
        })
    }

    /// The same settings for the embedded server, whose profile is known. The dialect that the user pins is kept; headers are not sent.
    #[must_use]
    pub fn for_embedded(self, known: &dyn Knowledge) -> Self {
        Self {
            profile: known.with_pins_of(&*self.profile.known).into(),
            config: None,
            headers: Vec::new(),
            proxies: Proxies::default(),
            embedded: true,
            asked: 0,
            ..self
        }
    }

    /// The target at a URL. An error where headers of the configuration file may not be sent to it.
    pub fn target(&self, url: &str) -> Result<Target, SetupError> {
        let target = Target::parse(url)?;
        headers::check_origin(&self.headers, &self.profile.target, &target).map_err(|cause| {
            let file = self.config.as_ref().map(|file| format!("{}: ", file.display()));
            format!("{}{cause}", file.unwrap_or_default())
        })?;
        Ok(target)
    }

    /// The same settings with the profile read by another specification than the one that was assumed.
    pub fn judged_by(self, specification: &Specification) -> Result<Self, SetupError> {
        let (profile, _) = file::read(self.config.as_deref(), Some(specification.name))?;
        Ok(Self { profile, ..self })
    }

    /// A transport to the target.
    pub fn transport(&self, url: &str) -> Result<Transport, SetupError> {
        let target = self.target(url)?;
        let connector = self.connector(&target)?;
        let headers: Vec<_> =
            self.headers.iter().map(|header| (header.name.clone(), header.value.clone())).collect();
        Ok(Transport::new(target, self.merged.limits(), &headers).with_connector(connector))
    }

    /// A transport to another URL than the target's, with the same proxies, trust and limits, and without the headers.
    pub fn transport_to(&self, url: &str) -> Result<Transport, SetupError> {
        let target = Target::parse(url)?;
        let connector = self.connector(&target)?;
        Ok(Transport::new(target, self.merged.limits(), &[]).with_connector(connector))
    }

    fn connector(&self, target: &Target) -> Result<Connector, ConnectError> {
        Connector::new(target, &self.merged.common.trust.trust(), &self.proxies)
    }

    /// The options with which `replay` sends requests as this run did: the configuration file, the time of idle connections and, as shell variables, the headers that do
    /// not come from it.
    fn replay_options(&self) -> String {
        let given = self.headers.iter().filter(|header| !header.of_profile);
        let idle = self.merged.idle.map(|idle| format!(" --idle {}ms", idle.as_millis()));
        let config = shell::config_option(self.config.as_deref());
        given.fold(config + idle.as_deref().unwrap_or_default(), |options, header| {
            let line = format!("{}: {}", header.name, header.shell);
            format!("{options} -H {}", shell::quoted(&line))
        })
    }

    /// The settings of a run against a URL.
    pub fn settings(self, url: &str) -> Result<RunSetup, SetupError> {
        let transport = self.transport(url)?;
        let target = &transport.target;
        let mut redactor = Redactor::with_public_words(is_common);
        for secret in self.headers.iter().flat_map(Header::secrets) {
            redactor.hide_header(secret);
        }
        for secret in self.proxies.secrets() {
            redactor.hide(secret);
        }
        let (shown, is_whole) = shown_url(target, &mut redactor, &self.profile.target.public_path_segments);
        let (curl_options, connection_warnings) = trust_notes(&self.merged.common.trust, target.is_https());
        let shown_target = ShownTarget {
            literal: is_whole.then(|| shown.clone()),
            shown,
            embedded: self.embedded,
            headers: self
                .headers
                .iter()
                .map(|header| (header.name.to_string(), header.shell.clone()))
                .collect(),
            curl_options,
            replay_options: self.replay_options(),
            profile: self.config.as_deref().and_then(ProfileFile::read),
            connection_warnings,
            ..ShownTarget::default()
        };
        let shown = shown_target.shown.clone();
        let settings = Settings::new(transport, shown, self.profile.known, self.merged);
        let settings = Settings { asked: self.asked, ..settings };
        Ok(RunSetup { settings, shown_target, redactor, load: self.load })
    }
}

/// A run against a URL, before the first request to it.
#[derive(Debug)]
pub struct RunSetup {
    /// Transport, profile, seed and limits.
    pub settings: Settings,
    /// The target as reports may show it.
    pub shown_target: ShownTarget,
    /// Replaces the secrets of the target in outputs.
    pub redactor: Redactor,
    /// The `[load]` table of the configuration file.
    pub load: LoadTable,
}

/// The URL of a target without its secrets, and whether it has none. Its secrets are replaced from then on.
pub fn shown_url(target: &Target, redactor: &mut Redactor, public_segments: &[String]) -> (String, bool) {
    let (path, query) = (target.path(), target.query());
    let shown = redactor.hide_path(path, query, target.is_loopback(), public_segments);
    let is_whole = shown == query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
    (format!("{}://{}{shown}", target.scheme(), target.address()), is_whole)
}

/// The options with which cURL trusts the same certificates, and the warnings for readers of a report.
pub fn trust_notes(trust: &TrustArgs, https: bool) -> (String, Vec<String>) {
    if !https {
        return Default::default();
    }
    match &trust.cacert {
        _ if trust.insecure => (
            " --insecure".to_owned(),
            vec![
                "the target's certificate was not verified (--insecure): anyone on the network path can have read the key and answered"
                    .to_owned(),
            ],
        ),
        Some(path) => (
            format!(" --cacert {}", shell::quoted(&path.display().to_string())),
            Vec::new(),
        ),
        None => Default::default(),
    }
}
