//! Merges the settings of all sources. Flags take precedence over the environment, this over the configuration file, this over the
//! defaults.

use std::time::Duration;

use super::setup::SetupError;
use crate::{
    args::{CommonArgs, RunArgs, RunTable, TrustArgs},
    settings::{environment::Environment, file::Target},
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

#[cfg(test)]
mod tests {
    use clap::Parser as _;

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
            let (nothing, target) = (RunTable::default(), Target::default());
            let cause = RunArgs::default().merged(None, &environment, &target, &nothing).unwrap_err();
            assert_eq!(cause.to_string(), format!("{variable}: {why}"));
        }
        let of_file = |target: Target, run: RunTable| {
            merged(&RunArgs::default(), &target, &run).unwrap_err().to_string()
        };
        let none = RunTable { max_requests: Some(0), ..RunTable::default() };
        assert_eq!(of_file(Target::default(), none), "run.max-requests: must be at least 1");
        let none = Target { concurrency: Some(0), ..Target::default() };
        assert_eq!(of_file(none, RunTable::default()), "target.concurrency: must be from 1 to 1024");
        let both = Target { cacert: Some("ca.pem".into()), insecure: Some(true), ..Target::default() };
        assert_eq!(of_file(both, RunTable::default()), "cacert and insecure exclude each other");
    }
}
