//! Merges the settings of all sources. Flags take precedence over the environment, this over the configuration file, this over the
//! defaults.

use std::{fmt::Display, str::FromStr, time::Duration};

use super::setup::{DEFAULT_TIME_LIMIT, SetupError};
use crate::{
    args::{CommonArgs, RunArgs, TrustArgs},
    duration,
    settings::{
        environment::Environment,
        file::{RunTable, Target},
    },
};
use paymaster_client::http::transport::Limits;

impl RunArgs {
    /// The settings of these arguments, the environment and the configuration file, where each first decides about what it sets.
    pub(crate) fn merged(
        &self,
        url: Option<&str>,
        environment: &Environment,
        target: &Target,
        run: &RunTable,
    ) -> Result<Self, SetupError> {
        let Self { common, cases, jobs, rate, time_limit, .. } = self;
        let url = or_variable(url.map(str::to_owned), environment, "PAYMASTER_URL", str::parse)?;
        // cacert and insecure exclude each other: the first source that sets one of them decides about both.
        let own_trust = Some(&common.trust).filter(|own| own.cacert.is_some() || own.insecure);
        let merged = Self {
            url: url.or_else(|| target.url.clone()),
            common: CommonArgs {
                trust: own_trust.cloned().unwrap_or_else(|| TrustArgs {
                    cacert: target.cacert.clone(),
                    insecure: target.insecure.unwrap_or_default(),
                }),
                timeout: or_variable(common.timeout, environment, "PAYMASTER_TIMEOUT", duration::parse)?
                    .or(in_file("run.timeout", run.timeout.as_deref())?),
                seed: or_variable(common.seed, environment, "PAYMASTER_SEED", whole_number)?.or(run.seed),
                ..common.clone()
            },
            cases: or_variable(*cases, environment, "PAYMASTER_CASES", whole_number)?.or(run.cases),
            jobs: or_variable(*jobs, environment, "PAYMASTER_JOBS", whole_number)?.or(target.concurrency),
            rate: or_variable(*rate, environment, "PAYMASTER_RATE", number)?.or(target.requests_per_second),
            time_limit: or_variable(*time_limit, environment, "PAYMASTER_TIME_LIMIT", duration::parse)?
                .or(in_file("run.time-limit", run.time_limit.as_deref())?),
            max_requests: self.max_requests.or(run.max_requests),
            idle: self.idle.or(in_file("run.idle", run.idle.as_deref())?),
            shrink_requests: self.no_shrink.then_some(0).or(self.shrink_requests).or(run.shrink_requests),
            no_shrink: self.no_shrink,
            strictness: self.strictness.or(run),
        };
        merged.check().map(|()| merged)
    }

    /// The budget of a run: the time limit, where that or the number of cases is stated.
    pub fn budget(&self) -> Option<Duration> {
        self.time_limit.or(self.cases.map(|_| DEFAULT_TIME_LIMIT))
    }

    /// The limits of an exchange.
    pub fn limits(&self) -> Limits {
        Limits { timeout: self.common.timeout.unwrap_or(Limits::default().timeout), ..Limits::default() }
    }

    /// Checks that each value makes sense, whatever its source.
    fn check(&self) -> Result<(), SetupError> {
        let jobs = format!("the number of jobs (concurrency) must be from 1 to {MAX_JOBS}");
        let is_outside = |jobs| !(1..=MAX_JOBS).contains(&jobs);
        let trust = &self.common.trust;
        let checks = [
            (self.cases == Some(0), "the number of cases must be at least 1"),
            (self.jobs.is_some_and(is_outside), &jobs),
            (
                self.rate.is_some_and(|rate| !(0.001..=1e6).contains(&rate)),
                "the rate must be from 0.001 to 1000000 requests a second",
            ),
            (trust.insecure && trust.cacert.is_some(), "cacert and insecure exclude each other"),
            (self.max_requests == Some(0), "the request budget must be at least 1"),
        ];
        let refused = checks.into_iter().find(|(is_wrong, _)| *is_wrong);
        refused.map_or(Ok(()), |(_, why)| Err(why.into()))
    }
}

/// The highest number of exchanges at the same time. Each has its own connection.
const MAX_JOBS: usize = 1024;

/// A setting of the command line; else the one of a variable, which is read only then.
fn or_variable<T, E: Display>(
    given: Option<T>,
    environment: &Environment,
    name: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, SetupError> {
    match given {
        Some(value) => Ok(Some(value)),
        None => read(name, environment.get(name)?, parse),
    }
}

fn in_file(key: &str, text: Option<&str>) -> Result<Option<Duration>, SetupError> {
    read(key, text, duration::parse)
}

fn read<T, E: Display>(
    name: &str,
    text: Option<&str>,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, SetupError> {
    text.map(parse).transpose().map_err(|cause| format!("{name}: {cause}").into())
}

fn whole_number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is no whole number"))
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(args: &RunArgs, target: &Target, run: &RunTable) -> Result<RunArgs, SetupError> {
        let environment = Environment::from_iter([("PAYMASTER_SEED", "3"), ("PAYMASTER_CASES", "3")]);
        args.merged(None, &environment, target, run)
    }

    #[test]
    fn the_first_source_that_has_a_setting_decides() {
        let args = RunArgs { cases: Some(2), ..RunArgs::default() };
        let run = RunTable { cases: Some(1), seed: Some(1), max_requests: Some(1), ..RunTable::default() };
        let merged = merged(&args, &Target::default(), &run).unwrap();
        assert_eq!((merged.cases, merged.common.seed, merged.max_requests), (Some(2), Some(3), Some(1)));
    }

    #[test]
    fn one_source_decides_which_certificates_are_trusted() {
        let trusted = |trust: TrustArgs, target: &Target| {
            let args =
                RunArgs { common: CommonArgs { trust, ..CommonArgs::default() }, ..RunArgs::default() };
            merged(&args, target, &RunTable::default()).unwrap().common.trust
        };
        let strict = TrustArgs { cacert: Some("ca.pem".into()), insecure: false };
        let lax = TrustArgs { cacert: None, insecure: true };
        let of_file = Target { cacert: strict.cacert.clone(), ..Target::default() };
        assert_eq!(trusted(strict.clone(), &Target { insecure: Some(true), ..Target::default() }), strict);
        assert_eq!(trusted(lax.clone(), &of_file), lax);
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
