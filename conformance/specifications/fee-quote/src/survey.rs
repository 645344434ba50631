//! A survey: discovery, and then a few operations and sizes. It shows what a first profile of the target can state.

use crate::call::CallParts;
use crate::discovery::Discovery;
use crate::generate::requests::Source;
use crate::target::{Context, Support};
use crate::{SPECIFICATION, base};
use paymaster_engine::cases::{FIRST_ID, Group, single_requests};
use paymaster_engine::first_profile::{self, FirstProfile, ReachedKinds};
use paymaster_engine::knowledge::Discover as _;
use paymaster_engine::message::{Answer, ParsedRequest};
use paymaster_engine::session::Access;
use paymaster_engine::spending::SpendingLimits;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use paymaster_exchange::Exchange;
use paymaster_schemas::{Mode, kinds};
use serde_json::{Map, Value, json};

/// How many made-up operations are sent, each in every pair that was served.
const OPERATIONS: usize = 6;

/// The sizes of call data that are tried, in bytes.
const CALL_DATA_BYTES: [u64; 5] = [256, 1_024, 4_096, 16_384, 65_536];

/// The lengths of token lists that are tried.
const TOKEN_LIST_LENGTHS: [u64; 4] = [3, 10, 30, 100];

/// How the target answered a made-up operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Decision {
    /// With a result that sponsors it.
    Sponsored,
    /// With a result that does not sponsor it.
    NotSponsored,
    /// With an error, or not at all.
    Refused,
}

/// A size of a request that was tried.
#[derive(Debug)]
pub(crate) struct TriedSize {
    /// The key of `[limits]`.
    pub(crate) key: &'static str,
    /// The size.
    pub(crate) size: u64,
    /// Whether the request got a result.
    pub(crate) served: bool,
}

/// A state machine like [`Discovery`]: it returns the requests of a round, takes their exchanges and learns from them.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    stage: Stage,
    seed: u64,
    /// What discovery found, once it is over.
    pub(crate) context: Context,
    pub(crate) access: Access,
    pub(crate) reached: ReachedKinds,
    /// The made-up operations of sponsored mode, each with every answer to it.
    pub(crate) operations: Vec<(Map<String, Value>, BTreeSet<Decision>)>,
    /// How often requests in each of [`Mode::ALL`] were refused, by the message; a result has none.
    modes: [BTreeMap<Option<String>, u64>; 2],
    /// The sizes, ascending for each key.
    pub(crate) sizes: Vec<TriedSize>,
}

#[derive(Debug, Default)]
enum Stage {
    Discovering(Box<Discovery>),
    /// The groups of operations were returned.
    #[default]
    Operations,
    /// The groups of these sizes were returned, in this order.
    Sizes(Vec<(&'static str, u64)>),
}

impl Survey {
    /// A survey of a target of which nothing is known, which draws operations within these limits.
    pub(crate) fn new(seed: u64, limits: SpendingLimits) -> Self {
        let mut context = Context::default();
        let operations = &mut context.profile.operations;
        (operations.max_sponsorships, operations.max_cost) = (limits.sponsorships, limits.cost);
        let stage = Stage::Discovering(Box::new(Discovery::new(context, seed)));
        Self { stage, seed, ..Self::default() }
    }

    /// The mode of which each valid request was refused with the same message, how often, and the message. Sponsored mode only where the other
    /// one is served: it may sponsor other operations.
    pub(crate) fn refused_mode(&self) -> Option<(Mode, u64, &str)> {
        let of = |mode: Mode| match self.modes[mode as usize].iter().next()? {
            (Some(message), times) if self.modes[mode as usize].len() == 1 => {
                Some((mode, *times, &**message))
            }
            _ => None,
        };
        let is_served = |mode: Mode| self.modes[mode as usize].contains_key(&None);
        of(Mode::Erc20).or_else(|| of(Mode::Sponsored).filter(|_| is_served(Mode::Erc20)))
    }

    fn end_discovery(&mut self) {
        if let Stage::Discovering(discovery) = mem::replace(&mut self.stage, Stage::Operations) {
            (self.context, self.access) = discovery.found();
        }
    }
}

impl first_profile::Survey for Survey {
    fn next_round(&mut self, answers: &[(Group, Vec<Exchange>)]) -> Option<Vec<Group>> {
        let exchanges = || answers.iter().flat_map(|(_, exchanges)| exchanges);
        for exchange in exchanges() {
            self.reached.see(exchange, &SPECIFICATION);
            note_mode(&mut self.modes, exchange);
        }
        match &mut self.stage {
            Stage::Discovering(discovery) => {
                let round = discovery.next_round(answers);
                Some(round.unwrap_or_else(|| {
                    self.end_discovery();
                    operations(&self.context, self.seed)
                }))
            }
            Stage::Operations => {
                for (group, exchanges) in answers {
                    self.access.see_group(group, exchanges, &self.context);
                }
                for exchange in exchanges() {
                    note_decision(&mut self.operations, exchange);
                }
                let (tried, groups) = sizes(&self.context, self.seed);
                self.stage = Stage::Sizes(tried);
                Some(groups)
            }
            Stage::Sizes(tried) => {
                for (group, exchanges) in answers {
                    let size = tried.get(group.number);
                    if let (Some((key, size)), Some(exchange)) = (size, exchanges.first()) {
                        let served = Answer::of(exchange).result().is_some_and(Value::is_object);
                        self.sizes.push(TriedSize { key, size: *size, served });
                    }
                }
                None
            }
        }
    }

    fn finish(mut self: Box<Self>, is_public: &dyn Fn(&str) -> bool) -> FirstProfile {
        self.end_discovery();
        self.first_profile(is_public)
    }
}

/// Made-up operations in sponsored mode, each sent twice.
fn operations(context: &Context, seed: u64) -> Vec<Group> {
    let wanted = base::sponsored(kinds::SPONSOR_SPONSORED);
    let mut source = Source::new(seed ^ 0x0b5e, context);
    let requests = (0..OPERATIONS).filter_map(|_| source.base(&wanted));
    let twice = requests.flat_map(|request| [(wanted, request.clone()), (wanted, request)]);
    single_requests(twice, &mut { FIRST_ID }, context)
}

/// Requests of growing size: one operation with more and more call data, and quotes with longer and longer token lists. Gives the sizes
/// and, in the same order, a group for each.
fn sizes(context: &Context, seed: u64) -> (Vec<(&'static str, u64)>, Vec<Group>) {
    let (mut tried, mut requests) = (Vec::new(), Vec::new());
    let wanted = base::sponsored(kinds::SPONSOR_SPONSORED);
    let mut source = Source::new(seed ^ 0x512e, context);
    if let Some(base) = source.base(&wanted) {
        for bytes in CALL_DATA_BYTES {
            let mut request = base.clone();
            let digits = usize::try_from(2 * bytes).unwrap_or_default();
            request["params"][0]["callData"] = json!(format!("0x{}", "b6".repeat(digits / 2)));
            tried.push(("call-data-bytes", bytes));
            requests.push((wanted, request));
        }
    }
    let wanted = base::any_tokens(kinds::QUOTE_ERC20);
    let known = context.tokens_with(Support::Supported).next().map(str::to_owned);
    if let (Some(token), Some(base)) = (known, source.base(&wanted)) {
        for length in TOKEN_LIST_LENGTHS {
            let made_up = (1..length).map(|salt| format!("0x{:040x}", 0xdead_0000_0000 + salt));
            let list: Vec<String> = made_up.chain([token.clone()]).collect();
            let mut request = base.clone();
            request["params"][1]["tokenInfo"] = json!({ "preferredToken": token, "tokenList": list });
            tried.push(("token-list-length", length));
            requests.push((wanted, request));
        }
    }
    let groups =
        requests.into_iter().flat_map(|request| single_requests([request], &mut { FIRST_ID }, context));
    let groups = groups.enumerate().map(|(number, group)| Group { number, ..group });
    (tried, groups.collect())
}

fn note_mode(known: &mut [BTreeMap<Option<String>, u64>; 2], exchange: &Exchange) {
    let request = ParsedRequest::of(&exchange.request, &SPECIFICATION);
    let Some(call) = request.valid_call() else { return };
    let answer = Answer::of(exchange);
    let message = answer.error().map(|error| error["message"].as_str().unwrap_or_default().to_owned());
    *known[Mode::of(call.pair) as usize].entry(message).or_default() += 1;
}

fn note_decision(known: &mut Vec<(Map<String, Value>, BTreeSet<Decision>)>, exchange: &Exchange) {
    let request = ParsedRequest::of(&exchange.request, &SPECIFICATION);
    let Some(call) = request.valid_call().filter(|call| Mode::of(call.pair) == Mode::Sponsored) else {
        return;
    };
    let Some(operation) = call.operation().as_object() else { return };
    let answer = Answer::of(exchange);
    let decision = match answer.result().map(|result| result["paymasterAndData"].as_str()) {
        Some(Some("0x")) => Decision::NotSponsored,
        Some(Some(_)) => Decision::Sponsored,
        _ => Decision::Refused,
    };
    match known.iter_mut().find(|(other, _)| other == operation) {
        Some((_, decisions)) => {
            decisions.insert(decision);
        }
        None => known.push((operation.clone(), BTreeSet::from([decision]))),
    }
}
