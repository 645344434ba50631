//! From layers of settings to a run: transport, profile, and what may stand in reports.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use crate::public_words::is_common;
use crate::settings::{Place, Settings};
use crate::shell;
use crate::{
    args::RunArgs,
    environment::Environment,
    file::{self, LoadTable},
    headers::{self, Header},
    layer::Layer,
};
use paymaster_client::{
    connector::Connector, proxies::Proxies, redact::Redactor, target::Target, tls::Trust,
    transport::Transport,
};
use paymaster_judge::{
    cases::plan::DEFAULT_CASES,
    session::tally::Strictness,
    target::profile::{self, Profile},
};

/// The seed of a run that names none.
pub const DEFAULT_SEED: u64 = 1;
/// Enough that 1,000 cases against a target that takes 200 ms an answer end within 10 seconds, relations included.
pub const DEFAULT_JOBS: usize = 100;
/// The time limit of a run that names none.
pub const DEFAULT_TIME_LIMIT: Duration = Duration::from_mins(5);
/// The request budget of making one failure small.
pub const DEFAULT_SHRINK_REQUESTS: u32 = 60;

/// Everything that was said, merged.
#[derive(Debug)]
pub struct Setup {
    /// The merged settings.
    pub layer: Layer,
    /// The profile of the target.
    pub profile: Profile,
    /// The `[load]` table.
    pub load: LoadTable,
    /// The configuration file that was read.
    config: Option<PathBuf>,
    headers: Vec<Header>,
    proxies: Proxies,
    embedded: bool,
}

impl Setup {
    /// Reads file, environment and flags.
    pub fn read(args: &RunArgs, url: Option<&str>, environment: &Environment) -> Result<Self, String> {
        let config = file::chosen(args.config.as_deref(), environment);
        let (profile, run) = file::read(config.as_deref())?;
        let layer = Layer::of_flags(args, url)
            .over(Layer::of_environment(environment)?)
            .over(Layer::of_file(&profile.target, &run)?)
            .checked()?;
        let headers = headers::merged(
            &profile.target.headers,
            environment.get("PAYMASTER_HEADERS").unwrap_or_default(),
            &args.headers,
            environment,
        )?;
        Ok(Self {
            layer,
            profile,
            load: run.load,
            config,
            headers,
            proxies: Proxies::of(|name| environment.get(name)).map_err(|cause| cause.to_string())?,
            embedded: false,
        })
    }

    /// The same settings for a target of which all is known; the dialect that the user pins stands, headers are not sent.
    #[must_use]
    pub fn of_known(self, known: Profile) -> Self {
        Self {
            layer: self.layer,
            profile: Profile {
                target: profile::Target::default(),
                dialect: self.profile.dialect,
                ..known
            },
            load: self.load,
            config: None,
            headers: Vec::new(),
            proxies: Proxies::default(),
            embedded: true,
        }
    }

    /// The target at a URL; an error where headers of the profile may not be sent to it.
    pub fn target(&self, url: &str) -> Result<Target, String> {
        let target = Target::parse(url).map_err(|cause| cause.to_string())?;
        headers::may_be_sent(&self.headers, &self.profile.target, &target).map_err(|cause| {
            let file = self.config.as_deref().map(Path::display);
            file.map_or(cause.clone(), |file| format!("{file}: {cause}"))
        })?;
        Ok(target)
    }

    /// A way to another URL than the target's, by the same proxies, with the same trust and bounds, and without the headers.
    pub fn transport_to(&self, url: &str) -> Result<Transport, String> {
        let target = Target::parse(url).map_err(|cause| cause.to_string())?;
        let connector = self.connector(&target)?;
        Ok(Transport::new(target, self.layer.limits(), &[]).with_connector(connector))
    }

    fn trust(&self) -> Trust {
        Trust {
            cacert: self.layer.cacert.clone(),
            insecure: self.layer.insecure.unwrap_or_default(),
        }
    }

    fn connector(&self, target: &Target) -> Result<Connector, String> {
        Connector::new(target, &self.trust(), &self.proxies).map_err(|cause| cause.to_string())
    }

    /// What `replay` has to be given so that it asks as this run did: the configuration file and, as variables, the headers that do not
    /// come from it.
    fn replay_options(&self) -> String {
        let given = self.headers.iter().filter(|header| !header.of_profile);
        given.fold(shell::config_option(self.config.as_deref()), |options, header| {
            let line = format!("{}: {}", header.name, header.shell);
            format!("{options} -H {}", shell::quoted(&line))
        })
    }

    /// The settings of a run against a URL, and what of it may be shown.
    pub fn settings(self, url: &str) -> Result<(Settings, Place, Redactor), String> {
        let target = self.target(url)?;
        let mut redactor = Redactor::with_public_words(is_common);
        for secret in self.headers.iter().flat_map(Header::secrets) {
            redactor.hide_header(secret);
        }
        for secret in self.proxies.secrets() {
            redactor.hide(secret);
        }
        let connector = self.connector(&target)?;
        let path = redactor.hide_path(
            target.path(),
            target.query(),
            target.is_loopback(),
            &self.profile.target.public_path_segments,
        );
        let whole = target.query().map_or_else(
            || target.path().to_owned(),
            |query| format!("{}?{query}", target.path()),
        );
        let shown = format!("{}://{}{path}", target.scheme(), target.address());
        let (curl_options, warnings) = told_of(&self.trust(), target.is_https());
        let place = Place {
            literal: (path == whole).then(|| shown.clone()),
            shown,
            embedded: self.embedded,
            headers: self
                .headers
                .iter()
                .map(|header| (header.name.to_string(), header.shell.clone()))
                .collect(),
            curl_options,
            replay_options: self.replay_options(),
            warnings,
            ..Place::default()
        };
        let layer = self.layer;
        let limits = layer.limits();
        let headers: Vec<_> = self
            .headers
            .iter()
            .map(|header| (header.name.clone(), header.value.clone()))
            .collect();
        let settings = Settings {
            transport: Transport::new(target, limits, &headers).with_connector(connector),
            shown_target: place.shown.clone(),
            profile: self.profile,
            seed: layer.seed.unwrap_or(DEFAULT_SEED),
            cases: layer.cases.unwrap_or(DEFAULT_CASES),
            jobs: layer.jobs.unwrap_or(DEFAULT_JOBS),
            rate: layer.rate,
            max_requests: layer.max_requests,
            time_limit: layer.time_limit.unwrap_or(DEFAULT_TIME_LIMIT),
            closer_look: true,
            shrink_requests: layer.shrink_requests.unwrap_or(DEFAULT_SHRINK_REQUESTS),
            strictness: Strictness {
                strict: layer.strict.unwrap_or_default(),
                allow_incomplete: layer.allow_incomplete.unwrap_or_default(),
            },
        };
        Ok((settings, place, redactor))
    }
}

/// What cURL has to be told of whom to trust, and the reader of a report.
pub fn told_of(trust: &Trust, https: bool) -> (String, Vec<String>) {
    if !https {
        return Default::default();
    }
    match &trust.cacert {
        _ if trust.insecure => (
            " --insecure".to_owned(),
            vec![
                "the target's certificate was not verified (--insecure): anybody on the way may have answered, and read the key"
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
