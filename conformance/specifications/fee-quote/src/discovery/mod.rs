//! Discovery: the first exchanges of a run. They show the dialect of the target, its tokens and its smart accounts.
//!
//! Round 1 sends every pair in the default dialect. Round 2 sends the pairs that were not served in every other reading. Round 3
//! finds supported tokens. Round 4 finds how unknown tokens are treated and which tokens are quoted. Round 5 tries the other name
//! of feeTokenAddress. A reading that replaces the default in round 2 or 5 is kept only if the default is refused again afterwards.
//! Round 6 finds smart accounts when the profile names none. Round 7 finds which forms of requests are served, and where addresses in
//! capital letters are. The profile takes precedence over what discovery finds.

pub use paymaster_engine::cases::protocol::DISCOVERY;

mod learn;
mod tokens;

use crate::{
    base,
    generate::source::Source,
    target::{
        accounts,
        context::Context,
        dialect::{Amounts, Dialect, ReadingCounts},
        forms::all_forms,
        spellings::{Place, Spelling},
    },
};
use paymaster_engine::{
    cases::{
        case::{Base, Group},
        plan::single_requests,
    },
    knowledge::{Discover, Knowledge},
    session::access::Access,
};
use std::{collections::BTreeSet, sync::Arc};

use paymaster_schemas::{Kind, Mode, kinds};
use serde_json::{Value, json};

use paymaster_exchange::Exchange;

/// How many operations are sent for each smart account.
const OPERATIONS_PER_ACCOUNT: usize = 2;

/// A state machine: it returns the requests of a round, takes their exchanges and learns from them. Any sender can drive it.
#[derive(Debug, Default)]
pub struct Discovery {
    context: Context,
    seed: u64,
    round: u32,
    next_id: u64,
    /// What each request of the current round tries.
    trials: Vec<Trial>,
    served: BTreeSet<Kind>,
    /// The pair with which a reading replaced another one in this round, and the other one.
    replaced: Option<(Kind, Dialect)>,
    /// Whether this round asks for the replaced reading again.
    asks_again: bool,
    /// The quotes of all rounds that show which tokens are quoted.
    readings: ReadingCounts,
    access: Access,
}

#[derive(Clone, Debug)]
struct Trial {
    pair: Kind,
    dialect: Dialect,
    /// The index of the form in [`all_forms`].
    form: Option<usize>,
}

impl Trial {
    /// A request that keeps to the tables.
    fn plain(pair: Kind, dialect: Dialect) -> Self {
        Self { pair, dialect, form: None }
    }
}

impl Discover for Discovery {
    fn next_round(&mut self, answers: &[(Group, Vec<Exchange>)]) -> Option<Vec<Group>> {
        self.learn(answers);
        let replaced = self.replaced.take().map(|(pair, reading)| Trial::plain(pair, reading));
        self.asks_again = replaced.is_some();
        if let Some(trial) = replaced {
            return Some(self.try_all(vec![trial.clone(), trial]));
        }
        loop {
            self.round += 1;
            let groups = match self.round {
                1 => self.default_dialect(),
                2 => self.other_dialects(),
                3 => self.which_tokens(),
                4 => self.unknown_tokens(),
                5 => self.other_fee_token_members(),
                6 => self.which_accounts(),
                7 => self.which_forms(),
                _ => return None,
            };
            if !groups.is_empty() {
                return Some(groups);
            }
        }
    }

    fn finish(self: Box<Self>) -> (Arc<dyn Knowledge>, Access) {
        let (context, access) = Self::found(*self);
        (Arc::new(context), access)
    }
}

impl Discovery {
    /// A discovery that starts from the context of the profile.
    pub fn new(context: Context, seed: u64) -> Self {
        Self { context, seed, next_id: 1, ..Self::default() }
    }

    /// What is known now, and whether requests got past HTTP to the service.
    pub fn found(self) -> (Context, Access) {
        (self.context, self.access)
    }

    fn default_dialect(&mut self) -> Vec<Group> {
        let twice = |pair| std::iter::repeat_n(Trial::plain(pair, self.context.dialect.clone()), 2);
        self.try_all(kinds::ALL.into_iter().flat_map(twice).collect())
    }

    /// When nothing was served: every combination of readings that the profile does not pin. When only token mode was served: the
    /// other name of sponsored mode. A reading with which one pair was served is kept for all pairs.
    fn other_dialects(&mut self) -> Vec<Group> {
        if self.served.iter().any(|pair| Mode::of(*pair) == Mode::Sponsored) {
            return Vec::new();
        }
        let nothing_served = self.served.is_empty();
        let pins = self.context.profile.dialect.clone();
        let own = self.context.dialect.clone();
        let versions = readings(pins.jsonrpc_version.as_ref(), &["2.0", "2.0.0"]);
        let names = readings(pins.sponsored_name.as_ref(), &["SPONSORED", "SPONSORSHIP"]);
        let notations = pins
            .amount_notation
            .map_or(vec![Amounts::Decimal, Amounts::Hex, Amounts::Mixed], |pinned| vec![pinned]);
        let mut trials = Vec::new();
        for pair in [kinds::SPONSOR_SPONSORED, kinds::QUOTE_SPONSORED, kinds::QUOTE_ERC20] {
            for version in &versions {
                for name in &names {
                    for notation in &notations {
                        let dialect = Dialect {
                            jsonrpc_version: version.clone(),
                            sponsored_name: name.clone(),
                            amount_notation: *notation,
                            ..own.clone()
                        };
                        let only_the_name = dialect.jsonrpc_version == own.jsonrpc_version
                            && dialect.amount_notation == own.amount_notation;
                        if nothing_served || only_the_name {
                            trials.push(Trial::plain(pair, dialect));
                        }
                    }
                }
            }
        }
        if !nothing_served {
            trials.retain(|trial| Mode::of(trial.pair) == Mode::Sponsored);
        }
        self.try_all(trials)
    }

    /// The alias of feeTokenAddress, when nothing was served with the pinned or default name.
    fn other_fee_token_members(&mut self) -> Vec<Group> {
        if self.served.contains(&kinds::SPONSOR_ERC20) {
            return Vec::new();
        }
        let pinned = self.context.profile.dialect.fee_token_member.clone();
        let mut trials = Vec::new();
        for member in readings(pinned.as_ref(), &["feeTokenAddress", "tokenAddress"]) {
            let dialect = Dialect { fee_token_member: member, ..self.context.dialect.clone() };
            trials.extend(std::iter::repeat_n(Trial::plain(kinds::SPONSOR_ERC20, dialect), 3));
        }
        self.try_all(trials)
    }

    /// Sends each smart account of published clients in both methods. Several operations are sent for each, because one may be
    /// refused for another reason.
    fn which_accounts(&mut self) -> Vec<Group> {
        if !self.context.profile.accounts.is_empty() {
            return Vec::new();
        }
        let mut source = Source::new(self.seed ^ u64::from(self.round), &self.context);
        let mut requests = Vec::new();
        for pair in [kinds::QUOTE_SPONSORED, kinds::SPONSOR_SPONSORED] {
            for account in accounts::listed(&accounts::CANDIDATES) {
                for _ in 0..OPERATIONS_PER_ACCOUNT {
                    let wanted = base::sponsored(pair);
                    if let Some(mut request) = source.base(&wanted) {
                        request["params"][1]["sponsorshipInfo"]["smartAccountInfo"] = json!(account);
                        let trial = Trial::plain(pair, self.context.dialect.clone());
                        requests.push((trial, wanted, request));
                    }
                }
            }
        }
        self.groups_of(requests)
    }

    /// Every form of requests, and addresses in capital letters at every place, in every pair that was served.
    fn which_forms(&mut self) -> Vec<Group> {
        let dialect = &self.context.dialect;
        let info = self.context.sponsorship_info();
        let mut source = Source::new(self.seed ^ u64::from(self.round), &self.context);
        let mut requests = Vec::new();
        for pair in self.served.iter().copied() {
            let wanted = base::sponsored(pair);
            let plain = Trial::plain(pair, dialect.clone());
            for (index, form) in all_forms().enumerate() {
                let request = source.base(&wanted).and_then(|request| form.of(&request, pair, &info));
                let trial = Trial { form: Some(index), ..plain.clone() };
                requests.extend(request.map(|request| (trial, wanted, request)));
            }
            for place in Place::of(pair) {
                let request = source.base(&wanted).and_then(|request| {
                    place.respelled(&request, Spelling::Capitals, &dialect.fee_token_member)
                });
                requests.extend(request.map(|request| (plain.clone(), wanted, request)));
            }
        }
        self.groups_of(requests)
    }

    fn try_all(&mut self, trials: Vec<Trial>) -> Vec<Group> {
        let mut requests = Vec::new();
        for trial in trials {
            let mut context = self.context.clone();
            context.dialect = trial.dialect.clone();
            let wanted = base::any_tokens(trial.pair);
            let id = self.next_id + requests.len() as u64;
            let request = Source::new(self.seed ^ id, &context).base(&wanted);
            requests.extend(request.map(|request| (trial, wanted, request)));
        }
        self.groups_of(requests)
    }

    /// The groups of these requests, each with what it tries.
    fn groups_of(&mut self, requests: Vec<(Trial, Base, Value)>) -> Vec<Group> {
        let (trials, requests): (Vec<_>, Vec<_>) =
            requests.into_iter().map(|(trial, wanted, request)| (trial, (wanted, request))).unzip();
        self.trials.extend(trials);
        single_requests(requests, &mut self.next_id, &self.context)
    }
}

/// The readings to try: the pinned one alone, or all.
fn readings(pinned: Option<&String>, all: &[&str]) -> Vec<String> {
    pinned.map_or_else(
        || all.iter().map(|reading| (*reading).to_owned()).collect(),
        |pinned| vec![pinned.clone()],
    )
}
