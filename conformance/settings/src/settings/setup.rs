//! Merges the settings of all sources, and makes of them a transport, a profile and the description of the target in reports.

use std::{error::Error, path::PathBuf, time::Duration};

use crate::args::{CommonArgs, RunArgs, RunTable, TrustArgs};
use crate::headers::{self, Header};
use crate::output::shell;
use crate::settings::file;
use crate::settings::{Environment, LoadTable, ProfileFile, Settings, ShownTarget, TargetProfile};
use paymaster_client::http::{Limits, Transport};
use paymaster_client::network::{ConnectError, Connector, Proxies, Target};
use paymaster_client::redact::{Redactor, is_version};
use paymaster_engine::{knowledge::Knowledge, specification::Specification};
use paymaster_schemas::documents;

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
        for secret in &self.proxies.secrets {
            redactor.hide(secret);
        }
        let (shown, is_whole) = shown_url(target, &mut redactor, &self.profile.target.public_path_segments);
        let (curl_options, connection_warnings) = trust_notes(&self.merged.common.trust, target.is_https);
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

impl RunArgs {
    /// The settings of these arguments, the environment and the configuration file, where each first decides about what it sets.
    pub(crate) fn merged(
        &self,
        url: Option<&str>,
        environment: &Environment,
        target: &file::Target,
        run: &RunTable,
    ) -> Result<Self, SetupError> {
        let url = match url {
            None => environment.get("PAYMASTER_URL")?.or(target.url.as_deref()),
            given => given,
        };
        let of_target =
            RunTable { jobs: target.concurrency, rate: target.requests_per_second, ..run.clone() };
        let flags =
            Self { shrink_requests: self.no_shrink.then_some(0).or(self.shrink_requests), ..self.clone() };
        let merged = flags.or(environment, &of_target)?;
        // cacert and insecure exclude each other: the first source that sets one of them decides about both.
        let own_trust = Some(&self.common.trust).filter(|own| own.cacert.is_some() || own.insecure);
        let trust = own_trust.cloned().unwrap_or_else(|| TrustArgs {
            cacert: target.cacert.clone(),
            insecure: target.insecure.unwrap_or_default(),
        });
        if trust.insecure && trust.cacert.is_some() {
            return Err("cacert and insecure exclude each other".into());
        }
        Ok(Self {
            url: url.map(str::to_owned),
            common: CommonArgs { trust, ..self.common.or(environment, run)? },
            strictness: self.strictness.or(run),
            ..merged
        })
    }

    /// The budget of a run: the time limit, where that or the number of cases is stated.
    pub fn budget(&self) -> Option<Duration> {
        self.time_limit.or(self.cases.map(|_| self.time_limit()))
    }

    /// The limits of an exchange.
    pub fn limits(&self) -> Limits {
        Limits { timeout: self.common.timeout(), ..Limits::default() }
    }
}

// Words that are not keys: common words of URLs and texts about paymasters, and names of the specification.

/// Words of URLs of paymasters, and of texts about them.
const WORDS: &str = "account accounts arbitrum avalanche bundler bundlers development endpoint erc20 ethereum gateway \
    holesky jsonrpc localhost mainnet network optimism paymaster paymasters polygon private production \
    public sandbox sepolia service services sponsor sponsored sponsoring sponsorship staging testnet \
    webhook";

/// Further such words, too short to be a key alone, which occur joined to others by `-` or `_`.
const SHORT_WORDS: &str = "api base bsc dev eth json main prod rpc test token user";

/// Whether a text is a common word, a name of the specification, a number or a version. Words joined by `-` or `_` are checked one by one.
pub fn is_common(text: &str) -> bool {
    let is_word = |part: &str| {
        let lower = part.to_ascii_lowercase();
        let mut known = WORDS.split(' ').chain(SHORT_WORDS.split(' '));
        known.any(|word| word == lower) || is_version(&lower)
    };
    text.split(['-', '_']).all(is_word) || is_name(text)
}

/// Whether a text is a method, a member or another word in quotes in the schemas of the specification.
fn is_name(text: &str) -> bool {
    let quoted = format!("\"{text}\"");
    documents().any(|document| document.text.contains(&quoted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    fn merged(args: &RunArgs, target: &file::Target, run: &RunTable) -> Result<RunArgs, SetupError> {
        let environment = Environment::from_iter([("PAYMASTER_SEED", "3"), ("PAYMASTER_CASES", "3")]);
        args.merged(None, &environment, target, run)
    }

    #[test]
    fn the_first_source_that_has_a_setting_decides() {
        let args = RunArgs { cases: Some(2), ..RunArgs::default() };
        let run = RunTable { cases: Some(1), seed: Some(1), max_requests: Some(1), ..RunTable::default() };
        let merged = merged(&args, &file::Target::default(), &run).unwrap();
        assert_eq!((merged.cases, merged.common.seed, merged.max_requests), (Some(2), Some(3), Some(1)));
    }

    #[test]
    fn one_source_decides_which_certificates_are_trusted() {
        let trusted = |trust: TrustArgs, target: &file::Target| {
            let args =
                RunArgs { common: CommonArgs { trust, ..CommonArgs::default() }, ..RunArgs::default() };
            merged(&args, target, &RunTable::default()).unwrap().common.trust
        };
        let strict = TrustArgs { cacert: Some("ca.pem".into()), insecure: false };
        let lax = TrustArgs { cacert: None, insecure: true };
        let of_file = file::Target { cacert: strict.cacert.clone(), ..file::Target::default() };
        assert_eq!(
            trusted(strict.clone(), &file::Target { insecure: Some(true), ..file::Target::default() }),
            strict
        );
        assert_eq!(trusted(lax.clone(), &of_file), lax);
        assert_eq!(trusted(TrustArgs::default(), &of_file), strict);
    }

    #[test]
    fn nonsense_is_refused_whatever_its_source() {
        #[derive(Debug, clap::Parser)]
        struct Cli {
            #[command(flatten)]
            run: RunArgs,
        }
        for (name, value, why) in [
            ("cases", "0", "must be at least 1"),
            ("cases", "many", "`many` is no whole number"),
            ("jobs", "1025", "must be from 1 to 1024"),
            ("rate", "NaN", "must be from 0.001 to 1000000"),
            ("rate", "0", "must be from 0.001 to 1000000"),
            ("max-requests", "0", "must be at least 1"),
            ("time-limit", "1h", "`1h` is no duration: write 500ms, 10s or 5m"),
        ] {
            let flag = Cli::try_parse_from(["p".to_owned(), format!("--{name}={value}")]).unwrap_err();
            assert!(flag.to_string().contains(&format!(": {why}")), "{flag}");
            let variable = format!("PAYMASTER_{}", name.replace('-', "_").to_uppercase());
            let environment = Environment::from_iter([(variable.as_str(), value)]);
            let (nothing, target) = (RunTable::default(), file::Target::default());
            let cause = RunArgs::default().merged(None, &environment, &target, &nothing).unwrap_err();
            assert_eq!(cause.to_string(), format!("{variable}: {why}"));
        }
        let of_file = |target: file::Target, run: RunTable| {
            merged(&RunArgs::default(), &target, &run).unwrap_err().to_string()
        };
        let none = RunTable { max_requests: Some(0), ..RunTable::default() };
        assert_eq!(of_file(file::Target::default(), none), "run.max-requests: must be at least 1");
        let none = file::Target { concurrency: Some(0), ..file::Target::default() };
        assert_eq!(of_file(none, RunTable::default()), "target.concurrency: must be from 1 to 1024");
        let both =
            file::Target { cacert: Some("ca.pem".into()), insecure: Some(true), ..file::Target::default() };
        assert_eq!(of_file(both, RunTable::default()), "cacert and insecure exclude each other");
    }

    #[test]
    fn words_of_the_field_and_names_of_the_specification_are_public() {
        for word in
            ["sponsorship", "tokenInfo", "pm_sponsorUserOperation", "json-rpc", "mainnet", "v2", "137"]
        {
            assert!(is_common(word), "{word}");
        }
        for key in ["correcthorse", "k-123456", "mainnet-s3cret"] {
            assert!(!is_common(key), "{key}");
        }
    }
}
