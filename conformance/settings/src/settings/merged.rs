//! The table of settings. Flags take precedence over the environment, this over the configuration file, this over the defaults.

use std::{
    num::{ParseFloatError, ParseIntError},
    str::FromStr,
    time::Duration,
};

use super::setup::DEFAULT_TIME_LIMIT;
use crate::{
    args::RunArgs,
    duration::{self, DurationError},
    settings::{
        environment::{Environment, VariableError},
        file::{RunTable, Target},
    },
};
use paymaster_client::{http::transport::Limits, network::tls::Trust};
use paymaster_engine::verdict::strictness::Strictness;

/// A value of the environment or of the configuration file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// A variable cannot be used.
    #[error(transparent)]
    Variable(#[from] VariableError),
    /// The text of a variable, or of a key of the file, is no value of its setting.
    #[error("{0}: {1}")]
    Malformed(&'static str, #[source] ValueError),
    /// A value is out of range, or excludes another one.
    #[error("{0}")]
    Refused(String),
}

/// Why a text is no value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    #[error(transparent)]
    Duration(#[from] DurationError),
    #[error("`{text}` is no whole number")]
    WholeNumber { text: String, source: ParseIntError },
    #[error("`{text}` is no number")]
    Number { text: String, source: ParseFloatError },
}

/// What flags, environment and configuration file set, merged; none for what none of them sets.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// The paymaster URL.
    pub url: Option<String>,
    /// Which certificates are trusted.
    pub trust: Trust,
    /// How many requests of each method and mode are sent at least.
    pub cases: Option<u32>,
    /// The seed of what is generated.
    pub seed: Option<u64>,
    /// How many exchanges run at the same time.
    pub jobs: Option<usize>,
    /// At most that many requests a second.
    pub rate: Option<f64>,
    /// Total time of one exchange.
    pub timeout: Option<Duration>,
    /// Total time of the run.
    pub time_limit: Option<Duration>,
    /// At most that many requests in all.
    pub max_requests: Option<usize>,
    /// How long connections are kept idle; none where none are.
    pub idle: Option<Duration>,
    /// At most that many requests to make one failure small.
    pub shrink_requests: Option<u32>,
    /// How strictly the run is concluded.
    pub strictness: Strictness,
}

impl Merged {
    /// Merges the sources: a row is a setting, with its flag, its variable and its key of the configuration file.
    pub(crate) fn read(
        args: &RunArgs,
        url: Option<&str>,
        environment: &Environment,
        target: &Target,
        run: &RunTable,
    ) -> Result<Self, SettingError> {
        let url = url.map(str::to_owned);
        let text = |text: &str| Ok(text.to_owned());
        let shrink_requests = if args.no_shrink { Some(0) } else { args.shrink_requests };
        let merged = Self {
            url: or_variable(url, environment, "PAYMASTER_URL", text)?.or_else(|| target.url.clone()),
            cases: or_variable(args.cases, environment, "PAYMASTER_CASES", whole_number)?.or(run.cases),
            seed: or_variable(args.seed, environment, "PAYMASTER_SEED", whole_number)?.or(run.seed),
            jobs: or_variable(args.jobs, environment, "PAYMASTER_JOBS", whole_number)?.or(target.concurrency),
            rate: or_variable(args.rate, environment, "PAYMASTER_RATE", number)?
                .or(target.requests_per_second),
            timeout: or_variable(args.timeout, environment, "PAYMASTER_TIMEOUT", duration)?.or(read(
                "run.timeout",
                run.timeout.as_deref(),
                duration,
            )?),
            time_limit: or_variable(args.time_limit, environment, "PAYMASTER_TIME_LIMIT", duration)?
                .or(read("run.time-limit", run.time_limit.as_deref(), duration)?),
            max_requests: args.max_requests.or(run.max_requests),
            idle: args.idle.or(read("run.idle", run.idle.as_deref(), duration)?),
            shrink_requests: shrink_requests.or(run.shrink_requests),
            strictness: args.strictness.or(run),
            // cacert and insecure exclude each other: the first source that sets one of them decides about both.
            trust: Some(args.target.trust.trust())
                .filter(|own| *own != Trust::default())
                .unwrap_or(target.trust()),
        };
        merged.check().map(|()| merged)
    }

    /// The budget of a run: the time limit, where that or the number of cases is stated.
    pub fn budget(&self) -> Option<Duration> {
        self.time_limit.or(self.cases.map(|_| DEFAULT_TIME_LIMIT))
    }

    /// The limits of an exchange.
    pub fn limits(&self) -> Limits {
        Limits { timeout: self.timeout.unwrap_or(Limits::default().timeout), ..Limits::default() }
    }

    /// Checks that each value makes sense, whatever its source.
    fn check(&self) -> Result<(), SettingError> {
        let jobs = format!("the number of jobs (concurrency) must be from 1 to {MAX_JOBS}");
        let is_outside = |jobs| !(1..=MAX_JOBS).contains(&jobs);
        let checks = [
            (self.cases == Some(0), "the number of cases must be at least 1"),
            (self.jobs.is_some_and(is_outside), &jobs),
            (
                self.rate.is_some_and(|rate| !(0.001..=1e6).contains(&rate)),
                "the rate must be from 0.001 to 1000000 requests a second",
            ),
            (self.trust.insecure && self.trust.cacert.is_some(), "cacert and insecure exclude each other"),
            (self.max_requests == Some(0), "the request budget must be at least 1"),
        ];
        let refused = checks.into_iter().find(|(is_wrong, _)| *is_wrong);
        refused.map_or(Ok(()), |(_, why)| Err(SettingError::Refused(why.to_owned())))
    }
}

/// The highest number of exchanges at the same time. Each has its own connection.
const MAX_JOBS: usize = 1024;

/// A setting of the command line; else the one of a variable, which is not read otherwise.
fn or_variable<T>(
    given: Option<T>,
    environment: &Environment,
    name: &'static str,
    parse: impl FnOnce(&str) -> Result<T, ValueError>,
) -> Result<Option<T>, SettingError> {
    match given {
        Some(value) => Ok(Some(value)),
        None => read(name, environment.get(name)?, parse),
    }
}

/// Reads the text of a setting, where there is one.
fn read<T>(
    name: &'static str,
    text: Option<&str>,
    parse: impl FnOnce(&str) -> Result<T, ValueError>,
) -> Result<Option<T>, SettingError> {
    text.map(parse).transpose().map_err(|source| SettingError::Malformed(name, source))
}

fn duration(text: &str) -> Result<Duration, ValueError> {
    Ok(duration::parse(text)?)
}

fn whole_number<T: FromStr<Err = ParseIntError>>(text: &str) -> Result<T, ValueError> {
    text.parse().map_err(|source| ValueError::WholeNumber { text: text.to_owned(), source })
}

fn number(text: &str) -> Result<f64, ValueError> {
    text.parse().map_err(|source| ValueError::Number { text: text.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{TargetArgs, TrustArgs};

    fn merged(args: &RunArgs, target: &Target, run: &RunTable) -> Result<Merged, SettingError> {
        let environment = Environment::from_iter([("PAYMASTER_SEED", "3"), ("PAYMASTER_CASES", "3")]);
        Merged::read(args, None, &environment, target, run)
    }

    #[test]
    fn the_first_source_that_has_a_setting_decides() {
        let args = RunArgs { cases: Some(2), ..RunArgs::default() };
        let run = RunTable { cases: Some(1), seed: Some(1), max_requests: Some(1), ..RunTable::default() };
        let merged = merged(&args, &Target::default(), &run).unwrap();
        assert_eq!((merged.cases, merged.seed, merged.max_requests), (Some(2), Some(3), Some(1)));
    }

    #[test]
    fn one_source_decides_which_certificates_are_trusted() {
        let trusted = |trust: TrustArgs, target: &Target| {
            let args =
                RunArgs { target: TargetArgs { trust, ..TargetArgs::default() }, ..RunArgs::default() };
            merged(&args, target, &RunTable::default()).unwrap().trust
        };
        let strict = Trust { cacert: Some("ca.pem".into()), insecure: false };
        let lax = Trust { cacert: None, insecure: true };
        let cacert = TrustArgs { cacert: strict.cacert.clone(), insecure: false };
        let insecure = TrustArgs { cacert: None, insecure: true };
        let of_file = Target { cacert: strict.cacert.clone(), ..Target::default() };
        assert_eq!(trusted(cacert, &Target { insecure: Some(true), ..Target::default() }), strict);
        assert_eq!(trusted(insecure, &of_file), lax);
        assert_eq!(trusted(TrustArgs::default(), &of_file), strict);
    }

    #[test]
    fn nonsense_is_refused() {
        let refused = |args: RunArgs, target: Target| {
            assert!(merged(&args, &target, &RunTable::default()).is_err(), "{args:?} {target:?}");
        };
        refused(RunArgs { cases: Some(0), ..RunArgs::default() }, Target::default());
        refused(RunArgs { jobs: Some(0), ..RunArgs::default() }, Target::default());
        refused(RunArgs { rate: Some(f64::NAN), ..RunArgs::default() }, Target::default());
        refused(RunArgs { rate: Some(0.0), ..RunArgs::default() }, Target::default());
        refused(RunArgs { max_requests: Some(0), ..RunArgs::default() }, Target::default());
        let both = Target { cacert: Some("ca.pem".into()), insecure: Some(true), ..Target::default() };
        refused(RunArgs::default(), both);
    }
}
