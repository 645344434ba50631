//! One run against one reference server that deviates.

use std::time::Duration;

use paymaster_reference_server::{Config, Fault, InjectedService, Service, Variant, faults, variants};
use paymaster_schemas::Basis;

use crate::{
    events::Event,
    run::{self, Reporter, Suite},
};
use paymaster_cli::{embedded::Embedded, settings::Settings};
use paymaster_client::{
    connector::Connector,
    stop::Stop,
    target::Target,
    transport::{Limits, Transport},
};
use paymaster_judge::{rules::Rule, session::tally::Strictness, verdict::conclusion::Conclusion};

/// A way in which the reference server deviates.
#[derive(Clone, Copy, Debug)]
pub enum Deviation {
    /// It breaks a clause.
    Fault(&'static Fault),
    /// It uses a freedom.
    Variant(&'static Variant),
}

/// Every fault and every variant that the reference server has.
pub fn every_deviation() -> Vec<Deviation> {
    faults()
        .map(Deviation::Fault)
        .chain(variants().map(Deviation::Variant))
        .collect()
}

impl Deviation {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Fault(fault) => fault.name,
            Self::Variant(variant) => variant.name,
        }
    }

    /// Whether its trial is run over TCP: what breaks off or closes connections, and every variant, since some are forms of
    /// HTTP. For the others a pipe does, and costs less.
    fn needs_a_port(self) -> bool {
        match self {
            Self::Fault(fault) => fault.clause == "answer.http-message",
            Self::Variant(_) => true,
        }
    }

    fn service(self, config: &Config) -> Result<InjectedService, String> {
        let service = Service::new(config).map_err(|cause| cause.to_string())?;
        let service = InjectedService::from(service);
        Ok(match self {
            Self::Fault(fault) => service.with_faults([fault]),
            Self::Variant(variant) => service.with_variants([variant]),
        })
    }
}

/// What a run made of a deviation.
#[derive(Debug)]
pub struct Trial {
    /// The deviation.
    pub deviation: Deviation,
    /// The seed of the run.
    pub seed: u64,
    /// The rules that were broken, those that only warn included.
    pub broken: Vec<&'static Rule>,
    /// How the run ended.
    pub conclusion: Conclusion,
    /// Why it ended early, where it did.
    pub cut_short: Option<String>,
}

/// Deadline of an exchange: long for a loopback server, short for a fault that keeps an answer back.
const TIMEOUT: Duration = Duration::from_secs(5);
const TIME_LIMIT: Duration = Duration::from_mins(2);
const JOBS: usize = 32;

struct Silent;

impl Reporter for Silent {
    fn event(&mut self, _: &Event<'_>) {}
}

impl Trial {
    /// Runs the whole suite against a server that deviates in that way.
    pub(super) async fn run(
        deviation: Deviation,
        seed: u64,
        cases: u32,
        suite: &Suite,
        stop: &Stop,
    ) -> Result<Self, String> {
        let mut config = Config::default();
        // No clause is about the signature's bytes, and making them is a sixth of a run's work.
        config.signing.enabled = false;
        let limits = Limits {
            timeout: TIMEOUT,
            ..Limits::default()
        };
        let service = deviation.service(&config)?;
        let (embedded, transport) = if deviation.needs_a_port() {
            let embedded = Embedded::serve(&config, service)
                .await
                .map_err(|cause| format!("the embedded reference server: {cause}"))?;
            let target = Target::parse(&embedded.url).map_err(|cause| cause.to_string())?;
            (embedded, Transport::new(target, limits, &[]))
        } else {
            let (embedded, pipe) = Embedded::serve_piped(&config, service);
            let target = Target::parse(&embedded.url).map_err(|cause| cause.to_string())?;
            let connector = Connector::in_process(&target, std::sync::Arc::new(move || pipe.connect()));
            (
                embedded,
                Transport::new(target, limits, &[]).with_connector(connector),
            )
        };
        let settings = Settings {
            transport,
            shown_target: embedded.url.clone(),
            profile: embedded.profile.clone(),
            seed,
            cases,
            jobs: JOBS,
            rate: None,
            max_requests: None,
            time_limit: TIME_LIMIT,
            shrink_requests: 0,
            // Which rules were broken is all that a trial asks.
            closer_look: false,
            strictness: Strictness::default(),
        };
        let outcome = run::check(&settings, suite, stop, &mut Silent).await;
        embedded.stop().await;
        let broken = outcome
            .summary
            .rules
            .iter()
            .filter(|outcome| outcome.verdict.is_broken());
        Ok(Self {
            deviation,
            seed,
            broken: broken.map(|outcome| outcome.rule).collect(),
            conclusion: outcome.summary.conclusion,
            cut_short: outcome.summary.cut_short,
        })
    }

    /// The rules of the fault's own clause that caught it.
    pub fn caught_by(&self) -> impl Iterator<Item = &'static Rule> {
        let clause = match self.deviation {
            Deviation::Fault(fault) => Some(fault.clause),
            Deviation::Variant(_) => None,
        };
        self.broken
            .iter()
            .copied()
            .filter(move |rule| Some(rule.clause) == clause)
    }

    /// Rules that should not have been broken: of a fault, those of clauses that it does not name; of a variant, the stated
    /// ones.
    pub fn strays(&self) -> impl Iterator<Item = &'static Rule> {
        let deviation = self.deviation;
        self.broken.iter().copied().filter(move |rule| match deviation {
            Deviation::Fault(fault) => !is_related(rule.clause, fault),
            Deviation::Variant(_) => rule.basis() == Basis::Stated,
        })
    }

    /// What is wrong with the verdict, in words; none when it is as it must be.
    pub fn complaint(&self) -> Option<String> {
        let strays: Vec<&str> = self.strays().map(|rule| rule.id).collect();
        if !strays.is_empty() {
            return Some(format!("broke {}", strays.join(", ")));
        }
        if self.conclusion == Conclusion::CouldNotTest {
            return Some(format!(
                "could not be tested: {}",
                self.cut_short.as_deref().unwrap_or("no reason given")
            ));
        }
        match self.deviation {
            Deviation::Fault(fault) if self.caught_by().next().is_none() => {
                Some(format!("was not caught by a rule of {}", fault.clause))
            }
            Deviation::Variant(_) if self.conclusion != Conclusion::Conforms => {
                Some(format!("ended as {:?}", self.conclusion))
            }
            _ => None,
        }
    }
}

/// What is broken with any refusal of a request that section 2 obliges to accept: section 4 promises a result for it.
const FOLLOW_FROM_A_REFUSAL: [&str; 6] = [
    "quote.sponsored-result",
    "quote.erc20-result",
    "sponsor.sponsored-result",
    "sponsor.erc20-result",
    "error.refusal-is-none",
    "error.unsupported-quote-is-none",
];

/// Whether a fault may be seen by a rule of that clause: its own, one that it names (`request.*` names a group), or one that
/// follows from it.
fn is_related(clause: &str, fault: &Fault) -> bool {
    fault.names(clause) || fault.clause.starts_with("request.") && FOLLOW_FROM_A_REFUSAL.contains(&clause)
}
