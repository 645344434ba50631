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

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use paymaster_client::{
    http::transport::{Limits, Transport},
    network::target::Target,
    stop::Stop,
};
use paymaster_conformance::{
    Event,
    run::{Reporter, Suite},
    selftest::{Cases, Deviation, ProfilePart, Trials, every_deviation},
};
use paymaster_engine::{
    cases::{case::Group, plan::Plan},
    session::judge::Judge,
};
use paymaster_exchange::{Exchange, Response};
use paymaster_fee_quote::{
    SPECIFICATION,
    target::{context::Context, profile::Profile},
};
use paymaster_reference_server::{Config, InjectedService, Respond, Service, find_fault, find_variant};
use paymaster_schemas::Basis;
use paymaster_settings::{
    DEFAULT_SPECIFICATION, Embedded, Settings,
    args::{CommonArgs, RunArgs},
};

/// Trials of these deviations with whole profiles and one seed.
fn trials(deviations: &[Deviation], cases: Cases) -> Trials<'_> {
    let (profile_parts, most_parts) = (ProfilePart::whole, usize::MAX);
    Trials { deviations, seeds: &[1], profile_parts, most_parts, cases, causes: false, chain: None }
}
