//! What `judge` and `proxy` share: the place of traffic that is not ours as it may be shown, and what the user says of it.

use std::{path::Path, sync::Arc};

use hyper::Uri;

use super::{args::JudgingArgs, environment::Environment, file, filter, headers, known::List};
use crate::{
    profile::Profile, recorded::Bench, redact::Redactor, report::Place, run::Suite, tally::Strictness,
};

/// What the user says, and what is hidden of it.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) profile: Profile,
    pub(crate) strictness: Strictness,
    pub(crate) list: List,
    pub(crate) suite: Suite,
    pub(crate) redactor: Redactor,
}

impl Said {
    /// Reads flags and configuration file.
    pub(crate) fn read(args: &JudgingArgs, environment: &Environment) -> Result<Self, String> {
        let named = args.config.as_deref();
        let named = named.or_else(|| environment.get("PAYMASTER_CONFIG").map(Path::new));
        let (profile, run) = file::read(named)?;
        let list = List::read(&args.known, run.known_failing.as_ref())?;
        let standard = Suite::standard();
        let suite = Suite {
            rules: filter::select(&args.rules, standard.rules.clone())?,
            known: Arc::clone(&list.known),
            ..standard
        };
        let mut redactor = Redactor::default();
        // A header whose variable is not set here has no value that could show.
        let told = profile
            .target
            .headers
            .iter()
            .filter_map(|line| headers::parse(line, environment).ok());
        for secret in told.flat_map(|header| header.secrets) {
            redactor.hide_header(&secret);
        }
        Ok(Self {
            strictness: Strictness {
                strict: args.strict || run.strict.unwrap_or_default(),
                allow_incomplete: args.allow_incomplete || run.allow_incomplete.unwrap_or_default(),
            },
            profile,
            list,
            suite,
            redactor,
        })
    }

    /// A bench that judges by all this.
    pub(crate) fn bench(&self) -> Bench {
        Bench::new(
            self.suite.rules.clone(),
            self.suite.observe,
            Arc::clone(&self.suite.known),
            self.profile.clone(),
        )
    }

    /// A URL as it may be shown; what is secret in it is hidden from here on.
    pub(crate) fn place(&mut self, url: &str) -> Result<Place, String> {
        let malformed = |cause: &dyn std::fmt::Display| format!("a URL of the recording is malformed: {cause}");
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
        let loopback = matches!(authority.host(), "localhost" | "[::1]") || authority.host().starts_with("127.");
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
            embedded: false,
            headers: Vec::new(),
        })
    }
}
