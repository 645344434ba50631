//! Variants: named lawful differences from the default server. No rule of a conformance harness may fail for one.
#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of RequestView<'a> is not general enough for the function pointer of a table"
)]

mod amounts;
mod erc_7677;
mod errors;
mod http;
mod limits;
mod policies;
mod quotes;
mod requests;
mod shapes;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use paymaster_service::Config;

use crate::injection::{Behaviour, Condition, Injection, always};
use crate::names::{ANY, ERC_7677, FEE_QUOTE, UnknownName, find};

/// One lawful difference from the default server.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The variant's unique name: lower-case words joined by `-`.
    pub name: &'static str,
    /// The name of the specification whose requests or results it looks at; none where it shows by any specification.
    pub specification: Option<&'static str>,
    /// What the server does, as a fragment without a subject.
    pub about: &'static str,
    /// The ids of clauses that the variant breaks although it is lawful. None of them is stated by the specification, so a
    /// harness may warn of them but not fail.
    pub warns: &'static [&'static str],
    /// What a profile of the default server states and is not true of this one.
    pub untrue: &'static [Statement],
    /// Changes the configuration of the service that the variant stands around.
    pub configure: fn(&mut Config),
    pub(crate) injection: Injection,
}

/// A statement of the profile of the default server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    /// Every well-formed operation gets a result.
    AcceptsAny,
    /// Every accepted operation is sponsored, except those of refused senders.
    SponsorsAny,
    /// The configured smart accounts are served.
    Accounts,
    /// The configured tokens are supported.
    Tokens,
    /// The first configured token is supported.
    OneToken,
    /// An ordinary operation of a deployed account is sponsored.
    OneOperation,
    /// The data are those of a contract that the profile names.
    Contract,
    /// No context is needed.
    NoContext,
}

impl Variant {
    behaviours!();

    /// The same variant of a server with another configuration.
    const fn configured(mut self, configure: fn(&mut Config)) -> Self {
        self.configure = configure;
        self
    }

    /// Refuses requests that need not be served.
    const fn refuses(self, condition: Condition) -> Self {
        self.injects(Behaviour::Refuse).when(condition)
    }

    /// Sponsors none of the requests that meet this condition.
    const fn sponsors_nothing(self, condition: Condition) -> Self {
        self.injects(Behaviour::SPONSOR_NOTHING).when(condition)
    }

    /// The same variant as one that shows by this specification alone.
    const fn of_fee_quote(self) -> Self {
        Self { specification: FEE_QUOTE, ..self }
    }

    /// The same variant for the requests that meet this condition only.
    const fn when(mut self, condition: Condition) -> Self {
        self.injection.condition = condition;
        self
    }

    /// The same variant with the clauses that a harness may warn of.
    const fn warns(mut self, clauses: &'static [&'static str]) -> Self {
        self.warns = clauses;
        self
    }

    /// The same variant with what is not true of it.
    const fn untrue(mut self, statements: &'static [Statement]) -> Self {
        self.untrue = statements;
        self
    }
}

/// A variant of which the behaviour or the configuration follows.
const fn variant(name: &'static str, about: &'static str) -> Variant {
    let injection = Injection { condition: always, behaviour: Behaviour::NOTHING };
    Variant { name, specification: None, about, warns: &[], untrue: &[], configure: |_| {}, injection }
}

/// The groups, each with the specification that it is about.
const GROUPS: [(Option<&str>, &[Variant]); 9] = [
    (FEE_QUOTE, requests::VARIANTS),
    (FEE_QUOTE, limits::VARIANTS),
    (FEE_QUOTE, policies::VARIANTS),
    (FEE_QUOTE, shapes::VARIANTS),
    (FEE_QUOTE, amounts::VARIANTS),
    (FEE_QUOTE, quotes::VARIANTS),
    (ANY, errors::VARIANTS),
    (ANY, http::VARIANTS),
    (ERC_7677, erc_7677::VARIANTS),
];

static VARIANTS: LazyLock<Vec<Variant>> = LazyLock::new(|| {
    let of_group = |(group, variants): (Option<&'static str>, &'static [Variant])| {
        variants
            .iter()
            .map(move |variant| Variant { specification: variant.specification.or(group), ..*variant })
    };
    GROUPS.into_iter().flat_map(of_group).collect()
});

/// Every variant, group by group.
pub fn variants() -> impl Iterator<Item = &'static Variant> + Clone {
    VARIANTS.iter()
}

/// The variants that show by a specification: its own, and those of JSON-RPC and HTTP.
pub fn variants_of(specification: &str) -> impl Iterator<Item = &'static Variant> {
    variants().filter(move |variant| variant.specification.is_none_or(|own| own == specification))
}

/// The variant called `name`; the error suggests the most similar name.
pub fn find_variant(name: &str) -> Result<&'static Variant, UnknownName> {
    find("variant", variants(), |variant| variant.name, name)
}
