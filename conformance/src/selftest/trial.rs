//! A trial: one run against a reference server with one fault or variant.
//!
//! A trial states a part of the profile of its target. A lawful server must never be accused, whatever its profile leaves out.

use std::{sync::Arc, time::Duration};

use paymaster_client::http::{Limits, Transport};
use paymaster_client::network::Target;
use paymaster_client::redact::Redactor;
use paymaster_client::stop::Stop;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::specification::{self, Specification};
use paymaster_reference_server::{
    Config, Fault, InjectedService, Service, Statement, Variant, faults_of, needs_signatures, variants_of,
};
use paymaster_schemas::{Basis, find_clause};
use paymaster_settings::args::{CommonArgs, RunArgs};
use paymaster_settings::settings::file;
use paymaster_settings::{DEFAULT_SPECIFICATION, Embedded, SPECIFICATIONS, Settings, ShownTarget, embedded};

use crate::check::route::reference_server;
use crate::first_profile::{self, Given};
use crate::run::{self, Reporters, Suite};
use crate::selftest::Trials;
use crate::selftest::matrix::{NamedDefect, named_defects};
use crate::{Conclusion, Rule};

/// A fault or a lawful variant of the reference server, judged by a specification.
#[derive(Clone, Copy, Debug)]
pub enum Deviation {
    /// Breaks a clause.
    Fault(&'static Specification, &'static Fault),
    /// Uses an option that the specification allows.
    Variant(&'static Specification, &'static Variant),
}

/// Every fault and every variant of the reference server that shows without a chain, by each specification by which it shows.
pub fn every_deviation() -> Vec<Deviation> {
    with_and_without_chain().filter(|deviation| !deviation.is_about_the_chain()).collect()
}

/// The faults that the contracts on a chain show, and the variants of the specification whose data the published contracts read, as far as
/// their data are signed for those. The data of token mode of the other specification are the server's own.
pub fn deviations_on_chain() -> Vec<Deviation> {
    let is_tried = |deviation: &Deviation| match deviation {
        Deviation::Fault(..) => deviation.is_about_the_chain(),
        Deviation::Variant(_, variant) => {
            variant.specification.is_some_and(needs_signatures) && deviation.states(Statement::Contract)
        }
    };
    with_and_without_chain().filter(is_tried).collect()
}

fn with_and_without_chain() -> impl Iterator<Item = Deviation> {
    SPECIFICATIONS.iter().copied().flat_map(|specification| {
        let faults = faults_of(specification.name).map(move |fault| Deviation::Fault(specification, fault));
        let variants = variants_of(specification.name);
        faults.chain(variants.map(move |variant| Deviation::Variant(specification, variant)))
    })
}

impl Deviation {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fault(_, fault) => fault.name,
            Self::Variant(_, variant) => variant.name,
        }
    }

    /// Whether it is tried with its own specification: what is of HTTP or JSON-RPC counts as the default one's.
    pub fn is_of_specification(self) -> bool {
        let own = match self {
            Self::Fault(_, fault) => fault.specification,
            Self::Variant(_, variant) => variant.specification,
        };
        own.is_some() || self.specification().name == DEFAULT_SPECIFICATION.name
    }

    /// The specification that the server is judged by.
    pub fn specification(self) -> &'static Specification {
        match self {
            Self::Fault(specification, _) | Self::Variant(specification, _) => specification,
        }
    }

    /// The fault, where it is one.
    pub fn fault(self) -> Option<&'static Fault> {
        let Self::Fault(_, fault) = self else { return None };
        Some(fault)
    }

    /// The variant, where it is one.
    pub(super) fn variant(self) -> Option<&'static Variant> {
        let Self::Variant(_, variant) = self else { return None };
        Some(variant)
    }

    /// Whether it is a fault that a contract on a chain shows.
    fn is_about_the_chain(self) -> bool {
        let clause = self.fault().and_then(|fault| find_clause(fault.clause));
        clause.is_some_and(|clause| clause.basis == Basis::OnChain)
    }

    /// Whether its trial needs TCP: faults that close connections, and every variant, since some concern HTTP. The others use a pipe in
    /// memory, which costs less.
    fn needs_tcp(self) -> bool {
        self.fault().is_none_or(|fault| ["answer.http-message", IDLE_CLAUSE].contains(&fault.clause))
    }

    /// Whether its trial keeps connections idle: it takes that much longer.
    fn is_about_idle(self, config: &Config) -> bool {
        let times_out = Duration::from_millis(config.bounds.idle_timeout_ms) < IDLE;
        self.fault().map_or(times_out, |fault| fault.clause == IDLE_CLAUSE)
    }

    /// Whether this is true of the server.
    pub(super) fn states(self, statement: Statement) -> bool {
        self.variant().is_none_or(|variant| !variant.untrue.contains(&statement))
    }

    fn service(self, config: &Config) -> Result<InjectedService, String> {
        let service = Service::new(config).map_err(server_error)?;
        let service = InjectedService::from(service);
        Ok(match self {
            Self::Fault(_, fault) => service.with_faults([fault]),
            Self::Variant(_, variant) => service.with_variants([variant]),
        })
    }
}

/// The result of one run against one deviation.
#[derive(Debug)]
pub struct Trial {
    /// The deviation.
    pub deviation: Deviation,
    /// The seed of the run.
    pub seed: u64,
    /// How much of its profile the run stated.
    pub profile_part: ProfilePart,
    /// The rules that were broken, those that only warn included.
    pub broken: Vec<&'static Rule>,
    /// How the run ended.
    pub conclusion: Conclusion,
    /// Why it ended early, where it did.
    pub cut_short: Option<String>,
    /// The defects that the run found; none unless causes are looked for.
    pub defects: Vec<NamedDefect>,
}

/// The timeout of an exchange: long for a loopback server, short for a fault that delays answers.
const TIMEOUT: Duration = Duration::from_secs(5);
const TIME_LIMIT: Duration = Duration::from_mins(10);
const JOBS: usize = 32;
/// How long a connection is idle in the trials about that: longer than their servers wait.
const IDLE: Duration = Duration::from_millis(300);
const IDLE_CLAUSE: &str = "http.idle-connection";

impl Trial {
    /// Runs the whole suite against a server with this deviation.
    pub(super) async fn run(
        (deviation, seed, profile_part): (Deviation, u64, ProfilePart),
        cases: u32,
        trials: &Trials<'_>,
        suite: &Suite,
        stop: &Stop,
    ) -> Result<Self, String> {
        let mut config = trials.chain.map_or_else(Config::default, |on_chain| on_chain.config.clone());
        // Signing takes a sixth of the time of a run.
        config.signing.enabled = trials.chain.is_some() || needs_signatures(deviation.specification().name);
        if let Some(variant) = deviation.variant() {
            (variant.configure)(&mut config);
        }
        let server = (&config, deviation.service(&config)?, deviation.needs_tcp());
        let profile = profile_part.of(deviation, &config);
        let (server, mut settings) = serve(server, profile, (seed, cases), trials.causes).await?;
        settings.args.idle = deviation.is_about_idle(&config).then_some(IDLE);
        if let ProfilePart::Found = profile_part {
            settings.profile = found(&settings, stop).await?;
        }
        let outcome = run::check(&settings, suite, stop, &mut Reporters(Vec::new())).await;
        if let Some(server) = server {
            server.stop().await;
        }
        let broken = outcome.summary.rules.iter().filter(|outcome| outcome.verdict.is_broken());
        Ok(Self {
            deviation,
            seed,
            profile_part,
            broken: broken.map(|outcome| outcome.rule).collect(),
            conclusion: outcome.summary.conclusion,
            defects: named_defects(&outcome.summary),
            cut_short: outcome.summary.cut_short,
        })
    }

    /// The rules of the fault's own clause that caught it.
    pub fn caught_by(&self) -> impl Iterator<Item = &'static Rule> {
        let fault = self.deviation.fault();
        self.broken.iter().copied().filter(move |rule| fault.is_some_and(|fault| fault.clause == rule.clause))
    }

    /// Rules that should have held: those of unrelated clauses for a fault, and of all but those that it warns of for a variant.
    pub fn wrongly_broken(&self) -> impl Iterator<Item = &'static Rule> {
        let deviation = self.deviation;
        self.broken.iter().copied().filter(move |rule| match deviation {
            Deviation::Fault(_, fault) => !fault.names(rule.clause),
            Deviation::Variant(_, variant) => !variant.warns.contains(&rule.clause),
        })
    }

    /// Whether a run against a lawful server may end so: with the whole profile it conforms, with a part it may be incomplete.
    fn is_lawful_end(&self) -> bool {
        match self.conclusion {
            Conclusion::Conforms => true,
            Conclusion::Incomplete => {
                let says_less = self.deviation.variant().is_some_and(|variant| !variant.untrue.is_empty());
                says_less || !matches!(self.profile_part, ProfilePart::Whole)
            }
            _ => false,
        }
    }

    /// What is wrong with the verdict, in words; none where the verdict is right.
    pub fn problem(&self) -> Option<String> {
        let wrongly_broken: Vec<&str> = self.wrongly_broken().map(|rule| rule.id).collect();
        if !wrongly_broken.is_empty() {
            return Some(format!("broke {}", wrongly_broken.join(", ")));
        }
        if self.conclusion == Conclusion::CouldNotTest {
            let cause = self.cut_short.as_deref().unwrap_or("no reason given");
            return Some(format!("could not be tested: {cause}"));
        }
        match self.deviation {
            Deviation::Fault(_, fault) if self.caught_by().next().is_none() => {
                Some(format!("was not caught by a rule of {}", fault.clause))
            }
            Deviation::Variant(..) if !self.is_lawful_end() => {
                Some(format!("ended as {:?}", self.conclusion))
            }
            _ => None,
        }
    }
}

/// Serves a service of that configuration, over TCP or with pipes in memory, and makes the settings of a run with this seed and number of
/// cases against it. A server over TCP is returned too, to be stopped when the run is over; pipes end with the settings.
pub(super) async fn serve(
    (config, service, needs_tcp): (&Config, InjectedService, bool),
    profile: Arc<dyn Knowledge>,
    (seed, cases): (u64, u32),
    causes: bool,
) -> Result<(Option<Embedded>, Settings), String> {
    let limits = Limits { timeout: TIMEOUT, ..Limits::default() };
    let (server, transport) = if needs_tcp {
        let server = Embedded::serve(config, service).await.map_err(server_error)?;
        let target = Target::parse(&server.url).map_err(server_error)?;
        (Some(server), Transport::new(target, limits, &[]))
    } else {
        let (target, connector) = reference_server(service).map_err(server_error)?;
        (None, Transport::new(target, limits, &[]).with_connector(connector))
    };
    let url = transport.target.url.clone();
    let merged = RunArgs {
        common: CommonArgs { seed: Some(seed), ..CommonArgs::default() },
        cases: Some(cases),
        jobs: Some(JOBS),
        time_limit: Some(TIME_LIMIT),
        shrink_requests: (!causes).then_some(0),
        ..RunArgs::default()
    };
    let settings = Settings::new(transport, url, profile, merged);
    // Without causes, a trial only needs to know which rules were broken.
    Ok((server, Settings { closer_look: causes, ..settings }))
}

/// The profile that `init URL` writes.
async fn found(settings: &Settings, stop: &Stop) -> Result<Arc<dyn Knowledge>, String> {
    let redactor = Redactor::default();
    let surveyed = run::survey(settings, &redactor, stop).await;
    let place = ShownTarget {
        shown: settings.shown_target.clone(),
        literal: Some(settings.shown_target.clone()),
        ..ShownTarget::default()
    };
    let specification = settings.profile.specification();
    let given = Given { specification, place: &place, redactor: &redactor, rate: None };
    let text = first_profile::text(&surveyed, given);
    let (profile, _) = file::parse(&text, None).map_err(server_error)?;
    // A trial is not slower for a rate limit that was seen.
    Ok(profile.known)
}

pub(super) fn server_error(cause: impl std::fmt::Display) -> String {
    format!("the embedded reference server: {cause}")
}

/// A part of the profile of the embedded reference server.
#[derive(Clone, Copy, Debug)]
pub enum ProfilePart {
    /// The whole profile.
    Whole,
    /// Nothing.
    Nothing,
    /// A part that the specification names.
    Named(&'static specification::ProfilePart),
    /// What `init URL` finds.
    Found,
}

/// The parts with which each deviation has a trial.
pub type ProfileParts = fn(Deviation) -> Vec<ProfilePart>;

impl ProfilePart {
    /// The whole profile alone.
    pub fn whole(_: Deviation) -> Vec<Self> {
        vec![Self::Whole]
    }

    /// Every part but the whole profile. A variant of HTTP or JSON-RPC has them with the default specification; with another one, whose
    /// profile says as little about it, an empty profile is enough.
    pub fn sparse(deviation: Deviation) -> Vec<Self> {
        if !deviation.is_of_specification() {
            return vec![Self::Nothing];
        }
        let named = deviation.specification().profile_parts.iter().map(Self::Named);
        [Self::Nothing].into_iter().chain(named).chain([Self::Found]).collect()
    }

    /// The name, for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "the whole profile",
            Self::Nothing => "an empty profile",
            Self::Named(part) => part.name,
            Self::Found => "what init finds",
        }
    }

    /// This part of the profile of a server of that configuration, without what is not true of it.
    pub(super) fn of(self, deviation: Deviation, config: &Config) -> Arc<dyn Knowledge> {
        let specification = deviation.specification();
        let variants = deviation.variant();
        let whole = || embedded::profile_of(specification, config, variants.as_slice());
        match self {
            Self::Whole => whole(),
            Self::Named(part) if !part.adds_operation || deviation.states(Statement::OneOperation) => {
                (part.of)(&*whole())
            }
            // What is found takes the place of this.
            Self::Nothing | Self::Named(_) | Self::Found => specification.unknown(),
        }
    }
}
