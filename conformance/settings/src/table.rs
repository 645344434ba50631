//! The table of settings: what a flag, an environment variable and a key of the configuration file set alike. A new setting is a new row.
//!
//! A row is a field with its help, its type, the default where there is one, and the range where not every value makes sense. The setting
//! `time_limit` is the flag `--time-limit`, the variable `PAYMASTER_TIME_LIMIT` and the key `time-limit` of `[run]`, or the key that the row
//! names.

use std::{fmt::Display, ops::RangeInclusive, path::PathBuf, time::Duration};

use clap::Args;
use paymaster_client::http::Limits;
use paymaster_engine::cases::DEFAULT_CASES;
use serde::{Deserialize, Deserializer, de::Error};

use crate::args::{StrictnessArgs, TrustArgs};
use crate::duration;
use crate::settings::{Environment, LoadTable, SetupError};

macro_rules! settings {
    ($(
        $(#[$about:meta])*
        $group:ident { $($before:tt)* }
        [$(
            $(#[$attribute:meta])*
            $name:ident: $type:ty $(as $elsewhere:literal)? $(= $default:expr)? $(, $check:expr)?;
        )*]
        { $($after:tt)* }
    )*) => {
        $(
            $(#[$about])*
            #[derive(Clone, Debug, Default, Args)]
            pub struct $group {
                $($before)*
                $(
                    $(#[$attribute])*
                    #[arg(long, value_parser = |text: &str| <$type>::read(text)$(.and_then($check))?)]
                    pub $name: Option<$type>,
                )*
                $($after)*
            }

            impl $group {
                /// The settings of the first source that has each: these flags, the environment, the configuration file.
                pub(crate) fn or(
                    &self,
                    environment: &Environment,
                    run: &RunTable,
                ) -> Result<Self, SetupError> {
                    Ok(Self {
                        $($name: match self.$name {
                            None => {
                                let key = None$(.or(Some($elsewhere)))?;
                                let of_file = (key, run.$name);
                                found(stringify!($name), environment, of_file, |value| {
                                    Ok(value)$(.and_then($check))?
                                })?
                            }
                            set => set,
                        },)*
                        ..self.clone()
                    })
                }

                $($(
                    /// The setting, or its default.
                    pub fn $name(&self) -> $type {
                        self.$name.unwrap_or($default)
                    }
                )?)*
            }
        )*

        /// `[run]`: the settings of a run.
        #[derive(Clone, Debug, Default, PartialEq, Deserialize)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        pub struct RunTable {
            $($(
                $(#[doc = $elsewhere] #[serde(skip)])?
                #[serde(deserialize_with = "in_file")]
                pub $name: Option<$type>,
            )*)*
            /// As `--strict`.
            pub strict: bool,
            /// As `--allow-incomplete`.
            pub allow_incomplete: bool,
            /// The list of known failures. A relative path starts at the folder of the configuration file.
            pub known_failing: Option<PathBuf>,
            /// `[load]`. In the file it stands beside `[run]`.
            #[serde(skip)]
            pub load: LoadTable,
        }

        /// The names of the settings.
        const NAMES: &[&str] = &[$($(stringify!($name),)*)*];
    };
}

settings! {
    /// What every command takes that sends requests, of whichever program.
    CommonArgs {
        /// The configuration file [default: paymaster.toml, when it is there].
        #[arg(long, value_name = "FILE")]
        pub config: Option<PathBuf>,
        /// The specification that the target is judged by [default: the one of the configuration file, else the one that the target serves].
        #[arg(long, value_name = "NAME")]
        pub spec: Option<String>,
        /// A request header, `Name: value`; ${NAME} in the value is read from the environment. Repeatable.
        #[arg(short = 'H', long = "header", value_name = "HEADER")]
        pub headers: Vec<String>,
        /// Which certificates are trusted.
        #[command(flatten)]
        pub trust: TrustArgs,
    } [
    /// Total time of one exchange, as 500ms or 10s [default: 10s].
    #[arg(value_name = "TIME")]
    timeout: Duration = Limits::default().timeout;
    /// The same seed gives the same requests [default: 1].
    #[arg(value_name = "N")]
    seed: u64 = 1;
    ] {}

    /// The settings of a run: those of the command line, or, once they are merged, those of all sources.
    RunArgs {
        /// The URL of the target, which each command takes in its own way.
        #[arg(skip)]
        pub url: Option<String>,
        /// What the programs share.
        #[command(flatten)]
        pub common: CommonArgs,
    } [
    /// How many requests of each method and mode are sent at least [default: 250].
    #[arg(value_name = "N")]
    cases: u32 = DEFAULT_CASES, at_least(1);
    // With 100, 1,000 cases and their relations against a target that takes 200 ms for a response end within 10 seconds.
    /// How many exchanges run at the same time, each on its own connection [default: 100].
    #[arg(short, value_name = "N")]
    jobs: usize as "target.concurrency" = 100, within(1..=1024);
    /// At most that many requests a second [default: no limit].
    #[arg(value_name = "N")]
    rate: f64 as "target.requests-per-second", within(0.001..=1e6);
    /// Total time of the run [default: 5m].
    #[arg(value_name = "TIME")]
    time_limit: Duration = Duration::from_mins(5);
    /// At most that many requests in all [default: no limit].
    #[arg(value_name = "N")]
    max_requests: usize, at_least(1);
    /// Also send requests on connections that were idle for that long; without it, the clause about them is not tried.
    #[arg(value_name = "TIME")]
    idle: Duration;
    /// At most that many requests to make one failure small [default: 60].
    #[arg(value_name = "N")]
    shrink_requests: u32 = 60;
    ] {
        /// Leave failures as large as they were found.
        #[arg(long, conflicts_with = "shrink_requests")]
        pub no_shrink: bool,
        /// How strictly the run is concluded.
        #[command(flatten)]
        pub strictness: StrictnessArgs,
    }
}

/// The flag of a setting, without its dashes.
fn flag(name: &str) -> String {
    name.replace('_', "-")
}

fn variable(name: &str) -> String {
    format!("PAYMASTER_{}", name.to_uppercase())
}

/// The environment variables of the settings, and what each sets.
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    NAMES.iter().map(|name| (variable(name), format!("as --{}", flag(name))))
}

/// The setting of the environment; else the one of the configuration file.
fn found<T: Value>(
    name: &str,
    environment: &Environment,
    (key, in_file): (Option<&str>, Option<T>),
    check: impl FnOnce(T) -> Result<T, String>,
) -> Result<Option<T>, SetupError> {
    let variable = variable(name);
    let (source, value) = match environment.get(&variable)? {
        Some(text) => (variable, Some(T::read(text))),
        None => (key.map_or_else(|| format!("run.{}", flag(name)), str::to_owned), in_file.map(Ok)),
    };
    value.map(|value| value.and_then(check)).transpose().map_err(|cause| format!("{source}: {cause}").into())
}

fn within<T: PartialOrd + Display>(range: RangeInclusive<T>) -> impl FnOnce(T) -> Result<T, String> {
    move |value| {
        let (least, most) = (range.start(), range.end());
        if range.contains(&value) { Ok(value) } else { Err(format!("must be from {least} to {most}")) }
    }
}

fn at_least<T: PartialOrd + Display>(least: T) -> impl FnOnce(T) -> Result<T, String> {
    move |value| if value >= least { Ok(value) } else { Err(format!("must be at least {least}")) }
}

/// A value of a setting.
trait Value: Sized {
    fn read(text: &str) -> Result<Self, String>;
}

macro_rules! numbers {
    ($($type:ty, $kind:literal;)*) => {$(
        impl Value for $type {
            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_| format!("`{text}` is no {}", $kind))
            }
        }
    )*};
}

numbers! {
    u32, "whole number";
    u64, "whole number";
    usize, "whole number";
    f64, "number";
}

impl Value for Duration {
    fn read(text: &str) -> Result<Self, String> {
        duration::parse(text)
    }
}

fn in_file<'de, T: Value, D: Deserializer<'de>>(file: D) -> Result<Option<T>, D::Error> {
    let value = toml::Value::deserialize(file)?;
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    T::read(&text).map(Some).map_err(D::Error::custom)
}
