//! The relations: groups of related requests, each built from a base request.

use std::ops::Range;

use alloy_primitives::{Address, U256};
use paymaster_engine::cases::{
    Base, Bases, BuildInput, Draw, Ids, Member, Relation, Role, Rounds, alternately, baseline,
    id_of_any_kind, in_client_order, item_of_round, member, protocol, remove, set, with, with_own_id,
    without,
};
use paymaster_ethereum::{EntryPointVersion, in_capitals};
use paymaster_schemas::Kind;
use serde_json::{Value, json};

use crate::discovery::with_param;
use crate::generate::{hex as number, new_account};
use crate::kinds::{self, DATA, STUB, is_06, is_stub, version};
use crate::on_chain::{gas_of_stubs, simulation};
use crate::rules::results::LIMITS;
use crate::target::{FEES, GAS, Target};

/// The user operation of a request.
const OPERATION: &str = "/params/0";

/// Every relation, in the order of the plan.
pub(crate) static RELATIONS: &[&Relation] = &[
    &CALLS,
    &REFUSED,
    &PAIR,
    &EIGHT_PAIRS,
    &ENTRY_POINTS,
    &FORMS,
    &ANOTHER_CALL,
    &OTHER_LIMITS,
    &WITHOUT_STUB,
    &CONCURRENT,
    &SPELLINGS,
    &TWICE,
    &UNKNOWN_ENTRY_POINT,
    &OTHER_OPERATION,
    &HEADERS,
    &protocol::NUMBER_IDS,
    &protocol::STRING_IDS,
    &protocol::MALFORMED_PARAMS,
    &protocol::MALFORMED_BODIES,
    &protocol::BATCHES,
    &protocol::BATCH_ELEMENTS,
    &protocol::IDLE_CONNECTION,
    &PROBES,
];

const STUBS: &[Base] = &of_kinds::<4>(0, Draw::Accepted);
const DATAS: &[Base] = &of_kinds::<4>(4, Draw::Accepted);

const fn of_kinds<const COUNT: usize>(first: usize, draw: Draw) -> [Base; COUNT] {
    let mut bases = [Base { pair: kinds::KINDS[first], draw, choice: 0 }; COUNT];
    let mut place = 1;
    while place < COUNT {
        bases[place].pair = kinds::KINDS[first + place];
        place += 1;
    }
    bases
}

/// One call in the forms of published clients by turns.
pub(crate) static CALLS: Relation = Relation::new("calls", "one call, with the ids of published clients")
    .of(Bases::EveryKind, Rounds::Share(40), calls)
    .simulated(simulation);

/// A change of a request.
type Change = fn(&BuildInput<'_>, &Value) -> Value;

/// Writes a number as an id.
type WriteId = fn(u64) -> Value;

/// The single calls of published clients, one a round: how a client writes a number as the id, and what else it changes.
const CALLS_OF_CLIENTS: [(WriteId, &[Change]); 11] = [
    (|number| json!(number), &[]),
    (|_| json!(0), &[signed]),
    (|_| json!(1), &[of_sender_without_letters]),
    (|number| json!(1_700_000_000_000_u64 + number), &[signed, |_, request| in_client_order(request)]),
    (
        |number| json!(format!("3f2504e0-4f89-41d3-9a0c-{number:012x}")),
        &[|_, request| in_order_of_circle(request)],
    ),
    (|number| json!(number), &[signed, with_null_context]),
    (|number| json!(number), &[with_large_call]),
    (|number| json!(number), &[signed, with_batch_of_one, |_, request| in_client_order(request)]),
    (|number| json!(number), &[of_each_factory]),
    // The first operation of an account of viem.
    (|number| json!(number), &[of_each_factory, signed, with_null_context]),
    // Older clients.
    (|number| json!(number), &[without_context]),
];

fn calls(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    let (write_id, changes) = item_of_round(input, &CALLS_OF_CLIENTS);
    let request = with(input.base, "", "id", write_id(ids.next_id()));
    let request = changes.iter().fold(request, |request, change| change(input, &request));
    // Some clients write a body in lines.
    if input.round % 10 == 9 { vec![in_lines(&request)] } else { vec![with_own_id(Role::Call, "", &request)] }
}

/// The request with the EntryPoint of its version in lower case.
fn with_entry_point_in_lower_case(input: &BuildInput<'_>, request: &Value) -> Value {
    with_param(request, 1, json!(version(input.pair).address().to_string().to_lowercase()))
}

/// The request with the context null, where its own is empty: another one may choose a policy.
fn with_null_context(_: &BuildInput<'_>, request: &Value) -> Value {
    if request["params"][3] == json!({}) { with_param(request, 3, Value::Null) } else { request.clone() }
}

/// The request without a context, where its own is empty.
fn without_context(_: &BuildInput<'_>, request: &Value) -> Value {
    if request["params"][3] == json!({}) { of_three_params(request) } else { request.clone() }
}

fn of_three_params(request: &Value) -> Value {
    let params = request["params"].as_array().into_iter().flatten().take(3).cloned();
    with(request, "", "params", params.collect::<Vec<Value>>())
}

fn signed(_: &BuildInput<'_>, request: &Value) -> Value {
    with(request, OPERATION, "signature", dummy_signature())
}

/// The request with a large call, where operations may vary.
fn with_large_call(input: &BuildInput<'_>, request: &Value) -> Value {
    if input.context.may_vary_operations() { large_call(request) } else { request.clone() }
}

/// The request with a list of one call, where operations may vary: `executeBatch((address,uint256,bytes)[])`, whose item is written as the arguments
/// of `execute` are.
fn with_batch_of_one(input: &BuildInput<'_>, request: &Value) -> Value {
    let call = other_call(request, input.round);
    match call["params"][0]["callData"].as_str().filter(|_| input.context.may_vary_operations()) {
        Some(call) => {
            let list = format!("34fcd5be{:064x}{:064x}{:064x}", 32, 1, 32);
            with(request, OPERATION, "callData", call.replacen("b61d27f6", &list, 1))
        }
        None => request.clone(),
    }
}

/// The request with its members in the order of @circle-fin/modular-wallets-core.
fn in_order_of_circle(request: &Value) -> Value {
    let names = ["method", "params", "jsonrpc", "id"];
    names.into_iter().map(|name| (name.to_owned(), request[name].clone())).collect()
}

/// The request of a sender whose address has no letters, where operations may vary.
fn of_sender_without_letters(input: &BuildInput<'_>, request: &Value) -> Value {
    let sender = request["params"][0]["sender"].as_str().and_then(|sender| sender.strip_prefix("0x"));
    match sender.filter(|_| input.context.may_vary_operations()) {
        Some(digits) => {
            with(request, OPERATION, "sender", format!("0x{}", digits.replace(char::is_alphabetic, "7")))
        }
        None => request.clone(),
    }
}

/// The request for an account to create, where any operation is accepted: with the factories of published accounts by turns, which begin elsewhere
/// for each version.
fn of_each_factory(input: &BuildInput<'_>, request: &Value) -> Value {
    const APART: usize = 4;
    if !Target::of(input.context).accepts_any() {
        return request.clone();
    }
    let version = version(input.pair);
    let place = EntryPointVersion::ALL.iter().position(|known| *known == version).unwrap_or_default();
    let turn = input.round as usize / CALLS_OF_CLIENTS.len() + APART * place;
    of_new_account(request, version, u32::try_from(turn).unwrap_or_default())
}

/// A signature of 65 bytes that recovers to some account, as clients send it before the user signs.
fn dummy_signature() -> Value {
    json!(format!(
        "0x{}{}1c",
        "fffffffffffffffffffffffffffffff0".repeat(2),
        "7aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".repeat(2)
    ))
}

/// A call with the request headers of published clients.
pub(crate) static HEADERS: Relation = protocol::headers(Bases::Plain);

/// Calls for operations that the profile lists as refused.
pub(crate) static REFUSED: Relation =
    Relation::new("refused-calls", "one call for an operation that the target refuses").of(
        Bases::These(const { &of_kinds::<8>(0, Draw::Refused) }),
        Rounds::for_each(&REFUSED_FORMS),
        |input, ids| {
            let id = id_of_any_kind(input.round, ids.next_id());
            let request = with(input.base, "", "id", id);
            let change = item_of_round(input, &REFUSED_FORMS);
            let request = change(input, &request);
            // Some clients write a body in lines.
            if input.round % 4 == 3 {
                return vec![in_lines(&request)];
            }
            vec![with_own_id(Role::Call, "", &request)]
        },
    );

/// The forms of a refused call, one a round: a target refuses the operation in each of them.
const REFUSED_FORMS: [Change; 20] = [
    unchanged,
    signed,
    |_, request| in_lower_case(request),
    of_account_to_create,
    |input, request| signed(input, &of_account_to_create(input, request)),
    |_, request| in_client_order(request),
    |_, request| large_call(request),
    unchanged,
    |_, request| with_checksum(request).unwrap_or_else(|| request.clone()),
    // The id of this round is a negative number, for which a target may refuse any call: no form is lost to it.
    unchanged,
    |input, request| {
        if is_stub(input.pair) { zero(request, false) } else { with_known_stub(input, request) }
    },
    with_known_stub,
    |input, request| if is_06(input.pair) { request.clone() } else { authorized(request) },
    with_null_context,
    with_entry_point_in_lower_case,
    |_, request| with(request, OPERATION, "nonce", KEYED_NONCE),
    with_large_cost,
    |input, request| if is_06(input.pair) { request.clone() } else { with_null_members(request) },
    |input, request| {
        if is_06(input.pair) { request.clone() } else { with_each(request, LIMITS, &json!("0x0")) }
    },
    without_context,
];

/// A nonce with the address of a validator as its key.
const KEYED_NONCE: &str = "0x5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a0000000000000003";

/// The request for an operation that costs more than 2^64 wei, in a run whose cost has no limit.
fn with_large_cost(input: &BuildInput<'_>, request: &Value) -> Value {
    if input.context.spending_limits().is_some() {
        return request.clone();
    }
    with(request, OPERATION, "maxFeePerGas", number(1_000_000_000_000_000))
}

fn unchanged(_: &BuildInput<'_>, request: &Value) -> Value {
    request.clone()
}

/// The request as the body of a call, with line breaks and blanks.
fn in_lines(request: &Value) -> Member {
    Member::plain(Role::Call, "", format!("{request:#}"))
}

fn of_account_to_create(input: &BuildInput<'_>, request: &Value) -> Value {
    of_new_account(request, version(input.pair), input.round)
}

/// The request with the paymaster members of a stub, where discovery found one.
fn with_known_stub(input: &BuildInput<'_>, request: &Value) -> Value {
    with_stub_members(input, request).unwrap_or_else(|| request.clone())
}

/// The request with the context of @aa-sdk/core.
fn with_policy(request: &Value) -> Value {
    let policy = "5a1c0c3e-0f0b-4d1c-9f0e-2b7c1f6f4a11";
    with_param(request, 3, json!({ "policyId": policy, "webhookData": "order-1" }))
}

/// The request with a token to pay in that does not exist.
fn with_token(request: &Value) -> Value {
    with(request, "/params/3", "token", "0x00000000000000000000000000000000000000ff")
}

/// The data request for the operation of a stub request, with ordinary limits of the paymaster.
fn data_of(input: &BuildInput<'_>, stub: &Value) -> Value {
    let mut data = with(stub, "", "method", DATA);
    let version = version(input.pair);
    if version != EntryPointVersion::V06 {
        for (member, limit) in Target::of(input.context).paymaster_limits(version) {
            set(&mut data, OPERATION, member, limit);
        }
    }
    data
}

/// The data request with the paymaster members of a stub, as every wallet repeats those of its own; none before discovery found a stub.
fn with_stub_members(input: &BuildInput<'_>, data: &Value) -> Option<Value> {
    let stub = Target::of(input.context).found.stubs.get(&version(input.pair).to_string())?;
    let mut data = data.clone();
    for (name, value) in stub {
        set(&mut data, OPERATION, name, value.clone());
    }
    Some(data)
}

/// What is different about a stub and its data.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    NullContext,
    Policy,
    NewAccount,
    /// The account is created by a factory that takes no data.
    BareFactory,
    LargeCall,
    Delegate,
    Signature,
    /// A signature of several owners, longer than every service takes.
    LongSignature,
    /// The EntryPoint in lower case.
    LowerCase,
    /// The context names a token to pay in.
    Token,
    /// The stub has gas limits of 0.
    NoLimits,
    /// The stub has fees of 0 too.
    NoFees,
    /// The data request has the paymaster members of a stub.
    OfStub,
}

/// The pairs of stub and data, one a round: each part alone, and then together as viem and others send them. Bytes and their length may depend
/// on each.
const PAIRS: [&[Part]; 17] = [
    &[],
    &[Part::NullContext],
    &[Part::NewAccount],
    &[Part::Policy],
    &[Part::Signature],
    &[Part::NoLimits],
    &[Part::Delegate],
    &[Part::LargeCall],
    &[Part::NewAccount, Part::BareFactory],
    &[Part::NewAccount, Part::Policy, Part::Signature, Part::NoLimits, Part::OfStub],
    &[Part::Signature, Part::NoLimits, Part::OfStub],
    &[Part::Signature, Part::NoLimits, Part::NoFees, Part::OfStub],
    &[Part::LongSignature],
    &[Part::Token],
    &[Part::NullContext, Part::Signature],
    &[Part::NewAccount, Part::NullContext, Part::Signature, Part::NoLimits, Part::OfStub],
    &[Part::LowerCase],
];

/// Stub and data of one operation. A target may refuse all but the plain one.
pub(crate) static PAIR: Relation = Relation::new(
    "stub-and-data",
    "stub and data of one operation: plain, of new accounts, with a large call, signatures, \
     limits of zero, a policy, a token, eip7702Auth, an EntryPoint in lower case",
)
.of(Bases::These(STUBS), Rounds::for_each(&PAIRS), |input, ids| {
    let (parts, base) = (*item_of_round(input, &PAIRS), input.base);
    let is = |part| parts.contains(&part);
    let has_context = base["params"][3] != json!({});
    let may_vary = input.context.may_vary_operations();
    let is_unsigned = base["params"][0].get("signature").is_none();
    let operation = parts.iter().fold(base.clone(), |operation, part| match part {
        Part::NewAccount if may_vary => of_new_account(&operation, version(input.pair), input.round),
        Part::BareFactory if may_vary => without_factory_data(&operation),
        Part::LargeCall if may_vary => large_call(&operation),
        Part::Delegate if !is_06(input.pair) => authorized(&operation),
        Part::Signature if is_unsigned => with(&operation, OPERATION, "signature", dummy_signature()),
        Part::LongSignature if is_unsigned => with(&operation, OPERATION, "signature", bytes_5a(700)),
        Part::NullContext => with_null_context(input, &operation),
        Part::LowerCase => with_entry_point_in_lower_case(input, &operation),
        Part::Token if !has_context => with_token(&operation),
        Part::Policy if !has_context => with_policy(&operation),
        _ => operation,
    });
    let stub = if is(Part::NoLimits) { zero(&operation, is(Part::NoFees)) } else { operation.clone() };
    let mut data = data_of(input, &operation);
    // A target may know the stub that it gave for an operation, and refuse that of another one.
    let may_be_refused = [Part::BareFactory, Part::LongSignature, Part::LowerCase, Part::Token, Part::Policy]
        .into_iter()
        .any(is);
    let mut role_of_data = if may_be_refused { Role::Other } else { Role::Call };
    if let Some(of_stub) = with_stub_members(input, &data).filter(|_| is(Part::OfStub)) {
        (data, role_of_data) = (of_stub, Role::Other);
    }
    let role = if stub == *base { Role::Baseline } else { Role::Other };
    vec![member(role, "the stub request", stub, ids), member(role_of_data, "the data request", data, ids)]
})
.simulated(simulation);

/// Stub and data of eight operations.
pub(crate) static EIGHT_PAIRS: Relation = Relation::new(
    "eight-stubs-and-data",
    "stub and data of eight operations; of eight others, whose stubs have gas limits of 0; \
     of eight new accounts; of eight whose stubs have fees of 0 too; of eight as viem sends \
     them, with a signature and no context, and with the EntryPoint in lower case; of eight \
     with the nonce 0",
)
.of(Bases::These(STUBS), Rounds::Fixed(6), |input, ids| {
    let mut members = Vec::new();
    for (place, mut operation) in (0..).zip(other_calls(input, 0..8)) {
        if input.round == 2 {
            operation = of_new_account(&operation, version(input.pair), place);
        }
        if input.round == 4 {
            operation = with_entry_point_in_lower_case(input, &operation);
            operation = with_null_context(input, &signed(input, &operation));
        }
        if input.round == 5 {
            operation = with(&operation, OPERATION, "nonce", "0x0");
        }
        let stub = match input.round {
            1 | 3 => zero(&operation, input.round == 3),
            _ => operation.clone(),
        };
        members.push(member(Role::Baseline, format!("the stub request of operation {place}"), stub, ids));
        let data = data_of(input, &operation);
        members.push(member(Role::Variant, format!("the data request of operation {place}"), data, ids));
    }
    members
});

/// Stubs of one account for every EntryPoint that is served, one after the other.
pub(crate) static ENTRY_POINTS: Relation = Relation::new(
    "one-account",
    "stubs of one account with each EntryPoint that is served",
)
.of(Bases::These(STUBS), Rounds::Fixed(1), |input, ids| {
    let target = Target::of(input.context);
    if !input.context.may_vary_operations() {
        return Vec::new();
    }
    let others = target.sent_versions().filter(|other| *other != version(input.pair));
    let mut base = input.base.clone();
    // Some senders had stubs before: what a target keeps of this one begins here.
    if target.accepts_any() {
        base = of_another_sender(&base);
    }
    let mut members = vec![member(Role::Other, "the first EntryPoint", &base, ids)];
    members.extend(others.map(|other| {
        let request = with_param(&base, 1, json!(other.address().to_checksum(None)));
        let request = match other {
            EntryPointVersion::V06 => with(&request, OPERATION, "initCode", "0x"),
            _ => without(&request, OPERATION, "initCode"),
        };
        member(Role::Other, format!("EntryPoint {other}"), request, ids)
    }));
    if members.len() > 1 { members } else { Vec::new() }
});

/// The request of another account, whose address has the digits of its own backwards.
fn of_another_sender(request: &Value) -> Value {
    let sender = request["params"][0]["sender"].as_str().unwrap_or_default();
    let digits: String = sender.chars().skip(2).collect::<Vec<_>>().into_iter().rev().collect();
    with(request, OPERATION, "sender", format!("0x{}", digits.to_ascii_lowercase()))
}

/// The request with other call data: an ERC-20 transfer of another amount, by `execute(address,uint256,bytes)`.
fn other_call(request: &Value, number: u32) -> Value {
    let word = |value: u64| format!("{value:064x}");
    let call = format!(
        "0xb61d27f6{}{}{}{}a9059cbb{}{}{}",
        word(0x00a1_b2c3_d4e5_f607),
        word(0),
        word(96),
        word(68),
        word(0x0b0c_0d0e_0f10_1112),
        word(1_000_000 + u64::from(number)),
        "0".repeat(56),
    );
    with(request, OPERATION, "callData", call)
}

/// The request with a call of almost the largest ordinary size: `execute(address,uint256,bytes)` with an inner call of 3,840 bytes.
fn large_call(request: &Value) -> Value {
    const BYTES: usize = 3_840;
    let target = "22".repeat(20);
    let call = format!("0xb61d27f6{target:0>64}{:064x}{:064x}{BYTES:064x}{}", 0, 96, "5a".repeat(BYTES));
    with(request, OPERATION, "callData", call)
}

/// The next operations of the account, with other calls; none where operations may not vary.
fn other_calls(input: &BuildInput<'_>, numbers: Range<u32>) -> impl Iterator<Item = Value> {
    let may_vary = input.context.may_vary_operations();
    numbers.filter(move |_| may_vary).map(|number| with_later_nonce(&other_call(input.base, number), number))
}

/// The request with the nonce so many operations later. A service may serve one operation for each nonce.
fn with_later_nonce(request: &Value, later: u32) -> Value {
    let nonce = request["params"][0]["nonce"].as_str().and_then(|nonce| nonce.parse::<U256>().ok());
    let nonce = nonce.unwrap_or_default().wrapping_add(U256::from(later));
    with(request, OPERATION, "nonce", format!("{nonce:#x}"))
}

/// A change of a request in a form that published clients send.
pub(crate) struct Form {
    /// The clause that it is about.
    pub(crate) clause: &'static str,
    /// What is different, for people.
    label: &'static str,
    /// Whether requests of a kind have this form.
    applies: fn(Kind) -> bool,
    /// Whether the operation is another one, so that only a profile shows that it must be served.
    pub(crate) is_other_operation: bool,
    /// The request without the form.
    before: fn(&Value) -> Value,
    /// The request in the form; none where too little is known.
    after: fn(&BuildInput<'_>) -> Option<Value>,
}

/// A form of the same operation, in every kind.
const fn form(
    clause: &'static str,
    label: &'static str,
    after: fn(&BuildInput<'_>) -> Option<Value>,
) -> Form {
    Form { clause, label, applies: |_| true, is_other_operation: false, before: Clone::clone, after }
}

impl Form {
    const fn in_kinds(self, applies: fn(Kind) -> bool) -> Self {
        Self { applies, ..self }
    }

    const fn of_another_operation(self) -> Self {
        Self { is_other_operation: true, ..self }
    }

    /// Compared with this request in place of the base.
    const fn instead_of(self, before: fn(&Value) -> Value) -> Self {
        Self { before, ..self }
    }
}

const NULL_MEMBERS: [&str; 7] = [
    "eip7702Auth",
    "factory",
    "factoryData",
    "paymaster",
    "paymasterData",
    "paymasterVerificationGasLimit",
    "paymasterPostOpGasLimit",
];

/// A form that sets one member of the operation.
macro_rules! sets {
    ($clause:literal, $label:literal, $name:literal, $value:expr) => {
        form($clause, $label, |input| Some(with(input.base, OPERATION, $name, $value)))
    };
}

/// A form that sets one member of an authorization by EIP-7702.
macro_rules! authorizes {
    ($label:literal, $name:literal, $value:literal) => {
        form("operation.eip-7702", $label, |input| {
            Some(with(&authorized(input.base), "/params/0/eip7702Auth", $name, $value))
        })
        .in_kinds(|kind| !is_06(kind))
    };
}

/// The forms, one a round.
pub(crate) const CLIENT_FORMS: &[Form] = &[
    form("operation.unsigned", "no signature", |input| Some(without(input.base, OPERATION, "signature")))
        .instead_of(|request| match request["params"][0].get("signature") {
            Some(_) => request.clone(),
            None => with(request, OPERATION, "signature", dummy_signature()),
        }),
    // A listed operation that has a signature needs it.
    form("operation.dummy-signature", "a placeholder signature", |input| {
        let is_unsigned = input.base["params"][0].get("signature").is_none();
        is_unsigned.then(|| with(input.base, OPERATION, "signature", dummy_signature()))
    }),
    // The account of a listed operation may be of another kind, and its code read another length.
    sets!("operation.dummy-signature", "the placeholder signature of a passkey", "signature", bytes_5a(448))
        .of_another_operation(),
    sets!(
        "operation.dummy-signature",
        "the placeholder signatures of three owners",
        "signature",
        bytes_5a(3 * 65)
    )
    .of_another_operation(),
    sets!("operation.stub-members", "paymasterAndData 0x", "paymasterAndData", "0x").in_kinds(is_06),
    form("operation.stub-members", "0x0 for the gas limits of the paymaster", |input| {
        Some(with_each(input.base, LIMITS, &json!("0x0")))
    })
    .in_kinds(|kind| is_stub(kind) && !is_06(kind)),
    form("operation.stub-members", "the paymaster members of a stub", |input| {
        with_stub_members(input, input.base)
    })
    .in_kinds(|kind| !is_stub(kind)),
    // Clients that read a stub into bytes write the address again in their own letter case.
    form("operation.stub-members", "the paymaster of a stub in another letter case", |input| {
        let request = with_stub_members(input, input.base)?;
        let own = request["params"][0]["paymaster"].as_str()?;
        let lower = own.to_ascii_lowercase();
        let other = if own == lower { own.parse::<Address>().ok()?.to_checksum(None) } else { lower };
        Some(with(&request, OPERATION, "paymaster", other))
    })
    .in_kinds(|kind| !is_stub(kind)),
    form("operation.stub-members", "the paymaster members of a stub, where the context is null", |input| {
        let request = with_null_context(input, input.base);
        (request != *input.base).then(|| with_stub_members(input, &request)).flatten()
    })
    .in_kinds(|kind| !is_stub(kind))
    .instead_of(|request| with_param(request, 3, Value::Null)),
    form("operation.stub-members", "the paymaster members of a stub beside eip7702Auth", |input| {
        with_stub_members(input, &authorized(input.base))
    })
    .in_kinds(|kind| !is_stub(kind) && !is_06(kind))
    .instead_of(authorized),
    form("operation.null-members", "null for the members that are not set", |input| {
        Some(with_null_members(input.base))
    })
    .in_kinds(|kind| !is_06(kind)),
    form("operation.null-members", "null for the gas limits of the paymaster", |input| {
        Some(with_each(input.base, LIMITS, &Value::Null))
    })
    .in_kinds(|kind| !is_stub(kind) && !is_06(kind))
    .instead_of(without_limits),
    form("operation.factory", "an account that does not exist yet", |input| {
        Some(of_account_to_create(input, input.base))
    })
    .of_another_operation(),
    form(
        "operation.factory",
        "an account that does not exist yet, with 0x0 for the three gas limits",
        |input| Some(zero(&of_account_to_create(input, input.base), false)),
    )
    .in_kinds(is_stub)
    .of_another_operation(),
    form("operation.factory", "an account that does not exist yet, with a placeholder signature", |input| {
        Some(signed(input, &of_account_to_create(input, input.base)))
    })
    .of_another_operation(),
    form("operation.factory", "an account that does not exist yet, of many owners", |input| {
        let mut request = of_account_to_create(input, input.base);
        let owners = format!("{:0>64}", "5a".repeat(20)).repeat(40);
        for name in ["initCode", "factoryData"] {
            if let Some(data) = request["params"][0][name].as_str().map(|data| format!("{data}{owners}")) {
                set(&mut request, OPERATION, name, json!(data));
            }
        }
        Some(request)
    })
    .in_kinds(|kind| !is_stub(kind))
    .of_another_operation(),
    authorizes!("eip7702Auth for every chain", "chainId", "0x0").of_another_operation(),
    // Half of all signatures have it.
    authorizes!("eip7702Auth with yParity 0x0", "yParity", "0x0").instead_of(authorized),
    // An account may have sent transactions before.
    authorizes!("eip7702Auth with a nonce above 0", "nonce", "0x12c")
        .instead_of(authorized)
        .of_another_operation(),
    form("operation.eip-7702", "eip7702Auth and the factory 0x7702", |input| {
        let request = with(&authorized(input.base), OPERATION, "factory", "0x7702");
        Some(with(&request, OPERATION, "factoryData", "0x"))
    })
    .in_kinds(|kind| version(kind) >= EntryPointVersion::V08)
    .of_another_operation(),
    sets!("operation.nonce", "a nonce of 13 bytes", "nonce", "0x18bcfe56800000000000000007")
        .of_another_operation(),
    sets!("operation.nonce", "a nonce of 28 bytes", "nonce", KEYED_NONCE).of_another_operation(),
    sets!(
        "operation.nonce",
        "a nonce of 32 bytes",
        "nonce",
        format!("0xc1{}0000000000000003", "5a".repeat(23))
    )
    .of_another_operation(),
    form("stub-request.zero-limits", "0x0 for the three gas limits", |input| Some(zero(input.base, false)))
        .in_kinds(is_stub),
    // An application may know the limit of its call, which cannot be estimated.
    form("stub-request.zero-limits", "0x0 for two of the three gas limits", |input| {
        let call = input.base["params"][0]["callGasLimit"].clone();
        Some(with(&zero(input.base, false), OPERATION, "callGasLimit", call))
    })
    .in_kinds(is_stub),
    // Chains without a queue name no priority fee.
    sets!("stub-request.zero-fees", "0x0 for the priority fee", "maxPriorityFeePerGas", "0x0")
        .in_kinds(is_stub),
    form("stub-request.zero-fees", "0x0 for gas limits and fees", |input| Some(zero(input.base, true)))
        .in_kinds(is_stub)
        .instead_of(|request| zero(request, false)),
    form("context.null", "the context null", |input| Some(with_param(input.base, 3, Value::Null))),
    form("entry-point.letter-case", "the EntryPoint in lower case", |input| {
        let lower = input.base["params"][1].as_str()?.to_ascii_lowercase();
        Some(with_param(input.base, 1, json!(lower)))
    }),
    form("call.letter-case", "hex digits of the EntryPoint in capitals", |input| {
        Some(with_param(input.base, 1, json!(in_capitals(input.base["params"][1].as_str()?))))
    }),
    form("call.letter-case", "hex digits of callData in capitals", |input| {
        let lower = in_lower_case(input.base);
        let data = in_capitals(lower["params"][0]["callData"].as_str()?);
        Some(with(&lower, OPERATION, "callData", data))
    })
    .instead_of(in_lower_case),
    form("call.letter-case", "the sender with the checksum of EIP-55", |input| {
        with_checksum(&in_lower_case(input.base))
    })
    .instead_of(in_lower_case),
    form("call.letter-case", "hex digits of the chain id in capitals", |input| {
        let chain_id = input.base["params"][2].as_str()?.strip_prefix("0x")?.to_ascii_uppercase();
        Some(with_param(input.base, 2, json!(format!("0x{chain_id}"))))
    }),
    // A list of accounts may have them with the checksum.
    form("call.letter-case", "the sender in lower case", |input| {
        let sender = input.base["params"][0]["sender"].as_str()?.to_ascii_lowercase();
        Some(with(input.base, OPERATION, "sender", sender))
    })
    .instead_of(|request| with_checksum(request).unwrap_or_else(|| request.clone())),
    // A longer one belongs to what the contract reads.
    sets!("operation.stub-members", "paymasterSignature 0x", "paymasterSignature", "0x")
        .in_kinds(|kind| version(kind) == EntryPointVersion::V09),
    // A limit that the stub does not have stays absent where the bundler estimates none. A target may insist on both: then it refuses data with
    // neither too.
    form("operation.stub-members", "paymasterPostOpGasLimit alone", |input| {
        Some(without(input.base, OPERATION, LIMITS[0]))
    })
    .in_kinds(|kind| !is_stub(kind) && !is_06(kind))
    .instead_of(without_limits),
    form("operation.stub-members", "the members of a stub without paymasterVerificationGasLimit", |input| {
        with_stub_members(input, input.base).map(|request| without(&request, OPERATION, LIMITS[0]))
    })
    .in_kinds(|kind| !is_stub(kind) && !is_06(kind))
    .instead_of(without_limits),
];

/// The request without the gas limits of the paymaster.
fn without_limits(request: &Value) -> Value {
    LIMITS.into_iter().fold(request.clone(), |request, name| without(&request, OPERATION, name))
}

/// So many bytes that mean nothing, in hex.
fn bytes_5a(count: usize) -> String {
    format!("0x{}", "5a".repeat(count))
}

/// The request with null for each member that it does not have.
fn with_null_members(request: &Value) -> Value {
    let is_absent = |name: &&str| request["params"][0].get(*name).is_none();
    with_each(request, NULL_MEMBERS.into_iter().filter(is_absent), &Value::Null)
}

/// The request with one value for each of these members of the operation.
fn with_each<'a>(request: &Value, names: impl IntoIterator<Item = &'a str>, value: &Value) -> Value {
    names.into_iter().fold(request.clone(), |request, name| with(&request, OPERATION, name, value.clone()))
}

/// The request for an account that is created with the operation.
fn of_new_account(request: &Value, version: EntryPointVersion, number: u32) -> Value {
    let (factory, data) = new_account(version, u64::from(number));
    if version == EntryPointVersion::V06 {
        return with(request, OPERATION, "initCode", format!("{factory}{}", &data[2..]));
    }
    with(&with(request, OPERATION, "factory", factory), OPERATION, "factoryData", data)
}

/// The request for an account whose factory takes no data: an initCode of an address.
fn without_factory_data(request: &Value) -> Value {
    match request["params"][0]["initCode"].as_str().and_then(|code| code.get(..42)) {
        Some(factory) => with(request, OPERATION, "initCode", factory),
        None => with(request, OPERATION, "factoryData", "0x"),
    }
}

/// The request with an authorization by EIP-7702 whose signature is made up, as a client sends it before the user signs.
fn authorized(request: &Value) -> Value {
    let authorization = json!({
        "address": "0xe6Cae83BdE06E4c305530e199D7217f42808555B",
        "chainId": request["params"][2],
        "nonce": "0x0",
        "r": format!("0x{}", "fffffffffffffffffffffffffffffff0".repeat(2)),
        "s": format!("0x{}", "7aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".repeat(2)),
        "yParity": "0x1",
    });
    with(request, OPERATION, "eip7702Auth", authorization)
}

/// The request with gas limits of 0, and with fees of 0 too.
pub(crate) fn zero(request: &Value, with_fees: bool) -> Value {
    let fees = if with_fees { &FEES[..] } else { &[] };
    with_each(request, GAS.iter().chain(fees).copied(), &json!("0x0"))
}

/// The request with the hex of sender, call data and new account in lower case.
fn in_lower_case(request: &Value) -> Value {
    let mut request = request.clone();
    for name in ["sender", "callData", "factory", "factoryData", "initCode"] {
        if let Some(text) = request["params"][0][name].as_str().map(str::to_ascii_lowercase) {
            set(&mut request, OPERATION, name, json!(text));
        }
    }
    request
}

/// The request with the checksum of EIP-55 in its sender.
fn with_checksum(request: &Value) -> Option<Value> {
    let sender: Address = request["params"][0]["sender"].as_str()?.parse().ok()?;
    Some(with(request, OPERATION, "sender", sender.to_checksum(None)))
}

/// A call, and the same call in a form of published clients, each three times.
pub(crate) static FORMS: Relation = Relation::new(
    "client-forms",
    "a call, and the same in a form of published clients: signatures, null, zero limits, \
     nonces, new accounts",
)
.of(Bases::EveryKind, Rounds::for_each(CLIENT_FORMS), |input, ids| {
    let form = item_of_round(input, CLIENT_FORMS);
    let variant = (form.applies)(input.pair).then(|| (form.after)(input)).flatten();
    let before = (form.before)(input.base);
    let has_its_nonce = |request: &Value| request["params"][0]["nonce"] == before["params"][0]["nonce"];
    // A service may sign one operation for each nonce.
    let may_be_next = form.is_other_operation || !is_stub(input.pair) && input.context.may_vary_operations();
    let variant = variant.map(|variant| {
        let is_next = may_be_next && has_its_nonce(&variant);
        if is_next { with_later_nonce(&variant, 1) } else { variant }
    });
    let Some(variant) = variant.filter(|variant| *variant != before) else { return Vec::new() };
    let plain = member(Role::Baseline, "the baseline", before, ids);
    alternately(&plain, &member(Role::Variant, form.label, variant, ids))
})
.first(23)
.simulated(simulation);

/// The form of a member of [`FORMS`], by its label.
pub(crate) fn form_of(label: &str) -> Option<&'static Form> {
    CLIENT_FORMS.iter().find(|form| label == form.label)
}

/// Data of an operation, its stub, and data of operations that differ from it in their call data or their sender alone.
pub(crate) static ANOTHER_CALL: Relation = Relation::new(
    "another-call",
    "stub and data of an operation, then data with other call data, and of another sender",
)
.of(Bases::These(DATAS), Rounds::scaled(4), |input, ids| {
    if !input.context.may_vary_operations() {
        return Vec::new();
    }
    let stub = with(input.base, "", "method", STUB);
    let id = ids.next_id();
    let mut members = vec![
        with_own_id(Role::Baseline, "the baseline", &with(input.base, "", "id", id)),
        member(Role::Other, "the stub request", stub, ids),
        // Clients count their ids from 0 in each process, so that ids come again.
        with_own_id(
            Role::Variant,
            "other call data",
            &with(&other_call(input.base, input.round), "", "id", id),
        ),
        member(Role::Variant, "other call data again", other_call(input.base, input.round + 100), ids),
        member(Role::Variant, "large call data", large_call(input.base), ids),
    ];
    if Target::of(input.context).accepts_any() {
        members.push(member(Role::Variant, "another sender", of_another_sender(input.base), ids));
    }
    members
})
.simulated(simulation);

/// Data with the limits of the stub, with those of a bundler, and with other fees. The stub has no limits and fees yet, or those of the first
/// data.
pub(crate) static OTHER_LIMITS: Relation = Relation::new(
    "other-limits",
    "data of an operation, then with the gas limits that a bundler estimates, and with other \
     fees",
)
.of(Bases::These(DATAS), Rounds::scaled(4), |input, ids| {
    let stub = with(input.base, "", "method", STUB);
    let mut stub = if input.round % 2 == 0 { zero(&stub, true) } else { stub };
    for name in LIMITS {
        remove(&mut stub, OPERATION, name);
    }
    let mut members = vec![member(Role::Other, "the stub request", stub, ids), baseline(input, ids)];
    let fee = |name: &str| kinds::hex_number(&input.base["params"][0][name]).unwrap_or_default();
    // A paymaster that takes no token needs no gas after the operation, and chains without a queue need no priority fee.
    let (post_op, priority) =
        if input.round % 2 == 0 { (80_000, fee("maxPriorityFeePerGas") / 2) } else { (0, 0) };
    let highest = fee("maxFeePerGas").saturating_add(1_000);
    // A paymaster with hooks takes a large part of what a block allows.
    let verification = if input.round % 2 == 0 { 120_000 } else { 700_000 };
    let of_paymaster =
        [("paymasterVerificationGasLimit", verification), ("paymasterPostOpGasLimit", post_op)];
    let fees = [("maxFeePerGas", highest), ("maxPriorityFeePerGas", priority)];
    let groups: [(&str, &[(&str, u64)]); 12] = [
        // Each of these four differs from the request before it in one member alone.
        ("another preVerificationGas", &LIMITS_IN_TURN[..1]),
        ("and another verificationGasLimit", &LIMITS_IN_TURN[..2]),
        ("and another paymasterVerificationGasLimit", &LIMITS_IN_TURN[..3]),
        ("and another paymasterPostOpGasLimit", &LIMITS_IN_TURN),
        ("large gas limits", &LARGE_LIMITS),
        ("low gas limits", &LOW_LIMITS),
        ("the gas of a short call", &[("callGasLimit", 9_000)]),
        ("the preVerificationGas of a rollup", &LIMITS_OF_ROLLUPS),
        ("other gas limits", &LIMITS_OF_BUNDLERS),
        ("other gas limits of the paymaster", &of_paymaster),
        ("other fees", &fees),
        ("another priority fee", &fees[1..]),
    ];
    let mut last = input.base.clone();
    for (label, amounts) in groups {
        let mut other = input.base.clone();
        for (name, value) in amounts {
            if input.base["params"][0].get(name).is_some() {
                set(&mut other, OPERATION, name, json!(number(*value)));
            }
        }
        // An operation of EntryPoint 0.6 has no limits of the paymaster.
        if other != *input.base && other != last {
            members.push(member(Role::Variant, label, &other, ids));
            last = other;
        }
    }
    members
})
.simulated(simulation);

/// Limits that change one after the other: what is kept by all but one of them shows in two requests in a row.
const LIMITS_IN_TURN: [(&str, u64); 4] = [
    ("preVerificationGas", 62_000),
    ("verificationGasLimit", 230_000),
    (LIMITS[0], 110_000),
    (LIMITS[1], 60_000),
];

/// More gas than 24 bits hold, at fees with which that costs little. A service may refuse so much gas.
const LARGE_LIMITS: [(&str, u64); 5] = [
    ("callGasLimit", 30_000_001),
    ("verificationGasLimit", 20_000_000),
    ("preVerificationGas", 17_000_000),
    ("maxFeePerGas", 1_000_000),
    ("maxPriorityFeePerGas", 1_000),
];

/// What a simple account needs for a call that does nothing: a service may not sign more of its own accord.
const LOW_LIMITS: [(&str, u64); 3] =
    [("callGasLimit", 5_000), ("verificationGasLimit", 50_000), ("preVerificationGas", 21_000)];

/// Rollups put their fee for the data of a transaction into preVerificationGas.
const LIMITS_OF_ROLLUPS: [(&str, u64); 3] =
    [("preVerificationGas", 5_000_000_001), ("maxFeePerGas", 100_000), ("maxPriorityFeePerGas", 1_000)];

/// The gas limits that a bundler estimates.
const LIMITS_OF_BUNDLERS: [(&str, u64); 3] =
    [("callGasLimit", 77_000), ("verificationGasLimit", 210_000), ("preVerificationGas", 61_000)];

/// Data of three operations, each before and after its stub.
pub(crate) static WITHOUT_STUB: Relation = Relation::new(
    "without-stub",
    "data of three operations before their stubs, some of which have a higher fee, and after \
     them",
)
.of(Bases::These(DATAS), Rounds::scaled(2), |input, ids| {
    let mut members = Vec::new();
    let first = 3 * input.round;
    for data in other_calls(input, first..first + 3) {
        let mut stub = with(&data, "", "method", STUB);
        // A wallet that waited too long asks again, and pays more.
        if input.round % 2 == 1 {
            let fee = kinds::hex_number(&data["params"][0]["maxFeePerGas"]).unwrap_or_default();
            set(&mut stub, OPERATION, "maxFeePerGas", json!(number(fee.saturating_add(2_000))));
        }
        members.push(member(Role::Variant, "data before the stub", &data, ids));
        members.push(member(Role::Other, "the stub", stub, ids));
        members.push(member(Role::Again, "data after the stub", &data, ids));
    }
    members
});

/// Data of several operations at the same time, of one of them twice and with another call, and of two more in a batch.
pub(crate) static CONCURRENT: Relation = Relation::new(
    "concurrent-data",
    "data of six operations at the same time, of one of them twice and with another call, and of \
     two more in a batch",
)
.of(Bases::These(DATAS), Rounds::scaled(4), |input, ids| {
    let first = 10 * input.round;
    let operations = other_calls(input, first..first + 6).enumerate();
    let mut members: Vec<Member> = operations
        .map(|(place, request)| member(Role::Variant, format!("operation {place}"), request, ids))
        .collect();
    // A client repeats a request that it has waited for too long.
    members.extend(
        other_calls(input, first..first + 1)
            .map(|request| member(Role::Again, "operation 0 again", request, ids)),
    );
    // A user may change the call while the data for the first one are on their way.
    members.extend(other_calls(input, first..first + 1).map(|request| {
        member(
            Role::Variant,
            "another call with the nonce of operation 0",
            other_call(&request, first + 9),
            ids,
        )
    }));
    // The second id is a UUID.
    let batch: Vec<Value> = (0..)
        .zip(other_calls(input, first + 6..first + 8))
        .map(|(place, request)| with(&request, "", "id", id_of_any_kind(5 * place, ids.next_id())))
        .collect();
    if !batch.is_empty() {
        members.push(with_own_id(Role::Batch, "two operations in a batch", &Value::Array(batch)));
    }
    members
})
.simulated(simulation)
.concurrent();

/// Data of one operation, in another spelling and order of members, and again.
pub(crate) static SPELLINGS: Relation = Relation::new(
    "spellings",
    "data of an operation, then with members in another order and hex in another letter case",
)
.of(Bases::These(DATAS), Rounds::scaled(2), |input, ids| {
    let plain = in_lower_case(input.base);
    let mut request = plain.clone();
    if let Some(data) = plain["params"][0]["callData"].as_str().map(in_capitals) {
        set(&mut request, OPERATION, "callData", json!(data));
    }
    if let Some(operation) = request["params"][0].as_object() {
        let reversed = operation.iter().rev().map(|(name, value)| (name.clone(), value.clone()));
        let reversed = Value::Object(reversed.collect());
        request = with_param(&request, 0, reversed);
    }
    let in_order = *item_of_round(input, &[in_client_order, in_order_of_circle]);
    vec![
        member(Role::Baseline, "the baseline", &plain, ids),
        member(Role::Variant, "another spelling", in_order(&request), ids),
        member(Role::Again, "the baseline again", &plain, ids),
    ]
})
.simulated(simulation);

/// A request that is sent twice, as a client repeats it after a failure of the network.
pub(crate) static TWICE: Relation = Relation::new("twice", "the same request twice")
    .of(Bases::EveryKind, Rounds::scaled(2), |input, ids| {
        vec![baseline(input, ids), member(Role::Again, "the same request again", input.base, ids)]
    })
    .simulated(gas_of_stubs);

/// EntryPoints that do not exist: an invented one, one with other digits in the middle of an address that is served, and the address 0.
pub(crate) static UNKNOWN_ENTRY_POINT: Relation = Relation::new(
    "unknown-entry-point",
    "a call, then with addresses of no EntryPoint",
)
.of(Bases::EveryKind, Rounds::scaled(2), |input, ids| {
    let invented = Address::repeat_byte(0xe7 - u8::try_from(input.round % 9).unwrap_or(0));
    let mut alike = version(input.pair).address();
    alike[7..13].iter_mut().for_each(|byte| *byte = !*byte);
    let with_address =
        |address: Address| with_param(input.base, 1, json!(address.to_string().to_lowercase()));
    vec![
        baseline(input, ids),
        member(Role::Variant, "an unknown EntryPoint", with_address(invented), ids),
        member(Role::Variant, "an EntryPoint with other digits in the middle", with_address(alike), ids),
        member(Role::Variant, "the address 0 as EntryPoint", with_address(Address::ZERO), ids),
    ]
});

/// An operation in the form of 0.7 with EntryPoint 0.6. The reverse may be an alias.
pub(crate) static OTHER_OPERATION: Relation =
    Relation::new("other-operation", "data for EntryPoint 0.6, then with an operation in the form of 0.7")
        .of(Bases::These(&[Base::accepted(kinds::DATA_06)]), Rounds::scaled(4), |input, ids| {
            let other = without(input.base, OPERATION, "initCode");
            let other = of_new_account(&other, EntryPointVersion::V07, input.round);
            vec![baseline(input, ids), member(Role::Malformed, "an operation in the form of 0.7", other, ids)]
        });

/// A request whose answer the text leaves open.
pub(crate) struct Probe {
    /// The clause whose observer reports it.
    pub(crate) clause: &'static str,
    /// What is unusual, for people.
    pub(crate) label: &'static str,
    change: fn(&Value) -> Value,
}

/// The probes, one a round.
pub(crate) const OPEN: &[Probe] = &[
    probe("observed.context", "an unknown member of the context", |request| {
        with(&in_client_order(request), "/params/3", "id", "unknown to this service")
    }),
    probe("observed.context", "the context of @aa-sdk/core", with_policy),
    probe("observed.context", "the context of @biconomy/abstractjs", |request| {
        let account = json!({ "smartAccountInfo": { "name": "BICONOMY", "version": "2.0.0" } });
        let context = json!({
            "mode": "SPONSORED", "expiryDuration": 300, "calculateGasLimits": true, "sponsorshipInfo": account,
        });
        with_param(request, 3, context)
    }),
    probe("observed.context", "a context with sponsorshipPolicyId", |request| {
        with_param(request, 3, json!({ "sponsorshipPolicyId": "sp_my_policy" }))
    }),
    probe("observed.context", "an unsupported token in the context", with_token),
    probe("observed.context", "a policyId of several", |request| {
        with(request, "/params/3", "policyId", json!(["my-policy", "another-policy"]))
    }),
    probe("observed.foreign-chain", "a chain that does not exist", |request| {
        with_param(request, 2, json!("0xfffffffffff1"))
    }),
    probe("observed.chain-id-forms", "a decimal text as chain id", |request| {
        let decimal = kinds::hex_number(&request["params"][2]).unwrap_or_default().to_string();
        with_param(request, 2, json!(decimal))
    }),
    probe("observed.chain-id-forms", "a number as chain id", |request| {
        with_param(request, 2, json!(kinds::hex_number(&request["params"][2])))
    }),
    probe("observed.packed-members", "packed gas limits and fees", |request| {
        let mut request = request.clone();
        for name in ["callGasLimit", "verificationGasLimit", "maxFeePerGas", "maxPriorityFeePerGas"] {
            remove(&mut request, OPERATION, name);
        }
        for name in ["accountGasLimits", "gasFees"] {
            set(
                &mut request,
                OPERATION,
                name,
                json!(format!("0x{}", "00000000000000000000000000030d40".repeat(2))),
            );
        }
        request
    }),
    probe("observed.params-forms", "three params", of_three_params),
    probe("observed.params-forms", "five params", |request| {
        let mut params = request["params"].as_array().cloned().unwrap_or_default();
        params.push(json!({}));
        with(request, "", "params", params)
    }),
    probe("observed.params-forms", "params by name", |request| {
        let params = &request["params"];
        let named = json!({
            "userOperation": params[0], "entryPoint": params[1], "chainId": params[2], "context": params[3],
        });
        with(request, "", "params", named)
    }),
    probe("observed.id-forms", "null as id", |request| with(request, "", "id", Value::Null)),
    probe("observed.id-forms", "a fraction as id", |request| with(request, "", "id", json!(1.5))),
];

const fn probe(clause: &'static str, label: &'static str, change: fn(&Value) -> Value) -> Probe {
    Probe { clause, label, change }
}

/// Requests whose answer the text leaves open, each after an ordinary one.
pub(crate) static PROBES: Relation = Relation::new(
    "probes",
    "requests whose answer the text leaves open: unknown context, foreign chain, params and \
     ids in other forms",
)
.of(
    Bases::These(&[
        Base::accepted(kinds::STUB_07),
        Base::accepted(kinds::DATA_07),
        Base::accepted(kinds::DATA_06),
    ]),
    Rounds::for_each(OPEN),
    |input, ids| {
        let probe = item_of_round(input, OPEN);
        let changed = (probe.change)(&with(input.base, "", "id", ids.next_id()));
        vec![baseline(input, ids), with_own_id(Role::Probe, probe.label, &changed)]
    },
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_signature_is_left_out_and_not_replaced() {
        let target = Target::default();
        let base = |operation| json!({ "method": DATA, "params": [operation, "0x", "0x1", {}] });
        let signed = base(json!({ "signature": "0x5a" }));
        let input = |base| BuildInput { pair: kinds::DATA_07, base, round: 0, context: &target };
        let form = form_of("no signature").unwrap();
        assert_eq!((form.before)(&signed), signed);
        assert_eq!((form.after)(&input(&signed)), Some(base(json!({}))));
        let placeholder = form_of("a placeholder signature").unwrap();
        assert_eq!((placeholder.after)(&input(&signed)), None);
        assert!((placeholder.after)(&input(&base(json!({})))).is_some());
    }

    #[test]
    fn where_operations_may_vary_data_in_another_form_have_another_nonce() {
        let nonces = |method: &str, pair, accepts: &str| {
            let target =
                Target::new(crate::profile::read(&format!("operations.accepts = \"{accepts}\"")).unwrap());
            let base = json!({ "method": method, "params": [{ "nonce": "0x7" }, "0x", "0x1", {}] });
            let input = BuildInput { pair, base: &base, round: 0, context: &target };
            let members = (FORMS.members)(&input, &mut Ids::starting_at(1));
            let requests = members.iter().map(|member| serde_json::from_slice(member.body.bytes()).unwrap());
            requests.map(|request: Value| request["params"][0]["nonce"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(nonces(DATA, kinds::DATA_07, "any")[..3], ["0x7", "0x8", "0x7"]);
        assert_eq!(nonces(DATA, kinds::DATA_07, "listed")[..3], ["0x7", "0x7", "0x7"]);
        assert_eq!(nonces(STUB, kinds::STUB_07, "any")[..3], ["0x7", "0x7", "0x7"]);
    }
}
