//! Whole valid requests for a target: drawn from the schema of their pair, in the target's dialect, with operations, tokens and
//! accounts of the profile.

use paymaster_schemas::{Mode, Pair, validator_for};
use proptest::{
    prelude::{Just, Strategy},
    test_runner::TestRunner,
};
use serde_json::{Map, Value, json};

use crate::cases::generate::{
    Overrides, Unsupported,
    operation::operations,
    random::{RngExt, drawn, runner},
    strategy::FromSchema,
    tokens::Pool,
};
use crate::{
    cases::case::{Base, Draw},
    target::{context::Context, profile::Accepts},
};

/// Members of the envelope in the order in which most clients send them.
const ENVELOPE: [&str; 4] = ["jsonrpc", "id", "method", "params"];
/// The values of expiryDuration, in seconds.
const DURATIONS: [u64; 6] = [60, 300, 600, 900, 1_800, 3_600];

/// Draws base requests. The same seed, context and sequence of bases give the same requests.
#[derive(Debug)]
pub struct Source<'a> {
    context: &'a Context,
    runner: TestRunner,
    known: Vec<(Base, Option<FromSchema>)>,
}

impl<'a> Source<'a> {
    /// A source of requests for `context`. The draws depend on `seed`.
    pub fn new(seed: u64, context: &'a Context) -> Self {
        Self {
            context,
            runner: runner(seed),
            known: Vec::new(),
        }
    }

    /// A whole valid request envelope with the id 1 as a placeholder. None when the context has no operation or token for it.
    pub fn base(&mut self, wanted: &Base) -> Option<Value> {
        let known = self.known.iter().position(|(known, _)| known == wanted);
        let index = known.unwrap_or_else(|| {
            self.known.push((*wanted, usable(self.context, *wanted)));
            self.known.len() - 1
        });
        let strategy = self.known[index].1.as_ref()?;
        let drawn = strategy.draw(&mut self.runner).ok()?;
        Some(in_usual_order(drawn))
    }
}

/// The strategy for `wanted`; none when it draws invalid requests: a profile may pin readings or accounts that no schema accepts.
fn usable(context: &Context, wanted: Base) -> Option<FromSchema> {
    let strategy = requests(context, wanted).ok().flatten()?;
    let sample = strategy.draw(&mut runner(0)).ok()?;
    validator_for(wanted.pair.request_document())?
        .is_valid(&sample)
        .then_some(strategy)
}

fn requests(context: &Context, wanted: Base) -> Result<Option<FromSchema>, Unsupported> {
    let dialect = &context.dialect;
    let Some(operation) = operations(context, wanted.draw)? else {
        return Ok(None);
    };
    let mode = match wanted.pair.mode {
        Mode::Sponsored => dialect.sponsored_name.clone(),
        Mode::Erc20 => Mode::Erc20.name().to_owned(),
    };
    let mut overrides = Overrides::new()
        .value("/jsonrpc", Just(json!(dialect.jsonrpc_version)).boxed())
        .value("/id", Just(json!(1)).boxed())
        .value("/params/0", operation)
        .value("/params/1/mode", Just(json!(mode)).boxed())
        .always("/params/1/calculateGasLimits")
        .value(
            "/params/1/calculateGasLimits",
            drawn(|rng| Value::Bool(rng.chance(75))),
        );
    overrides = if wanted.pair == Pair::SPONSOR_SPONSORED {
        overrides.always("/params/1/expiryDuration").value(
            "/params/1/expiryDuration",
            drawn(|rng| json!(rng.pick(&DURATIONS))),
        )
    } else {
        overrides.never("/params/1/expiryDuration")
    };
    let overrides = match wanted.pair.mode {
        Mode::Sponsored => {
            // The profile lists operations for the plain sponsorshipInfo.
            let of_list =
                context.profile.operations.accepts == Accepts::Listed || wanted.draw != Draw::Accepted;
            sponsorship(context, overrides.never("/params/1/tokenInfo"), of_list)
        }
        Mode::Erc20 => {
            let pool = Pool::of(context);
            let info = if wanted.pair == Pair::QUOTE_ERC20 {
                pool.quote(wanted.tokens)
            } else {
                let member = dialect.fee_token_member.clone();
                let named = move |token| Value::Object(Map::from_iter([(member.clone(), token)]));
                pool.fee_token(wanted.tokens)
                    .map(|token| token.prop_map(named).boxed())
            };
            let Some(info) = info else { return Ok(None) };
            overrides
                .never("/params/1/sponsorshipInfo")
                .value("/params/1/tokenInfo", info)
        }
    };
    FromSchema::new(wanted.pair.request_document(), &overrides).map(Some)
}

/// Overrides for `sponsorshipInfo`: webhook data, mostly empty, and one of the accounts of the context. When `plain`, empty
/// webhook data and the first account.
fn sponsorship(context: &Context, overrides: Overrides, plain: bool) -> Overrides {
    const INFO: &str = "/params/1/sponsorshipInfo";
    let mut accounts: Vec<Value> = context
        .accounts()
        .iter()
        .map(|account| json!({ "name": account.name, "version": account.version }))
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
    overrides
        .always(&account)
        .value(&account, drawn(move |rng| rng.pick(&accounts).clone()))
}

fn webhook_data(rng: &mut proptest::test_runner::TestRng) -> Value {
    if rng.chance(80) {
        return json!({});
    }
    json!({ "reference": format!("order-{}", rng.below(100_000)), "items": rng.below(10) })
}

fn in_usual_order(mut envelope: Value) -> Value {
    let Some(members) = envelope.as_object_mut() else {
        return envelope;
    };
    let mut ordered = Map::with_capacity(ENVELOPE.len());
    for name in ENVELOPE {
        if let Some(value) = members.get_mut(name) {
            ordered.insert(name.to_owned(), value.take());
        }
    }
    Value::Object(ordered)
}
