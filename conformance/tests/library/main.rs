//! Whole runs, recorded traffic and the public API, as another crate uses them.

mod arbitrary_bytes;
mod causes;
mod discovery;
mod kill_matrix;
mod listening;
mod pairs;
mod recorded;
mod rust_api;
mod scope;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use paymaster_client::http::transport::{Limits, Transport};
use paymaster_client::network::target::Target;
use paymaster_client::stop::Stop;
use paymaster_conformance::Event;
use paymaster_conformance::run::{Reporter, Suite};
use paymaster_conformance::selftest::{Cases, Deviation, ProfilePart, Trials, every_deviation};
use paymaster_engine::cases::case::Group;
use paymaster_engine::cases::plan::Plan;
use paymaster_engine::session::judge::Judge;
use paymaster_exchange::{Exchange, Response};
use paymaster_fee_quote::SPECIFICATION;
use paymaster_fee_quote::target::context::Context;
use paymaster_fee_quote::target::profile::Profile;
use paymaster_reference_server::{Config, InjectedService, Respond, Service, find_fault, find_variant};
use paymaster_schemas::Basis;
use paymaster_settings::args::{CommonArgs, RunArgs};
use paymaster_settings::{DEFAULT_SPECIFICATION, Embedded, Settings};

/// Trials of these deviations with whole profiles and one seed.
fn trials(deviations: &[Deviation], cases: Cases) -> Trials<'_> {
    let (profile_parts, most_parts) = (ProfilePart::whole, usize::MAX);
    Trials { deviations, seeds: &[1], profile_parts, most_parts, cases, causes: false, chain: None }
}
