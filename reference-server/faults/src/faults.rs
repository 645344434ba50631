//! Faults: named ways to break one clause on purpose. They prove that the rules of a conformance harness find what they
//! are for.
//!
//! Each file holds a group of clauses, each entry a fault. A fault breaks its own clause and, where possible, no other.
//! [`Fault::also`] lists the clauses that it breaks unavoidably. Faults that follow from the schema of a result are no entries: [`derived`]
//! makes them.
#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of RequestView<'a> is not general enough for the function pointer of a table"
)]

mod erc_7677;
mod http;
mod json_rpc;
mod on_chain;
mod requests;
mod results;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::LazyLock;

use paymaster_schemas::{member_validator, resolved};
use serde_json::Value;

use crate::injection::{Behaviour, Condition, Injection, MemberChange, always, decimal_text};
use crate::names::{ANY, ERC_7677, FEE_QUOTE, UnknownName, find};

/// One way to break one clause.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// The fault's unique name: lower-case words joined by `-`.
    pub name: &'static str,
    /// The id of the clause that the fault breaks, from `paymaster_schemas::clauses`.
    pub clause: &'static str,
    /// The ids of other clauses that the fault breaks unavoidably; `request.*` is every clause of that group.
    pub also: &'static [&'static str],
    /// The name of the specification whose requests or results it looks at; none where it shows by any specification.
    pub specification: Option<&'static str>,
    /// What the faulty server does, as a fragment without a subject.
    pub about: &'static str,
    /// The member of the request on which the fault depends, as a JSON pointer into the body; none where no single member decides.
    pub member: Option<&'static str>,
    /// On what it depends beside that.
    pub condition: FaultCondition,
    pub(crate) injection: Injection,
}

/// On what a fault depends, beside one member of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultCondition {
    /// On nothing: every answer that has the changed part shows it.
    Always,
    /// On the request: its method, its mode, its members or its headers.
    Request,
    /// On other requests: earlier ones, or those in flight.
    OtherRequests,
}

impl Fault {
    /// Whether the fault may break that clause: its own, one in the list `also`, or one that a refusal of its requests implies.
    pub fn names(&self, clause: &str) -> bool {
        let names = |also: &&str| match also.strip_suffix('*') {
            Some(group) => clause.starts_with(group),
            None => clause == *also,
        };
        let implied = self.clause.starts_with("request.") && IMPLIED_BY_REFUSAL.contains(&clause);
        clause == self.clause || implied || self.also.iter().any(names)
    }

    /// What the faults of a clause have in common. A fault that states another behaviour, condition or list of clauses has that instead.
    const fn breaking(clause: &'static str) -> Self {
        Self {
            name: "",
            clause,
            also: &[],
            specification: None,
            about: "",
            member: None,
            condition: FaultCondition::Always,
            injection: Injection { condition: always, behaviour: Behaviour::NOTHING },
        }
    }

    /// A fault of which the behaviour follows.
    const fn new(clause: &'static str, name: &'static str, about: &'static str) -> Self {
        fault(Self::breaking(clause), name, about)
    }

    behaviours!();
    behaviours! { on_batch Batch(Vec<Value>); }

    /// The same fault with the member of the request on which it depends.
    const fn depends_on(self, member: &'static str) -> Self {
        Self { member: Some(member), ..self }
    }

    /// The same fault as one that shows by this specification alone.
    const fn of_fee_quote(self) -> Self {
        Self { specification: FEE_QUOTE, ..self }
    }

    /// The same fault as one that depends on the request, by what its behaviour looks at.
    const fn depends_on_the_request(self) -> Self {
        Self { condition: FaultCondition::Request, ..self }
    }

    /// The same fault as one that depends on other requests.
    const fn depends_on_others(self) -> Self {
        Self { condition: FaultCondition::OtherRequests, ..self }
    }

    /// Changes the result member that the clause is about.
    const fn changes(self, change: MemberChange) -> Self {
        self.injects(Behaviour::Row { row: self.clause, change })
    }

    /// Refuses requests that must be served.
    const fn refuses(self, condition: Condition) -> Self {
        self.injects(Behaviour::Refuse).when(condition).also(SERVED)
    }

    /// The fault for the requests that its clause is about: those that meet this condition, which is nothing that it depends on.
    const fn among(mut self, condition: Condition) -> Self {
        self.injection.condition = condition;
        self
    }

    /// The fault for the requests that meet this condition only.
    const fn when(mut self, condition: Condition) -> Self {
        self = self.among(condition);
        if !matches!(self.condition, FaultCondition::OtherRequests) {
            self.condition = FaultCondition::Request;
        }
        self
    }

    /// The fault for the requests that meet this condition, which looks at this member of the request.
    const fn when_at(self, member: &'static str, condition: Condition) -> Self {
        self.when(condition).depends_on(member)
    }

    /// Refuses requests that must be served, by this member of the request.
    const fn refuses_at(self, member: &'static str, condition: Condition) -> Self {
        self.refuses(condition).depends_on(member)
    }

    /// The same fault as one of another clause, where the clause of the row still holds.
    const fn of(mut self, clause: &'static str) -> Self {
        self.clause = clause;
        self
    }

    /// The same fault with other clauses that it breaks.
    const fn also(mut self, clauses: &'static [&'static str]) -> Self {
        self.also = clauses;
        self
    }
}

/// A fault with what others have in common.
const fn fault(common: Fault, name: &'static str, about: &'static str) -> Fault {
    Fault { name, about, ..common }
}

// Members of requests on which many faults depend.
const FEE_TOKEN: &str = "/params/1/tokenInfo/feeTokenAddress";
const CALCULATE: &str = "/params/1/calculateGasLimits";
const PREFERRED: &str = "/params/1/tokenInfo/preferredToken";
/// The placeholder of the native coin, with the checksum of EIP-55.
pub(crate) const NATIVE_COIN: &str = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE";
const CALL_DATA: &str = "/params/0/callData";

/// The clauses that a refusal breaks: the request gets no result, and similar requests get one.
const SERVED: &[&str] = &[
    "quote.sponsored-result",
    "quote.erc20-result",
    "sponsor.sponsored-result",
    "sponsor.erc20-result",
    "sponsor.decision-inputs",
];

/// The clauses that are broken too where a request is refused that section 2 requires to be accepted: section 4 promises a result,
/// and the part that is refused has a size.
const IMPLIED_BY_REFUSAL: [&str; 9] = [
    "stub.sponsorable-is-served",
    "data.sponsorable-is-served",
    "request.sizes",
    "quote.sponsored-result",
    "quote.erc20-result",
    "sponsor.sponsored-result",
    "sponsor.erc20-result",
    "error.refusal-is-none",
    "error.unsupported-quote-is-none",
];

/// The groups, each with the specification that it is about.
const GROUPS: [(Option<&str>, &[Fault]); 29] = [
    (ANY, json_rpc::ids::FAULTS),
    (FEE_QUOTE, requests::operations::FAULTS),
    (FEE_QUOTE, results::sponsored_results::FAULTS),
    (FEE_QUOTE, results::quote_results::FAULTS),
    (FEE_QUOTE, results::token_sponsor_results::FAULTS),
    (ANY, results::answer::FAULTS),
    (ANY, results::texts::FAULTS),
    (ANY, http::transport::FAULTS),
    (ANY, http::headers::FAULTS),
    (FEE_QUOTE, http::excused::OF_OVERLOAD),
    (ANY, http::excused::FAULTS),
    (FEE_QUOTE, http::excused::OF_FEE_QUOTE),
    (ERC_7677, http::excused::OF_ERC_7677),
    (FEE_QUOTE, requests::methods::FAULTS),
    (FEE_QUOTE, requests::tokens::FAULTS),
    (FEE_QUOTE, requests::decision::FAULTS),
    (FEE_QUOTE, requests::wallets::FAULTS),
    (FEE_QUOTE, requests::client_forms::FAULTS),
    (FEE_QUOTE, requests::caches::FAULTS),
    (FEE_QUOTE, json_rpc::errors::FAULTS),
    (FEE_QUOTE, requests::refusals::FAULTS),
    (FEE_QUOTE, results::plausibility::FAULTS),
    (ANY, json_rpc::batches::FAULTS),
    (ERC_7677, erc_7677::results::FAULTS),
    (ERC_7677, erc_7677::requests::FAULTS),
    (ERC_7677, erc_7677::refusals::FAULTS),
    (ERC_7677, erc_7677::signatures::FAULTS),
    (ERC_7677, on_chain::OF_ERC_7677),
    (FEE_QUOTE, on_chain::OF_FEE_QUOTE),
];

/// Every fault, group by group. The faults that follow from the schema of a row stand before the first other fault of the row.
static FAULTS: LazyLock<Vec<Fault>> = LazyLock::new(|| {
    let (mut faults, mut rows) = (Vec::new(), HashSet::new());
    for (group, fault) in
        GROUPS.iter().flat_map(|(group, faults)| faults.iter().map(|fault| (*group, *fault)))
    {
        let fault = Fault { specification: fault.specification.or(group), ..fault };
        if let Behaviour::Row { row, .. } = fault.injection.behaviour
            && rows.insert(row)
        {
            faults.extend(derived(row, &fault));
        }
        faults.push(fault);
    }
    faults
});

/// Every fault, group by group.
pub fn faults() -> impl Iterator<Item = &'static Fault> + Clone {
    FAULTS.iter()
}

/// The faults that show by a specification: its own, and those of JSON-RPC and HTTP.
pub fn faults_of(specification: &str) -> impl Iterator<Item = &'static Fault> {
    faults().filter(move |fault| fault.specification.is_none_or(|own| own == specification))
}

/// The fault called `name`; the error suggests the most similar name.
pub fn find_fault(name: &str) -> Result<&'static Fault, UnknownName> {
    find("fault", faults(), |fault| fault.name, name)
}

/// The faults that follow from the schema of a row such as `fee-quote.maxGasFee`: `fee-max-missing` for a required member, `fee-max-string`
/// for a number. The two words before it, and the clauses that are broken too, are those of another fault of the row.
fn derived(row: &'static str, other: &Fault) -> impl Iterator<Item = Fault> {
    let (document, member) = row.split_once('.').unwrap_or_default();
    let schema = resolved(document).unwrap_or(&Value::Null);
    let is_required = schema["required"].as_array().is_some_and(|required| required.contains(&member.into()));
    let is_number = member_validator(document, member).is_some_and(|schema| schema.is_valid(&1.into()));
    let words = other.name.match_indices('-').nth(1).map_or(other.name, |(end, _)| &other.name[..end]);
    let fault = |name: &str, about: String, change| {
        let fault = Fault::new(row, format!("{words}-{name}").leak(), about.leak());
        Fault { specification: other.specification, ..fault.changes(change).also(other.also) }
    };
    let missing = is_required.then(|| fault("missing", format!("leaves {member} out"), MemberChange::Remove));
    let string =
        is_number.then(|| fault("string", format!("{member} is a string"), MemberChange::Map(decimal_text)));
    missing.into_iter().chain(string)
}
