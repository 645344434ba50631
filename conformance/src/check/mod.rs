//! The API for Rust programs: judges a service at a URL or in this process, and gives the outcome.

pub(crate) mod route;

use std::{error::Error, fmt, future::Future, path::Path, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use hyper::header::{HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use paymaster_client::http::Transport;
use paymaster_client::redact::Redactor;
use paymaster_client::stop::Stop;
use paymaster_engine::rules::Rule;
use paymaster_reference_server::Config;
use paymaster_settings::args::RunArgs;
use paymaster_settings::settings::file;
use paymaster_settings::{DEFAULT_SPECIFICATION, Settings, ShownTarget, TargetProfile, is_common, shown_url};
use route::{Judged, connections, parse};

use crate::events::{Event, SentExchange};
use crate::report::{Finished, Report, document, machine};
use crate::run::{self, Reporter, RunOutcome, Suite};
use crate::{Conclusion, Finding, RuleOutcome, Summary};

/// A run of the conformance suite, ready to start: what is judged, with which profile, and how.
///
/// | setting | unless set |
/// |---|---|
/// | [`profile`](Self::profile) | nothing is known of the target beforehand |
/// | [`seed`](Self::seed) | 1 |
/// | [`cases`](Self::cases) | 250 |
/// | [`jobs`](Self::jobs) | the profile's `concurrency`, else 100 |
/// | [`rate`](Self::rate) | the profile's `requests-per-second`, else no limit |
/// | [`timeout`](Self::timeout) | 10 seconds an exchange |
/// | [`time_limit`](Self::time_limit) | 5 minutes a run |
/// | [`max_requests`](Self::max_requests) | no limit |
/// | [`strict`](Self::strict), [`allow_incomplete`](Self::allow_incomplete) | off |
///
/// ```
/// use paymaster_conformance::{Bytes, Check, Conclusion, http::{Request, Response}};
///
/// // A service that refuses everything, and gives every response the same id.
/// async fn answer(_request: Request<Bytes>) -> Response<String> {
///     let body = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"not today"}}"#;
///     Response::new(body.to_owned())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let outcome = Check::service(answer).seed(1).cases(2).run().await.unwrap();
/// assert_eq!(outcome.conclusion(), Conclusion::Violations);
/// println!("{outcome}");
/// # });
/// ```
#[must_use]
pub struct Check<'l> {
    judged: Judged,
    profile: TargetProfile,
    headers: Vec<(HeaderName, HeaderValue)>,
    merged: RunArgs,
    /// Which rules judge: those for which each of these is true.
    keep: Vec<Keep<'l>>,
    listeners: Listeners<'l>,
}

/// Says of a rule whether it judges.
type Keep<'l> = Box<dyn Fn(&Rule) -> bool + 'l>;

impl fmt::Debug for Check<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL and the headers can hold keys.
        f.debug_struct("Check")
            .field("seed", &self.merged.common.seed)
            .field("cases", &self.merged.cases)
            .finish_non_exhaustive()
    }
}

impl<'l> Check<'l> {
    /// Judges the service at a URL, such as `http://127.0.0.1:3000/rpc`.
    ///
    /// Neither the environment nor a configuration file is read: `HTTPS_PROXY` and `PAYMASTER_HEADERS` have no effect.
    ///
    /// # Errors
    ///
    /// [`CheckError::Url`] when the text is no `http://` or `https://` URL.
    pub fn url(url: &str) -> Result<Self, CheckError> {
        Ok(Self::of(Judged::Url(parse(url)?)))
    }

    /// Judges an async function of this process. Requests and responses go through HTTP/1.1 in memory, without a port.
    ///
    /// The function gets every request with its whole body. A function that panics breaks off the connection, which is a violation.
    /// Services with a `Result` or a streamed body, and routers of web frameworks, go into [`Check::hyper_service`].
    pub fn service<S, F, B>(service: S) -> Self
    where
        S: Fn(Request<Bytes>) -> F + Send + Sync + 'static,
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let service = Arc::new(service);
        Self::hyper_service(service_fn(move |request: Request<Incoming>| {
            let service = Arc::clone(&service);
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await?.to_bytes();
                Ok::<_, hyper::Error>(service(Request::from_parts(head, body)).await)
            }
        }))
    }

    /// Judges a service of hyper in this process, as [`Check::service`] does. A tower service, such as a router of axum, becomes one by
    /// `hyper_util::service::TowerToHyperService::new`. A service that returns an error breaks off the connection.
    pub fn hyper_service<S, B>(service: S) -> Self
    where
        S: Service<Request<Incoming>, Response = Response<B>> + Send + Sync + 'static,
        S::Future: Send + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let service = Arc::new(service);
        Self::of(Judged::Service(connections(move |stream| {
            let serving = http1::Builder::new().serve_connection(TokioIo::new(stream), Arc::clone(&service));
            // The suite sees a connection that fails as a response that breaks off, and judges it.
            async move { drop(serving.await) }
        })))
    }

    /// Judges the reference server, which is part of this package, with its own profile: a run without a service of yours.
    pub fn reference_server() -> Self {
        let profile =
            paymaster_settings::embedded::profile_of(DEFAULT_SPECIFICATION, &Config::default(), &[]);
        Self::of(Judged::ReferenceServer).profile(profile)
    }

    fn of(judged: Judged) -> Self {
        Self {
            judged,
            profile: DEFAULT_SPECIFICATION.unknown().into(),
            headers: Vec::new(),
            merged: RunArgs { time_limit: Some(RunArgs::default().time_limit()), ..RunArgs::default() },
            keep: Vec::new(),
            listeners: Listeners::default(),
        }
    }

    /// What the target supports: tokens, smart accounts, operations, dialect. Without a profile, several rules stay inconclusive.
    ///
    /// `requests-per-second`, `concurrency`, `cacert`, `insecure` and `public-path-segments` of [`TargetProfile::target`] have an effect; its
    /// `url` and `headers` have none.
    pub fn profile(mut self, profile: impl Into<TargetProfile>) -> Self {
        self.profile = profile.into();
        self
    }

    /// Sends a header with every request, such as an API key. A header of the same name as one of the suite's replaces it.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The seed of what is generated. The same seed, profile and answers give the same requests.
    pub fn seed(mut self, seed: u64) -> Self {
        self.merged.common.seed = Some(seed);
        self
    }

    /// How many requests of each pair of method and mode are sent at least. Relations between requests come on top.
    pub fn cases(mut self, cases: u32) -> Self {
        self.merged.cases = Some(cases);
        self
    }

    /// How many exchanges run at the same time, at least 1.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.merged.jobs = Some(jobs.max(1));
        self
    }

    /// At most so many requests a second. A value that is not above 0 is ignored.
    pub fn rate(mut self, requests_per_second: f64) -> Self {
        self.merged.rate = (requests_per_second > 0.0).then_some(requests_per_second);
        self
    }

    /// At most so many requests in the run.
    pub fn max_requests(mut self, requests: usize) -> Self {
        self.merged.max_requests = Some(requests);
        self
    }

    /// The deadline of one exchange: connecting, sending, and reading the response.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.merged.common.timeout = Some(timeout);
        self
    }

    /// The run ends after that time, and its outcome is then [`Conclusion::Incomplete`] at best.
    pub fn time_limit(mut self, time_limit: Duration) -> Self {
        self.merged.time_limit = Some(time_limit);
        self
    }

    /// Whether a broken rule that only warns is a violation too.
    pub fn strict(mut self, strict: bool) -> Self {
        self.merged.strictness.strict = strict;
        self
    }

    /// Whether the run may pass although rules stayed inconclusive.
    pub fn allow_incomplete(mut self, allow_incomplete: bool) -> Self {
        self.merged.strictness.allow_incomplete = allow_incomplete;
        self
    }

    /// Judges by the rules for which `keep` is true. A run without all rules ends at best with
    /// [`Conclusion::NothingBroken`].
    pub fn only_rules(mut self, keep: impl Fn(&Rule) -> bool + 'l) -> Self {
        self.keep.push(Box::new(keep));
        self
    }

    /// Calls `listener` for every event of the run but [`Event::Exchanged`].
    pub fn on_event(mut self, listener: impl FnMut(&Event<'_>) + 'l) -> Self {
        self.listeners.events.push(Box::new(listener));
        self
    }

    /// Calls `listener` for every exchange, in the order in which they ended. Without such a listener no exchange is kept.
    pub fn on_exchange(mut self, listener: impl FnMut(&SentExchange) + 'l) -> Self {
        self.listeners.exchanges.push(Box::new(listener));
        self
    }

    /// Sends the requests and judges the responses.
    ///
    /// It runs within a Tokio runtime that has I/O and time enabled, such as that of `#[tokio::test]`. The future is not `Send`.
    ///
    /// # Errors
    ///
    /// The run could not start: a certificate of the profile cannot be read, or the reference server could not be set up. A target that
    /// does not respond is no error; the outcome is then [`Conclusion::CouldNotTest`].
    pub async fn run(self) -> Result<Outcome, CheckError> {
        let mut redactor = Redactor::with_public_words(is_common);
        for (name, value) in &self.headers {
            if Redactor::is_secret_header(name.as_str()) {
                redactor.hide_header(&String::from_utf8_lossy(value.as_bytes()));
            }
        }
        let of_profile = &self.profile.target;
        // The URL of a service in this process has no secret.
        let is_in_process = !matches!(self.judged, Judged::Url(_));
        let embedded = matches!(self.judged, Judged::ReferenceServer);
        let (target, connector) = self.judged.route(of_profile)?;
        let (redacted, _) = shown_url(&target, &mut redactor, &of_profile.public_path_segments);
        let shown = if is_in_process { target.url.clone() } else { redacted };
        let mut merged = self.merged;
        merged.jobs = merged.jobs.or(of_profile.concurrency);
        merged.rate = merged.rate.or(of_profile.requests_per_second);
        let transport = Transport::new(target, merged.limits(), &self.headers).with_connector(connector);
        let settings = Settings::new(transport, shown.clone(), self.profile.known, merged);
        let mut suite = Suite::of(settings.profile.specification());
        suite.rules.retain(|rule| self.keep.iter().all(|keep| keep(rule)));
        let mut listeners = self.listeners;
        let RunOutcome { summary, context } =
            run::check(&settings, &suite, &Stop::default(), &mut listeners).await;
        let place = ShownTarget { shown, embedded, ..ShownTarget::default() };
        let strictness = settings.strictness();
        Ok(Outcome { finished: Finished { summary, context, strictness, place, redactor } })
    }
}

/// What a run found. `Display` prints what the command prints with `--verbose`, but for what to do next: secrets are replaced by `***`.
///
/// [`Outcome::summary`] gives the data as it was sent and received: secrets are not replaced there.
#[derive(Debug)]
#[must_use = "a run whose outcome is not read tests nothing"]
pub struct Outcome {
    finished: Finished,
}

impl Outcome {
    /// How the run ended.
    pub fn conclusion(&self) -> Conclusion {
        self.finished.summary.conclusion
    }

    /// Whether every rule was judged and nothing was broken: [`Conclusion::Conforms`].
    pub fn conforms(&self) -> bool {
        self.conclusion() == Conclusion::Conforms
    }

    /// Every rule with its verdict, the findings, the observed behaviour and the counts of the run.
    pub fn summary(&self) -> &Summary {
        &self.finished.summary
    }

    /// The broken rules, each with the smallest requests that break it, and the responses.
    pub fn findings(&self) -> &[Finding] {
        &self.finished.summary.findings
    }

    /// The rules that were broken, those that only warn included.
    pub fn broken_rules(&self) -> impl Iterator<Item = &'static Rule> {
        let broken = |outcome: &&RuleOutcome| outcome.verdict.is_broken();
        self.finished.summary.rules.iter().filter(broken).map(|outcome| outcome.rule)
    }

    /// The report as JSON, with secrets replaced. Its schema is `conformance/report.schema.json`.
    pub fn to_json(&self) -> String {
        machine::json(&self.report())
    }

    /// The report as a page, with secrets replaced.
    pub fn to_html(&self) -> String {
        document::page(&self.report())
    }

    /// Ends a test: panics with the report unless the service conforms.
    ///
    /// # Panics
    ///
    /// Unless [`Outcome::conforms`].
    #[track_caller]
    pub fn assert_conforms(&self) {
        assert!(self.conforms(), "the service does not conform\n\n{self}");
    }

    fn report(&self) -> Report {
        Report::of(&self.finished)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&document::for_a_program(&self.report()))
    }
}

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

type EventListener<'l> = Box<dyn FnMut(&Event<'_>) + 'l>;
type ExchangeListener<'l> = Box<dyn FnMut(&SentExchange) + 'l>;

/// The listeners of a run.
#[derive(Default)]
struct Listeners<'l> {
    events: Vec<EventListener<'l>>,
    exchanges: Vec<ExchangeListener<'l>>,
}

impl Reporter for Listeners<'_> {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::Exchanged(delivered) = event {
            self.exchanges.iter_mut().for_each(|listener| listener(delivered));
        } else {
            self.events.iter_mut().for_each(|listener| listener(event));
        }
    }

    fn wants_exchanges(&self) -> bool {
        !self.exchanges.is_empty()
    }
}

/// Reads the profile of a configuration file (`paymaster.toml`): see `docs/profile.md`.
///
/// # Errors
///
/// [`CheckError::Profile`] when the file cannot be read, or holds a key or value that is not known.
pub fn read_profile(path: impl AsRef<Path>) -> Result<TargetProfile, CheckError> {
    let (profile, _) =
        file::read(Some(path.as_ref()), None).map_err(|cause| CheckError::Profile(cause.into()))?;
    Ok(profile)
}
