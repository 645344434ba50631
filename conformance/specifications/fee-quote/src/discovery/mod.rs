//! Discovery: the first exchanges of a run. They show the dialect of the target, its tokens and its smart accounts.
//!
//! Round 1 sends every pair in the default dialect. Round 2 sends the pairs that were not served in every other reading. Round 3
//! finds supported tokens. Round 4 finds how unknown tokens are treated and which tokens are quoted. Round 5 tries the other name
//! of feeTokenAddress. A reading that replaces the default in round 2 or 5 is kept only if the default is refused again afterwards.
//! Round 6 finds smart accounts when the profile names none. Round 7 finds which forms of requests are served, and where addresses in
//! capital letters are. The profile takes precedence over what discovery finds.

pub use paymaster_engine::cases::protocol::DISCOVERY;

use crate::call::{CallParts, RequestedTokens, quoted_tokens, unsupported_tokens};
use crate::generate::requests::Source;
use crate::generate::tokens::NATIVE_COIN;
use crate::target::{
    Amounts, Context, Dialect, Place, QuotedTokens, ReadingCounts, ServedCapitals, Spelling, Support,
    accounts, all_forms, shown_support,
};
use crate::{SPECIFICATION, base};
use paymaster_engine::cases::{Base, Group, single_requests};
use paymaster_engine::knowledge::{Discover, Knowledge};
use paymaster_engine::message::{Answer, ParsedRequest};
use paymaster_engine::session::Access;
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

// What discovery learns from the answers of a round.

impl Discovery {
    /// Learns from the answers of the round.
    fn learn(&mut self, answers: &[(Group, Vec<Exchange>)]) {
        let trials = std::mem::take(&mut self.trials);
        let mut learned = false;
        let mut unknown = Tally::default();
        for (group, exchanges) in answers {
            self.access.see_group(group, exchanges, &self.context);
            // By group number: a request of the round may have no answer.
            let (Some(trial), Some(exchange)) = (trials.get(group.number), exchanges.first()) else {
                continue;
            };
            let answer = Answer::of(exchange);
            let Some(result) = answer.result().filter(|result| result.is_object()) else { continue };
            // The first reading that is served becomes the dialect. Trials begin with the default.
            let decides = self.served.insert(trial.pair) && !learned || self.asks_again;
            if decides && trial.dialect != self.context.dialect {
                let before = std::mem::replace(&mut self.context.dialect, trial.dialect.clone());
                self.replaced = Some((trial.pair, before)).filter(|_| !self.asks_again);
            }
            learned |= decides;
            let ParsedRequest::Call(call) = ParsedRequest::of(&exchange.request, &SPECIFICATION) else {
                continue;
            };
            self.context.served_capitals.learn(&call, result);
            // A target may read such a token as another one: its answer shows nothing else.
            if ServedCapitals::is_unusual(&call) {
                continue;
            }
            self.context.served_accounts.learn(&call, result);
            if let Some(form) = trial.form {
                self.context.served_forms.learn(&call, &self.context.dialect);
                self.context.served_forms.learn_named(trial.pair, form);
            }
            if trial.pair == kinds::QUOTE_ERC20 {
                self.context.quoted.learn(result, exchange.received);
                self.learn_tokens(&call.tokens(), result, &mut unknown);
            }
        }
        if unknown.requested > 0 {
            self.context.learn_unlisted_tokens(if unknown.quoted > 0 {
                Support::Supported
            } else {
                Support::Unsupported
            });
        }
        let reading = self.readings.most();
        if self.context.profile.dialect.quoted_tokens.is_none() && reading != QuotedTokens::Unknown {
            self.context.dialect.quoted_tokens = reading;
        }
    }

    /// Learns of the tokens of one request from its quotes.
    fn learn_tokens(&mut self, tokens: &RequestedTokens<'_>, result: &Value, unknown: &mut Tally) {
        let quoted = quoted_tokens(result);
        if self.round == 4 {
            self.context.facts.learn(result);
        }
        unknown.count(&tokens.quoted(), &quoted, self.seed);
        if let (Some(preferred), Some(list)) = (&tokens.preferred, &tokens.list) {
            let supported = |token: &str| self.context.support(token) == Support::Supported;
            self.readings.count(preferred, list, [&quoted, &unsupported_tokens(result)], supported);
        }
        for coin in NATIVE_COIN.iter().filter(|coin| quoted.contains(**coin)) {
            self.context.learn_token(coin, Support::Supported);
        }
        if self.round == 3 {
            let unsupported = unsupported_tokens(result);
            for (token, support) in shown_support(&tokens.quoted(), &quoted, &unsupported) {
                self.context.learn_token(token, support);
            }
        }
    }
}

/// How invented tokens were treated.
#[derive(Default)]
struct Tally {
    requested: u32,
    quoted: u32,
}

impl Tally {
    fn count(&mut self, requested: &BTreeSet<String>, quoted: &BTreeSet<String>, seed: u64) {
        for salt in 0..INVENTED_TOKENS {
            let token = invented_token(seed, salt);
            self.requested += u32::from(requested.contains(&token));
            self.quoted += u32::from(requested.contains(&token) && quoted.contains(&token));
        }
    }
}

// Discovery of tokens: which are supported, and which a quote returns.

/// Token contracts of large chains and their test networks, for a profile that names no tokens: USDC, USDT, DAI and wrapped
/// native tokens.
const WELL_KNOWN_TOKENS: &[&str] = &[
    "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",
    "0xdac17f958d2ee523a2206206994597c13d831ec7",
    "0x6b175474e89094c44da98b954eedeac495271d0f",
    "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
    "0x2791bca1f2de4661ed88a30c99a7a9449aa84174",
    "0x3c499c542cef5e3811e1192ce70d8cc03d5c3359",
    "0xc2132d05d31c914a87c6611c10748aeb04b58e8f",
    "0xda5289fcaaf71d52a80a254da614a192b693e977",
    "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
    "0x1c7d4b196cb0c7b01d743fbc6116a902379c7238",
    "0xaf88d065e77c8cc2239327c5edb3a432268e5831",
    "0x0b2c639c533813f4aa9d7837caf62653d097ff85",
];

/// How many invented tokens are requested.
const INVENTED_TOKENS: u64 = 3;

/// How many supported tokens are quoted one by one, to learn their symbols and decimals. The others are learned from one long
/// list.
const SINGLE_TOKEN_QUOTES: usize = 8;

/// The most supported tokens in one quote.
const LONGEST_QUOTE: usize = 64;

/// How many quotes have a preferred token that is not in the list.
const READING_QUOTES: usize = 6;

impl Discovery {
    /// Quotes for well-known tokens, and quotes without a list, which may return all tokens.
    fn which_tokens(&mut self) -> Vec<Group> {
        if self.context.tokens_with(Support::Supported).next().is_some() {
            return Vec::new();
        }
        let infos = [
            json!({"preferredToken": WELL_KNOWN_TOKENS[0], "tokenList": WELL_KNOWN_TOKENS}),
            json!({"tokenList": WELL_KNOWN_TOKENS}),
            json!({}),
            json!({"tokenList": []}),
        ];
        self.quotes(&infos)
    }

    /// Quotes for invented tokens, and for a preferred token outside the list.
    fn unknown_tokens(&mut self) -> Vec<Group> {
        let known: Vec<String> =
            self.context.tokens_with(Support::Supported).take(LONGEST_QUOTE).map(str::to_owned).collect();
        let unknown: Vec<String> = (0..INVENTED_TOKENS).map(|salt| invented_token(self.seed, salt)).collect();
        let mut infos: Vec<Value> = known
            .iter()
            .take(SINGLE_TOKEN_QUOTES)
            .map(|token| json!({"preferredToken": token, "tokenList": [token]}))
            .collect();
        infos.extend([
            json!({"preferredToken": unknown[0], "tokenList": unknown}),
            json!({"preferredToken": NATIVE_COIN[0], "tokenList": NATIVE_COIN}),
        ]);
        if let Some(first) = known.first() {
            let mut list = unknown.clone();
            list.push(first.clone());
            infos.push(json!({"preferredToken": first, "tokenList": list}));
        }
        // With three tokens, two are listed: quotes for only one of the two match no reading.
        let few = &known[..known.len().min(3)];
        if let [only] = few {
            infos.push(json!({"preferredToken": only, "tokenList": unknown}));
            infos.push(json!({"preferredToken": unknown[0], "tokenList": [only]}));
        }
        if few.len() > 1 {
            for turn in 0..READING_QUOTES {
                let mut tokens = few.to_vec();
                tokens.rotate_left(turn % few.len());
                infos.push(json!({"preferredToken": tokens[0], "tokenList": tokens[1..]}));
            }
            infos.push(json!({"preferredToken": known[0], "tokenList": known}));
        }
        self.quotes(&infos)
    }

    /// One quote in token mode for each of these tokenInfo objects.
    fn quotes(&mut self, infos: &[Value]) -> Vec<Group> {
        let wanted = base::any_tokens(kinds::QUOTE_ERC20);
        let mut source = Source::new(self.seed ^ u64::from(self.round), &self.context);
        let requests = infos.iter().filter_map(|info| {
            let mut request = source.base(&wanted)?;
            request["params"][1]["tokenInfo"] = info.clone();
            Some((Trial::plain(wanted.pair, self.context.dialect.clone()), wanted, request))
        });
        let requests = requests.collect();
        self.groups_of(requests)
    }
}

/// An invented token address, derived from the seed.
fn invented_token(seed: u64, salt: u64) -> String {
    let mixed = (seed ^ salt.wrapping_add(0x00c0_ffee)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!("0x{mixed:016x}{:016x}{:08x}", mixed.rotate_left(23) ^ 0xa5a5, salt + 0xdead_0000)
}
