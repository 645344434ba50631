//! The settings of one source. Flags take precedence over the environment, this over the configuration file, this over the defaults.

use std::{
    num::{ParseFloatError, ParseIntError},
    path::PathBuf,
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
use paymaster_client::http::transport::Limits;

/// A value of the environment or of the configuration file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// A variable cannot be used.
    #[error(transparent)]
    Variable(#[from] VariableError),
    /// A text is no value of its setting.
    #[error("{name}: {source}")]
    Malformed {
        /// The variable or the key of the file.
        name: &'static str,
        /// What is wrong.
        source: ValueError,
    },
    /// No cases are asked for.
    #[error("the number of cases must be at least 1")]
    Cases,
    /// The number of jobs is out of range.
    #[error("the number of jobs (concurrency) must be from 1 to {MAX_JOBS}")]
    Jobs,
    /// The rate is out of range.
    #[error("the rate must be from 0.001 to 1000000 requests a second")]
    Rate,
    /// One source has both.
    #[error("cacert and insecure exclude each other")]
    Trust,
    /// The request budget is 0.
    #[error("the request budget must be at least 1")]
    Budget,
}

/// Why a text is no value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    #[error(transparent)]
    Duration(#[from] DurationError),
    #[error("`{text}` is no whole number")]
    WholeNumber {
        text: String,
        /// What is wrong.
        source: ParseIntError,
    },
    #[error("`{text}` is no number")]
    Number {
        text: String,
        /// What is wrong.
        source: ParseFloatError,
    },
}

/// The settings of one source; none for what it does not set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    /// The paymaster URL.
    pub url: Option<String>,
    /// A PEM file of certificates to trust instead of the platform's.
    pub cacert: Option<PathBuf>,
    /// Whether any certificate is trusted.
    pub insecure: Option<bool>,
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
    /// At most that many requests to make one failure small.
    pub shrink_requests: Option<u32>,
    /// Whether clauses that only warn fail the run.
    pub strict: Option<bool>,
    /// Whether inconclusive rules leave the exit code at 0.
    pub allow_incomplete: Option<bool>,
    /// The list of known failures.
    pub known_failing: Option<PathBuf>,
}

impl Layer {
    /// This layer, with the settings of another where it has none.
    #[must_use]
    pub fn over(self, below: Self) -> Self {
        Self {
            url: self.url.or(below.url),
            // The two exclude each other: the first source that sets one of them decides about both.
            cacert: self.cacert.clone().or(below.cacert.filter(|_| self.insecure.is_none())),
            insecure: self.insecure.or(below.insecure.filter(|_| self.cacert.is_none())),
            cases: self.cases.or(below.cases),
            seed: self.seed.or(below.seed),
            jobs: self.jobs.or(below.jobs),
            rate: self.rate.or(below.rate),
            timeout: self.timeout.or(below.timeout),
            time_limit: self.time_limit.or(below.time_limit),
            max_requests: self.max_requests.or(below.max_requests),
            shrink_requests: self.shrink_requests.or(below.shrink_requests),
            strict: self.strict.or(below.strict),
            allow_incomplete: self.allow_incomplete.or(below.allow_incomplete),
            known_failing: self.known_failing.or(below.known_failing),
        }
    }

    /// The budget of a run: the time limit, where that or the number of cases is stated.
    pub fn budget(&self) -> Option<Duration> {
        self.time_limit.or(self.cases.map(|_| DEFAULT_TIME_LIMIT))
    }

    /// The limits of an exchange.
    pub fn limits(&self) -> Limits {
        Limits { timeout: self.timeout.unwrap_or(Limits::default().timeout), ..Limits::default() }
    }

    /// The layer of the configuration file.
    pub(crate) fn of_file(target: &Target, run: &RunTable) -> Result<Self, SettingError> {
        Ok(Self {
            url: target.url.clone(),
            cacert: target.cacert.clone(),
            insecure: target.insecure,
            cases: run.cases,
            seed: run.seed,
            jobs: target.concurrency,
            rate: target.requests_per_second,
            timeout: read("run.timeout", run.timeout.as_deref(), duration)?,
            time_limit: read("run.time-limit", run.time_limit.as_deref(), duration)?,
            max_requests: run.max_requests,
            shrink_requests: run.shrink_requests,
            strict: run.strict,
            allow_incomplete: run.allow_incomplete,
            known_failing: run.known_failing.clone(),
        })
    }

    /// This layer, with the settings of the environment where it has none. The other variables are not read.
    pub(crate) fn over_environment(self, environment: &Environment) -> Result<Self, SettingError> {
        let url = |text: &str| Ok(text.to_owned());
        Ok(Self {
            url: or_variable(self.url, environment, "PAYMASTER_URL", url)?,
            cases: or_variable(self.cases, environment, "PAYMASTER_CASES", whole_number)?,
            seed: or_variable(self.seed, environment, "PAYMASTER_SEED", whole_number)?,
            jobs: or_variable(self.jobs, environment, "PAYMASTER_JOBS", whole_number)?,
            rate: or_variable(self.rate, environment, "PAYMASTER_RATE", number)?,
            timeout: or_variable(self.timeout, environment, "PAYMASTER_TIMEOUT", duration)?,
            time_limit: or_variable(self.time_limit, environment, "PAYMASTER_TIME_LIMIT", duration)?,
            ..self
        })
    }

    /// The layer of the command line.
    pub(crate) fn of_flags(args: &RunArgs, url: Option<&str>) -> Self {
        Self {
            url: url.map(str::to_owned),
            cacert: args.target.trust.cacert.clone(),
            insecure: args.target.trust.insecure.then_some(true),
            cases: args.cases,
            seed: args.seed,
            jobs: args.jobs,
            rate: args.rate,
            timeout: args.timeout,
            time_limit: args.time_limit,
            max_requests: args.max_requests,
            shrink_requests: if args.no_shrink { Some(0) } else { args.shrink_requests },
            strict: args.strictness.strict.then_some(true),
            allow_incomplete: args.strictness.allow_incomplete.then_some(true),
            known_failing: None, // only commands that judge have the flag: see `known` in their command line
        }
    }

    /// Checks that each value makes sense, whatever its source.
    pub(crate) fn checked(self) -> Result<Self, SettingError> {
        if self.cases == Some(0) {
            return Err(SettingError::Cases);
        }
        if self.jobs.is_some_and(|jobs| !(1..=MAX_JOBS).contains(&jobs)) {
            return Err(SettingError::Jobs);
        }
        if self.rate.is_some_and(|rate| !(0.001..=1e6).contains(&rate)) {
            return Err(SettingError::Rate);
        }
        if self.insecure == Some(true) && self.cacert.is_some() {
            return Err(SettingError::Trust);
        }
        if self.max_requests == Some(0) {
            return Err(SettingError::Budget);
        }
        Ok(self)
    }
}

/// The highest number of exchanges at the same time. Each has its own connection.
const MAX_JOBS: usize = 1024;

/// A setting of the command line; else the one of a variable.
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
    text.map(parse).transpose().map_err(|source| SettingError::Malformed { name, source })
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

    #[test]
    fn the_first_layer_that_has_a_setting_decides() {
        let below = Layer { cases: Some(1), seed: Some(1), ..Layer::default() };
        let above = Layer { cases: Some(2), ..Layer::default() };
        let both = above.over(below);
        assert_eq!((both.cases, both.seed), (Some(2), Some(1)));
    }

    #[test]
    fn one_source_decides_which_certificates_are_trusted() {
        let strict = Layer { cacert: Some("ca.pem".into()), ..Layer::default() };
        let lax = Layer { insecure: Some(true), ..Layer::default() };
        assert_eq!(strict.clone().over(lax.clone()), strict);
        assert_eq!(lax.clone().over(strict), lax);
    }

    #[test]
    fn nonsense_is_refused() {
        for layer in [
            Layer { cases: Some(0), ..Layer::default() },
            Layer { jobs: Some(0), ..Layer::default() },
            Layer { rate: Some(f64::NAN), ..Layer::default() },
            Layer { rate: Some(0.0), ..Layer::default() },
            Layer { max_requests: Some(0), ..Layer::default() },
            Layer { cacert: Some("ca.pem".into()), insecure: Some(true), ..Layer::default() },
        ] {
            assert!(layer.checked().is_err());
        }
    }
}
