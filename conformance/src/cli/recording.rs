//! What `judge` and `proxy` share: the place of traffic that is not ours as it may be shown, and what the user says of it.

use std::{
    borrow::Cow,
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use hyper::Uri;

use crate::cli::{args::JudgingArgs, filter, known::List, on_chain::ChainArgs, reports::Reports};
use crate::{
    events::{Delivered, Event},
    report::{Finished, replay_file},
    run::{Reporter, Suite},
};
use paymaster_cli::public_words::is_common;
use paymaster_cli::settings::Place;
use paymaster_cli::{environment::Environment, file, headers};
use paymaster_client::{redact::Redactor, target::Target};
use paymaster_exchange::{Exchange, Response};
use paymaster_judge::{
    session::{
        recorded::{RECORDED, RecordedSession, Skipped},
        tally::NewlyBroken,
        tally::Strictness,
    },
    target::profile::Profile,
    verdict::finding::Key,
};

/// What the user says, and what is hidden of it.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) profile: Profile,
    pub(crate) strictness: Strictness,
    pub(crate) list: List,
    pub(crate) suite: Suite,
    pub(crate) redactor: Redactor,
    /// The configuration file that was read.
    config: Option<PathBuf>,
}

impl Said {
    /// Reads flags and configuration file.
    pub(crate) fn read(args: &JudgingArgs, environment: &Environment) -> Result<Self, String> {
        let config = file::chosen(args.config.as_deref(), environment);
        let (profile, run) = file::read(config.as_deref())?;
        let list = List::read(&args.known, run.known_failing.as_ref())?;
        let standard = Suite::standard();
        // Nobody asks a chain here.
        let rules = ChainArgs::default().applicable(filter::select(&args.rules, standard.rules.clone())?)?;
        let suite = Suite {
            rules,
            known: Arc::clone(&list.known),
            ..standard
        };
        let mut redactor = Redactor::with_public_words(is_common);
        // A header whose variable is not set here has no value that could show.
        let told = profile
            .target
            .headers
            .iter()
            .filter_map(|line| headers::parse(line, environment).ok());
        for header in told {
            for secret in header.secrets() {
                redactor.hide_header(secret);
            }
        }
        Ok(Self {
            strictness: Strictness {
                strict: args.strictness.strict || run.strict.unwrap_or_default(),
                allow_incomplete: args.strictness.allow_incomplete
                    || run.allow_incomplete.unwrap_or_default(),
            },
            profile,
            list,
            suite,
            redactor,
            config,
        })
    }

    /// A URL as it may be shown; what is secret in it is hidden from here on.
    pub(crate) fn place(&mut self, url: &str) -> Result<Place, String> {
        let malformed =
            |cause: &dyn std::fmt::Display| format!("a URL of the recording is malformed: {cause}");
        let uri: Uri = url
            .split('#')
            .next()
            .unwrap_or_default()
            .parse()
            .map_err(|cause| malformed(&cause))?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(malformed(&"it has no scheme or no host"));
        };
        let host = match authority.as_str().rsplit_once('@') {
            Some((user, host)) => {
                self.redactor.hide(user);
                host
            }
            None => authority.as_str(),
        };
        let loopback =
            matches!(authority.host(), "localhost" | "[::1]") || authority.host().starts_with("127.");
        let path = self.redactor.hide_path(
            uri.path(),
            uri.query(),
            loopback,
            &self.profile.target.public_path_segments,
        );
        let shown = format!("{scheme}://{host}{path}");
        let whole = uri.query().map_or_else(
            || uri.path().to_owned(),
            |query| format!("{}?{query}", uri.path()),
        );
        Ok(Place {
            literal: (path == whole && host == authority.as_str()).then(|| shown.clone()),
            shown,
            replay_options: self.replay_options(url),
            ..Place::default()
        })
    }

    /// What `replay` is given to send to a URL of the recording: the configuration file, unless its headers are for another origin.
    fn replay_options(&self, url: &str) -> String {
        let profile = &self.profile.target;
        let own = profile.url.as_deref().map(Target::parse);
        let fits = match (own, Target::parse(url)) {
            _ if profile.headers.is_empty() => true,
            (Some(Ok(own)), Ok(target)) => own.origin() == target.origin(),
            _ => false,
        };
        paymaster_cli::shell::config_option(self.config.as_deref().filter(|_| fits))
    }
}

/// Where recorded exchanges are judged and reports of them are written.
pub(crate) struct Desk {
    pub(crate) session: RecordedSession,
    said: Said,
    place: Place,
    reports: Reports,
    replay_dir: PathBuf,
    exchanges: usize,
}

impl Desk {
    /// Opens the reports that were asked for.
    pub(crate) fn open(said: Said, place: Place, args: &JudgingArgs) -> Result<Self, String> {
        let mut reports = Reports::asked(&args.reports)?;
        reports.begin(&place, &said.redactor);
        reports.event(&Event::Started {
            target: &place.shown,
            seed: 0,
        });
        let suite = &said.suite;
        let session = RecordedSession::new(
            suite.rules.clone(),
            suite.observe,
            Arc::clone(&suite.known),
            said.profile.clone(),
        );
        Ok(Self {
            session,
            said,
            place,
            reports,
            replay_dir: args.replay_dir.clone(),
            exchanges: 0,
        })
    }

    /// Judges an exchange by what was learned so far; gives what was seen broken for the first time.
    pub(crate) fn judge(&mut self, place: &str, exchange: Exchange, ended: SystemTime) -> Vec<NewlyBroken> {
        let new = self.session.judge(place, &exchange);
        if self.reports.wants_exchanges() {
            let exchange = self.shown(exchange);
            self.reports.event(&Event::Exchanged(&Delivered {
                relation: RECORDED.id,
                group: self.exchanges,
                member: 0,
                role: RECORDED.id,
                label: place.to_owned(),
                exchange,
                ended,
            }));
        }
        self.exchanges += 1;
        new
    }

    /// An exchange without secrets: the reports that grow were opened before some of these were seen.
    fn shown(&self, exchange: Exchange) -> Exchange {
        let shown = |body: &Bytes| match std::str::from_utf8(body) {
            Ok(text) => match self.said.redactor.apply(text) {
                Cow::Borrowed(_) => body.clone(),
                Cow::Owned(text) => text.into(),
            },
            Err(_) => body.clone(),
        };
        Exchange {
            on_chain: exchange.on_chain,
            request: shown(&exchange.request),
            outcome: exchange.outcome.map(|response| Response {
                body: shown(&response.body),
                ..response
            }),
            took: exchange.took,
        }
    }

    /// From now on this value is hidden; false when it was already, or is too short to be one.
    pub(crate) fn hide(&mut self, secret: &str) -> bool {
        if self.said.redactor.apply(secret) != secret {
            return false;
        }
        self.said.redactor.hide_header(secret);
        self.said.redactor.apply(secret) != secret
    }

    /// A text without what is secret.
    pub(crate) fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.said.redactor.apply(text)
    }

    /// Whether what only warns fails.
    pub(crate) fn is_strict(&self) -> bool {
        self.said.strictness.strict
    }

    /// Whether the list of known failures covers that.
    pub(crate) fn is_known(&self, key: &Key) -> bool {
        self.said.list.known.covers(key).is_some()
    }

    /// Writes the reports; gives the exit code.
    pub(crate) fn close(mut self, skipped: Skipped, took: Duration, environment: &Environment) -> u8 {
        let strictness = self.said.strictness;
        let (summary, context) = self
            .session
            .finish(self.place.shown.clone(), skipped, strictness, took);
        for finding in &summary.findings {
            self.reports.event(&Event::Found(finding));
        }
        self.reports.event(&Event::Finished(&summary));
        let mut finished = Finished {
            summary: &summary,
            context: &context,
            strictness,
            place: &self.place,
            redactor: &self.said.redactor,
            replays: &[],
        };
        let (replays, trouble) = replay_file::write_all(&self.replay_dir, &finished);
        finished.replays = &replays;
        let code = self.reports.finish(&finished, environment, trouble);
        self.said.list.settle(code, &summary, strictness)
    }
}
