//! A survey: discovery, and then a few operations and sizes. It shows what a first profile of the target can state.

use crate::{
    SPECIFICATION, base,
    call::CallParts,
    discovery::{DISCOVERY, Discovery},
    generate::source::Source,
    target::context::{Context, Support},
};
use paymaster_engine::{
    cases::{
        case::{Base, Group},
        plan::{FIRST_ID, group},
    },
    message::{answer::Answer, request::ParsedRequest},
    session::{access::Access, judge},
};
use std::collections::{BTreeMap, BTreeSet};

use paymaster_exchange::Exchange;
use paymaster_schemas::{Kind, Mode, kinds};
use serde_json::{Map, Value, json};

/// How many made-up operations are sent, each in every pair that was served.
const OPERATIONS: usize = 6;

/// The sizes of call data that are tried, in bytes.
const CALL_DATA_BYTES: [u64; 5] = [256, 1_024, 4_096, 16_384, 65_536];

/// The lengths of token lists that are tried.
const TOKEN_LIST_LENGTHS: [u64; 4] = [3, 10, 30, 100];

/// How the target answered a made-up operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// With a result that sponsors it.
    Sponsored,
    /// With a result that does not sponsor it.
    NotSponsored,
    /// With an error, or not at all.
    Refused,
}

/// A size of a request that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriedSize {
    /// The key of `[limits]`.
    pub key: &'static str,
    /// The size.
    pub size: u64,
    /// Whether the request got a result.
    pub served: bool,
}

/// What a survey found.
#[derive(Debug)]
pub struct SurveyResult {
    /// What discovery found.
    pub context: Context,
    /// Whether requests got past HTTP to the service.
    pub access: Access,
    /// How many valid requests got a result, and how many an error, by pair.
    pub reached: BTreeMap<Kind, (u64, u64)>,
    /// The made-up operations of sponsored mode, each with every answer to it.
    pub operations: Vec<(Map<String, Value>, BTreeSet<Decision>)>,
    /// The sizes, ascending for each key.
    pub sizes: Vec<TriedSize>,
}

impl SurveyResult {
    /// Whether any valid request got a result.
    pub fn serves_anything(&self) -> bool {
        self.reached.values().any(|(results, _)| *results > 0)
    }
}

/// A state machine like [`Discovery`]: it returns the requests of a round and takes their exchanges.
#[derive(Debug)]
pub struct Survey {
    stage: Stage,
    seed: u64,
    reached: BTreeMap<Kind, (u64, u64)>,
    operations: Vec<(Map<String, Value>, BTreeSet<Decision>)>,
    sizes: Vec<TriedSize>,
}

#[derive(Debug)]
enum Stage {
    Discovering(Discovery),
    /// The groups of operations were returned.
    Operations((Context, Access)),
    /// The groups of these sizes were returned, in this order.
    Sizes((Context, Access), Vec<(&'static str, u64)>),
}

impl Survey {
    /// A survey that starts from the context of a profile.
    pub fn new(context: Context, seed: u64) -> Self {
        Self {
            stage: Stage::Discovering(Discovery::new(context, seed)),
            seed,
            reached: BTreeMap::new(),
            operations: Vec::new(),
            sizes: Vec::new(),
        }
    }

    /// Takes the answers of the previous round (none at first) and returns the groups of the next round; none at the end.
    pub fn next_round(mut self, answers: &[(Group, Vec<Exchange>)]) -> (Self, Option<Vec<Group>>) {
        for exchange in answers.iter().flat_map(|(_, exchanges)| exchanges) {
            self.count(exchange);
        }
        let (stage, groups) = match self.stage {
            Stage::Discovering(mut discovery) => {
                if let Some(groups) = discovery.next_round(answers) {
                    (Stage::Discovering(discovery), Some(groups))
                } else {
                    let found = discovery.finish();
                    let groups = operations(&found.0, self.seed);
                    (Stage::Operations(found), Some(groups))
                }
            }
            Stage::Operations(mut found) => {
                for (group, exchanges) in answers {
                    for view in judge::read(group, exchanges, &found.0) {
                        found.1.see(group.relation.id, &view);
                    }
                }
                for exchange in answers.iter().flat_map(|(_, exchanges)| exchanges) {
                    note_decision(&mut self.operations, exchange);
                }
                let (tried, groups) = sizes(&found.0, self.seed);
                (Stage::Sizes(found, tried), Some(groups))
            }
            Stage::Sizes(found, tried) => {
                for (group, exchanges) in answers {
                    let size = tried.get(group.number);
                    if let (Some((key, size)), Some(exchange)) = (size, exchanges.first()) {
                        self.sizes.push(TriedSize {
                            key,
                            size: *size,
                            served: Answer::of(exchange).result().is_some_and(Value::is_object),
                        });
                    }
                }
                (Stage::Sizes(found, Vec::new()), None)
            }
        };
        (Self { stage, ..self }, groups)
    }

    /// What the survey found.
    pub fn finish(self) -> SurveyResult {
        let found = match self.stage {
            Stage::Discovering(discovery) => discovery.finish(),
            Stage::Operations(found) | Stage::Sizes(found, _) => found,
        };
        SurveyResult {
            context: found.0,
            access: found.1,
            reached: self.reached,
            operations: self.operations,
            sizes: self.sizes,
        }
    }

    fn count(&mut self, exchange: &Exchange) {
        let request = ParsedRequest::of(&exchange.request, &SPECIFICATION);
        let Some(call) = request.valid_call() else {
            return;
        };
        let answer = Answer::of(exchange);
        let (results, errors) = self.reached.entry(call.pair).or_default();
        if answer.result().is_some() {
            *results += 1;
        } else if answer.error().is_some() {
            *errors += 1;
        }
    }
}

/// Made-up operations in sponsored mode, each sent twice.
fn operations(context: &Context, seed: u64) -> Vec<Group> {
    let wanted = base::sponsored(kinds::SPONSOR_SPONSORED);
    let mut source = Source::new(seed ^ 0x0b5e, context);
    let requests = (0..OPERATIONS).filter_map(|_| source.base(&wanted));
    let requests: Vec<Value> = requests.flat_map(|request| [request.clone(), request]).collect();
    groups(wanted, requests, context)
}

/// The same operation with larger and larger call data, and quotes with longer and longer lists.
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
    let groups = requests.into_iter().flat_map(|(wanted, request)| groups(wanted, vec![request], context));
    let groups = groups.enumerate().map(|(number, group)| Group { number, ..group });
    (tried, groups.collect())
}

fn groups(wanted: Base, requests: Vec<Value>, context: &Context) -> Vec<Group> {
    let mut next_id = FIRST_ID;
    let mut groups = Vec::new();
    for request in requests {
        if let Some((built, next)) = group(&DISCOVERY, wanted, request, 0, next_id, context) {
            next_id = next;
            groups.push(Group { number: groups.len(), ..built });
        }
    }
    groups
}

fn note_decision(known: &mut Vec<(Map<String, Value>, BTreeSet<Decision>)>, exchange: &Exchange) {
    let request = ParsedRequest::of(&exchange.request, &SPECIFICATION);
    let Some(call) = request.valid_call().filter(|call| Mode::of(call.pair) == Mode::Sponsored) else {
        return;
    };
    let Some(operation) = call.operation().as_object() else {
        return;
    };
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
