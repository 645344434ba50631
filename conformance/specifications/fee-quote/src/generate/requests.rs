//! Whole valid requests as a proptest strategy. The suite draws its base requests with it, and a service's own property tests can
//! draw with it too.
//!
//! A request is drawn from the schema of its pair (section 2.1), in the target's dialect, with operations, tokens and accounts of the
//! target's profile.

use crate::SPECIFICATION;
use crate::base::{self, Tokens};
use crate::generate::operation::operations;
use crate::generate::tokens::Pool;
use crate::target::{Accepts, Context, Dialect, Profile, Support};
use paymaster_engine::cases::{Base, Draw};
use paymaster_engine::generate::{FromSchema, Overrides, RngExt, Tree, Unsupported, drawn, runner};
use paymaster_engine::knowledge::{Knowledge as _, Requirement};
use paymaster_engine::message::ParsedRequest;
use std::{cell::OnceCell, fmt, rc::Rc};

use bytes::Bytes;
use paymaster_schemas::{Kind, Mode, kinds, validator_for};
use proptest::prelude::{Just, Strategy};
use proptest::strategy::NewTree;
use proptest::test_runner::{Reason, TestRunner};
use serde_json::{Map, Value, json};

/// Members of the envelope in the order in which most clients send them.
const ENVELOPE: [&str; 4] = ["jsonrpc", "id", "method", "params"];
/// Durations that sponsorships are asked for, in seconds.
const DURATIONS: [u64; 6] = [60, 300, 600, 900, 1_800, 3_600];

/// Valid requests of a pair (method and mode), for any paymaster service.
///
/// Without a profile, operations and tokens are random, and the dialect is the default one. [`Requests::profile`] draws what one
/// service supports.
///
/// ```
/// use paymaster_fee_quote::generate::requests;
/// use paymaster_schemas::{Kind, kinds};
/// use proptest::prelude::*;
///
/// proptest! {
///     # #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]
///     # /*
///     #[test]
///     # */
///     fn a_request_names_a_sender(request in requests(kinds::SPONSOR_ERC20)) {
///         prop_assert!(request.operation()["sender"].is_string());
///     }
/// }
/// # a_request_names_a_sender();
/// ```
pub fn requests(pair: Kind) -> Requests {
    Requests {
        base: base::any_tokens(pair),
        context: Rc::new(with_some_token(Context::default())),
        schema: Rc::default(),
    }
}

/// A strategy whose values are valid requests of one pair. [`requests()`] makes it.
///
/// - Every value is valid against the schema of its pair, and so is every value that it shrinks to.
/// - A value shrinks as a whole: members that the schema lets go are left out, lists and call data become shorter, amounts smaller.
///   Method, mode, id and tokens stay, and so does what the profile promises for the request.
/// - Where the profile lists no token or operation of the kind that is wanted, no value can be drawn, and proptest reports
///   [`NoRequests`] as the reason.
#[derive(Clone, Debug)]
#[must_use]
pub struct Requests {
    base: Base,
    context: Rc<Context>,
    /// Built when the first value is drawn.
    schema: Rc<OnceCell<Result<FromSchema, NoRequests>>>,
}

impl Requests {
    /// Draws what the service of this profile supports: its tokens, accounts and operations, in the dialect that it pins.
    pub fn profile(self, profile: Profile) -> Self {
        let context = with_some_token(Context::new(profile));
        Self::of_base(self.base, Rc::new(context))
    }

    /// Writes requests in this dialect instead of the one that the profile pins.
    pub fn dialect(self, dialect: Dialect) -> Self {
        let mut context = Context::clone(&self.context);
        context.dialect = dialect;
        Self::of_base(self.base, Rc::new(context))
    }

    /// Which tokens requests in token mode name; [`Tokens::Any`] unless set.
    pub fn tokens(self, tokens: Tokens) -> Self {
        Self::of_base(tokens.in_base(self.base), self.context)
    }

    /// Which operation requests carry; [`Draw::Accepted`] unless set.
    pub fn operation(self, draw: Draw) -> Self {
        Self::of_base(Base { draw, ..self.base }, self.context)
    }

    /// The requests that a run draws as `base`.
    pub(super) fn of_base(base: Base, context: Rc<Context>) -> Self {
        Self { base, context, schema: Rc::default() }
    }

    /// What is drawn.
    pub(super) fn base(&self) -> &Base {
        &self.base
    }

    /// Draws an envelope without the tree by which it shrinks.
    pub(super) fn draw(&self, runner: &mut TestRunner) -> Result<Value, NoRequests> {
        let drawn = self.schema()?.draw(runner).map_err(NoRequests::Rejected)?;
        Ok(in_usual_order(drawn))
    }

    fn schema(&self) -> Result<&FromSchema, NoRequests> {
        let built = self.schema.get_or_init(|| usable(&self.context, self.base));
        built.as_ref().map_err(Clone::clone)
    }
}

impl Strategy for Requests {
    type Tree = RequestTree;
    type Value = RequestEnvelope;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let no_requests = |cause: NoRequests| Reason::from(cause.to_string());
        let document = self.schema().map_err(no_requests)?.document;
        let drawn = self.draw(runner).map_err(no_requests)?;
        let context = Rc::clone(&self.context);
        let promised = promise(&context, &drawn);
        let is_kept = move |simpler: &Value| promise(&context, simpler) == promised;
        Ok(Tree::new(document, drawn, SPECIFICATION.may_change, is_kept, RequestEnvelope))
    }
}

/// Whether a request keeps to the tables of sections 2.1 to 2.5, and what the profile promises for it.
fn promise(context: &Context, envelope: &Value) -> Option<Requirement> {
    match ParsedRequest::of(envelope.to_string().as_bytes(), &SPECIFICATION) {
        ParsedRequest::Call(call) => Some(context.requirement(&call)),
        _ => None,
    }
}

/// Lets fresh addresses count as supported tokens where the profile lists none.
fn with_some_token(mut context: Context) -> Context {
    if context.profile.tokens.supported.is_empty() {
        context.learn_unlisted_tokens(Support::Supported);
    }
    context
}

/// A drawn request that shrinks.
pub type RequestTree = Tree<RequestEnvelope>;

/// A whole JSON-RPC request as it is sent. Its id is 1. `Display` and `Debug` print it as JSON.
#[derive(Clone, PartialEq)]
pub struct RequestEnvelope(Value);

impl RequestEnvelope {
    /// The envelope: an object with `jsonrpc`, `id`, `method` and `params`.
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// The bytes of an HTTP request body.
    pub fn body(&self) -> Bytes {
        Bytes::from(self.0.to_string())
    }

    /// The partial user operation, the first parameter (section 2.2).
    pub fn operation(&self) -> &Value {
        &self.0["params"][0]
    }

    /// The mode object, the second parameter (section 2.3).
    pub fn mode_object(&self) -> &Value {
        &self.0["params"][1]
    }
}

impl fmt::Display for RequestEnvelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for RequestEnvelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<RequestEnvelope> for Value {
    fn from(request: RequestEnvelope) -> Self {
        request.0
    }
}

/// Why no request can be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoRequests {
    /// The profile lists no operation, or no token, of the kind that is wanted.
    #[error("the profile lists no operation, or no token, of the kind that is wanted")]
    NothingListed,
    /// What the profile pins is not valid against the schema of the pair.
    #[error("what the profile pins is not valid against the schema of the request")]
    Invalid,
    /// A schema is not understood.
    #[error("{0}")]
    Unsupported(Unsupported),
    /// A strategy inside rejected every draw.
    #[error("{}", .0.message())]
    Rejected(Reason),
}

/// What `wanted` is drawn from, if what it draws is valid: a profile may pin readings or accounts that no schema accepts.
fn usable(context: &Context, wanted: Base) -> Result<FromSchema, NoRequests> {
    let strategy =
        schema(context, wanted).map_err(NoRequests::Unsupported)?.ok_or(NoRequests::NothingListed)?;
    let sample = strategy.draw(&mut runner(0)).map_err(NoRequests::Rejected)?;
    let is_valid = validator_for(strategy.document).is_some_and(|schema| schema.is_valid(&sample));
    if is_valid { Ok(strategy) } else { Err(NoRequests::Invalid) }
}

/// What `wanted` is drawn from; none when nothing known of the target gives such a request.
fn schema(context: &Context, wanted: Base) -> Result<Option<FromSchema>, Unsupported> {
    let dialect = &context.dialect;
    let Some(operation) = operations(context, wanted.draw)? else { return Ok(None) };
    let mode = match Mode::of(wanted.pair) {
        Mode::Sponsored => dialect.sponsored_name.clone(),
        Mode::Erc20 => Mode::Erc20.into_str().to_owned(),
    };
    let mut overrides = Overrides::new()
        .value("/jsonrpc", Just(json!(dialect.jsonrpc_version)).boxed())
        .value("/id", Just(json!(1)).boxed())
        .value("/params/0", operation)
        .value("/params/1/mode", Just(json!(mode)).boxed())
        .always("/params/1/calculateGasLimits")
        .value("/params/1/calculateGasLimits", drawn(|rng| Value::Bool(rng.chance(75))));
    overrides = if wanted.pair == kinds::SPONSOR_SPONSORED {
        overrides
            .always("/params/1/expiryDuration")
            .value("/params/1/expiryDuration", drawn(|rng| json!(rng.pick(&DURATIONS))))
    } else {
        overrides.never("/params/1/expiryDuration")
    };
    let overrides = match Mode::of(wanted.pair) {
        Mode::Sponsored => {
            // What the profile lists is listed for the plain sponsorshipInfo.
            let of_list =
                context.profile.operations.accepts == Accepts::Listed || wanted.draw != Draw::Accepted;
            sponsorship(context, overrides.never("/params/1/tokenInfo"), of_list)
        }
        Mode::Erc20 => {
            let pool = Pool::of(context);
            let info = if wanted.pair == kinds::QUOTE_ERC20 {
                pool.quote(Tokens::of(wanted))
            } else {
                let member = dialect.fee_token_member.clone();
                let named = move |token| Value::Object(Map::from_iter([(member.clone(), token)]));
                pool.fee_token(Tokens::of(wanted)).map(|token| token.prop_map(named).boxed())
            };
            let Some(info) = info else { return Ok(None) };
            overrides.never("/params/1/sponsorshipInfo").value("/params/1/tokenInfo", info)
        }
    };
    FromSchema::new(wanted.pair.request_document, &overrides).map(Some)
}

/// Overrides for `sponsorshipInfo`: webhook data, mostly empty, and one of the accounts that the target knows; when `plain`,
/// no webhook data and the first account.
fn sponsorship(context: &Context, overrides: Overrides, plain: bool) -> Overrides {
    const INFO: &str = "/params/1/sponsorshipInfo";
    let mut accounts: Vec<Value> = context
        .accounts()
        .iter()
        .map(|account| json!(account))
        .filter(|account| validator_for("smart-account-info").is_some_and(|known| known.is_valid(account)))
        .collect();
    if plain {
        accounts.truncate(1);
    }
    let webhook = drawn(move |rng| if plain { json!({}) } else { webhook_data(rng) });
    let overrides = overrides
        .always(INFO)
        .always(&format!("{INFO}/webhookData"))
        .value(&format!("{INFO}/webhookData"), webhook);
    let account = format!("{INFO}/smartAccountInfo");
    if accounts.is_empty() {
        return overrides.never(&account);
    }
    overrides.always(&account).value(&account, drawn(move |rng| rng.pick(&accounts).clone()))
}

fn webhook_data(rng: &mut proptest::test_runner::TestRng) -> Value {
    if rng.chance(80) {
        return json!({});
    }
    json!({ "reference": format!("order-{}", rng.below(100_000)), "items": rng.below(10) })
}

fn in_usual_order(mut envelope: Value) -> Value {
    let Some(members) = envelope.as_object_mut() else { return envelope };
    let mut ordered = Map::with_capacity(ENVELOPE.len());
    for name in ENVELOPE {
        if let Some(value) = members.get_mut(name) {
            ordered.insert(name.to_owned(), value.take());
        }
    }
    Value::Object(ordered)
}

/// Draws base requests. The same seed, context and sequence of bases give the same requests.
#[derive(Debug)]
pub struct Source {
    context: Rc<Context>,
    runner: TestRunner,
    known: Vec<Requests>,
}

impl Source {
    /// A source of requests for `context`. The draws depend on `seed`.
    pub fn new(seed: u64, context: &Context) -> Self {
        Self { context: Rc::new(context.clone()), runner: runner(seed), known: Vec::new() }
    }

    /// A whole valid request envelope with the id 1 as a placeholder. None when the context has no operation or token for it.
    pub fn base(&mut self, wanted: &Base) -> Option<Value> {
        let known = self.known.iter().position(|requests| requests.base() == wanted);
        let index = known.unwrap_or_else(|| {
            self.known.push(Requests::of_base(*wanted, Rc::clone(&self.context)));
            self.known.len() - 1
        });
        self.known[index].draw(&mut self.runner).ok()
    }
}
