//! What `judge` and `proxy` share: the options for judging traffic of others, and the session that judges and reports it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hyper::Uri;
use paymaster_client::network::Target;
use paymaster_client::redact::Redactor;
use paymaster_engine::session::{NewlyBroken, RECORDED, RecordedSession, Skipped};
use paymaster_engine::verdict::Strictness;
use paymaster_exchange::{Exchange, Failure};
use paymaster_settings::headers::{self, HeaderError};
use paymaster_settings::settings::file;
use paymaster_settings::{Environment, ProfileFile, ShownTarget, TargetProfile, is_common};

use crate::cli::{ChainArgs, CommandError, JudgingArgs, KnownFailures, Reports, filter};
use crate::events::{Event, SentExchange};
use crate::recorded;
use crate::report::Finished;
use crate::run::{Reporter, Suite};

/// The options for judging traffic, from arguments and configuration file.
pub(crate) struct TrafficOptions {
    pub(crate) profile: TargetProfile,
    pub(crate) strictness: Strictness,
    pub(crate) known: KnownFailures,
    pub(crate) suite: Suite,
    pub(crate) redactor: Redactor,
    /// The configuration file that was read.
    config: Option<PathBuf>,
}

impl TrafficOptions {
    /// Reads arguments and configuration file.
    /// `called` is the specification whose methods the traffic calls, where it is judged by that one.
    pub(crate) fn read(
        args: &JudgingArgs,
        called: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, CommandError> {
        let spec = called.or(file::asked(args.spec.as_deref(), environment)?);
        let config = file::chosen(args.config.as_deref(), environment)?;
        let (profile, run) = file::read(config.as_deref(), spec)?;
        let specification = profile.known.specification();
        let known = KnownFailures::read(&args.output.known, run.known_failing.as_ref(), specification)?;
        let mut suite = Suite::of(specification);
        suite.rules = ChainArgs::default().applicable(filter::rules(&args.rules, suite.rules)?)?;
        suite.known = Arc::clone(&known.list);
        let mut redactor = Redactor::with_public_words(is_common);
        for line in &profile.target.headers {
            let header = match headers::parse(line, environment) {
                // A header whose environment variable is not set has no value to hide.
                Err(HeaderError::NotSet { .. }) => continue,
                header => header?,
            };
            for secret in header.secrets() {
                redactor.hide_header(secret);
            }
        }
        Ok(Self { strictness: args.strictness.or(&run).of_run(), profile, known, suite, redactor, config })
    }

    /// A URL as it may be shown. Its secrets are hidden in all later output.
    pub(crate) fn place(&mut self, url: &str) -> Result<ShownTarget, CommandError> {
        let malformed =
            |cause: &dyn std::fmt::Display| format!("a URL of the recording is malformed: {cause}");
        let uri: Uri =
            url.split('#').next().unwrap_or_default().parse().map_err(|cause| malformed(&cause))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(malformed(&"it has no scheme or no host").into());
        };
        let (user, host) = authority.as_str().rsplit_once('@').unwrap_or(("", authority.as_str()));
        self.redactor.hide(user);
        let loopback =
            matches!(authority.host(), "localhost" | "[::1]") || authority.host().starts_with("127.");
        let public = &self.profile.target.public_path_segments;
        let path = self.redactor.hide_path(uri.path(), uri.query(), loopback, public);
        let shown = format!("{scheme}://{host}{path}");
        let whole =
            uri.query().map_or_else(|| uri.path().to_owned(), |query| format!("{}?{query}", uri.path()));
        let is_whole = host == authority.as_str() && path == whole;
        Ok(ShownTarget {
            literal: is_whole.then(|| shown.clone()),
            shown,
            replay_options: self.replay_options(url),
            profile: self.config.as_deref().and_then(ProfileFile::read),
            ..ShownTarget::default()
        })
    }

    /// The options with which `replay` sends to a URL of the recording: the configuration file, unless its headers are for another
    /// origin.
    fn replay_options(&self, url: &str) -> String {
        let profile = &self.profile.target;
        let origin = |url: &str| Some(Target::parse(url).ok()?.origin());
        let own = profile.url.as_deref().and_then(origin);
        let fits = profile.headers.is_empty() || own.is_some() && own == origin(url);
        paymaster_settings::output::shell::config_option(self.config.as_deref().filter(|_| fits))
    }
}

/// Judges traffic of others and writes the reports.
pub(crate) struct TrafficSession {
    pub(crate) session: RecordedSession,
    pub(crate) options: TrafficOptions,
    place: ShownTarget,
    reports: Reports,
    exchanges: usize,
}

impl TrafficSession {
    /// Starts a session and opens the requested reports.
    pub(crate) fn open(
        options: TrafficOptions,
        place: ShownTarget,
        args: &JudgingArgs,
    ) -> Result<Self, CommandError> {
        let mut reports = Reports::requested(&args.output)?;
        reports.begin(&place, &options.redactor);
        let specification = options.suite.specification.line();
        reports.event(&Event::Started { target: &place.shown, specification: &specification, seed: 0 });
        let (suite, learner) = (&options.suite, options.profile.known.learner());
        let session = RecordedSession::new(suite.rules.clone(), Arc::clone(&suite.known), learner);
        Ok(Self { session, options, place, reports, exchanges: 0 })
    }

    /// Judges an exchange by what was learned so far. Returns the rules that are broken for the first time.
    pub(crate) fn judge(&mut self, place: &str, exchange: Exchange) -> Vec<NewlyBroken> {
        let new = self.session.judge(place, &exchange);
        self.record(place, exchange);
        new
    }

    /// Gives an exchange to the reports that have every one, judged or not.
    pub(crate) fn record(&mut self, place: &str, exchange: Exchange) {
        if self.reports.wants_exchanges() {
            self.reports.event(&Event::Exchanged(&SentExchange {
                relation: RECORDED.id,
                group: self.exchanges,
                member: 0,
                role: RECORDED.id,
                label: place.to_owned(),
                ended: exchange.received.unwrap_or_else(SystemTime::now),
                exchange,
            }));
        }
        self.exchanges += 1;
    }

    /// Why an exchange is not judged.
    pub(crate) fn skip_reason(&self, method: &str, exchange: &Exchange) -> Option<String> {
        if let Some(reason) = recorded::request_skip_reason(method, &exchange.request) {
            return Some(reason.to_owned());
        }
        let own = self.options.suite.specification;
        if recorded::called_specification(&exchange.request).is_some_and(|called| called != own) {
            return Some(recorded::OTHER_SPECIFICATION.to_owned());
        }
        match &exchange.outcome {
            Err(Failure::Connect(cause)) => Some(format!("the upstream was not reached: {cause}")),
            Ok(response) => recorded::response_skip_reason(response).map(str::to_owned),
            Err(_) => None,
        }
    }

    /// Hides a value in all later output. Returns false where it is hidden already, or is too short to be a secret.
    pub(crate) fn hide(&mut self, secret: &str) -> bool {
        if self.options.redactor.apply(secret) != secret {
            return false;
        }
        self.options.redactor.hide_header(secret);
        self.options.redactor.apply(secret) != secret
    }

    /// Hides the secrets in the path and query of a request to a target on this machine (`loopback`) or elsewhere in all later output.
    pub(crate) fn hide_path(&mut self, path: &str, loopback: bool) {
        let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
        let public = &self.options.profile.target.public_path_segments;
        self.options.redactor.hide_path(path, query, loopback, public);
    }

    /// Writes the reports; returns the exit code.
    pub(crate) fn close(mut self, skipped: Skipped, took: Duration, environment: &Environment) -> u8 {
        let strictness = self.options.strictness;
        let (summary, context) = self.session.finish(self.place.shown.clone(), skipped, strictness, took);
        for finding in &summary.findings {
            self.reports.event(&Event::Found(finding));
        }
        self.reports.event(&Event::Finished(&summary));
        let TrafficOptions { redactor, known, .. } = self.options;
        let finished = Finished { summary, context, strictness, place: self.place, redactor };
        self.reports.finish(&finished, &known, environment)
    }
}
