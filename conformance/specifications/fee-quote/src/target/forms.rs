//! Request forms: how published clients write requests that go beyond the tables of sections 2.1 to 2.5.
//!
//! Discovery sends every form of [`CLIENT_FORMS`]. A form that the target serves becomes part of what is drawn, and requests in that
//! form are judged like any other. To add a client, add a literal to [`CLIENT_FORMS`].

use crate::SPECIFICATION;
use crate::call::CallParts;
use crate::relations::{MODE, OPERATION};
use crate::tables::{FEES, GAS, ORDINARY, is_amount, is_hex, is_optional, mode_members};
use crate::target::{Dialect, by_pair};
use paymaster_engine::cases::{remove, set};
use paymaster_engine::json::amount;
use paymaster_engine::message::{Call, ParsedRequest};
use std::collections::{BTreeMap, BTreeSet};

use paymaster_schemas::{Kind, Mode, kinds};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A form that published clients send.
#[derive(Debug)]
pub struct ClientForm {
    /// Its name in reports and labels.
    pub name: &'static str,
    /// The clients that send it, for people.
    pub clients: &'static str,
    /// Rewrites a plain request of that pair; the last argument is the sponsorshipInfo of the target. Changes nothing where the form does not
    /// differ for the pair.
    rewrite: fn(&mut Value, Kind, &Value),
}

/// Every form.
pub static CLIENT_FORMS: &[ClientForm] = &[
    form("account 4.x", "@biconomy/account 4.x and @biconomy/paymaster 4.x", |request, pair, info| {
        in_hex(request, &["nonce", "maxFeePerGas", "maxPriorityFeePerGas"], Hex::Quantity);
        add_placeholders(request);
        add_other_info(request, pair, info);
        // The smart account leaves the gas limits out in sponsored mode.
        if Mode::of(pair) == Mode::Sponsored {
            for name in GAS {
                remove(request, OPERATION, name);
            }
        }
    }),
    form("paymaster 4.x", "@biconomy/paymaster 4.x with gas limits", |request, pair, info| {
        in_hex(request, &["nonce", "maxFeePerGas", "maxPriorityFeePerGas"], Hex::Quantity);
        add_placeholders(request);
        add_other_info(request, pair, info);
    }),
    form("paymaster 3.1", "@biconomy/paymaster 3.1.x", |request, pair, info| {
        in_hex(request, &["nonce"], Hex::WholeBytes);
        add_placeholders(request);
        add_other_info(request, pair, info);
    }),
    form("viem", "the viem-based @biconomy/sdk 0.0.29", |request, _, _| {
        // A deployed account has no initCode.
        if request["params"][0]["initCode"] == "0x" {
            remove(request, OPERATION, "initCode");
        }
        set(request, OPERATION, "paymasterPostOpGasLimit", json!("0"));
        set(request, OPERATION, "paymasterVerificationGasLimit", json!("0"));
    }),
    form("hex amounts", "clients that write every amount in hex, as bundlers do", |request, _, _| {
        in_hex(request, &["nonce"], Hex::Quantity);
        in_hex(request, &FEES, Hex::Quantity);
        in_hex(request, &GAS, Hex::Quantity);
    }),
    form(
        "signature and paymasterAndData",
        "every published client but the viem-based one",
        |request, _, _| add_placeholders(request),
    ),
    form("both info objects", "@biconomy/account 4.x and @biconomy/paymaster", |request, pair, info| {
        let (name, info) = other_info(pair, info);
        set(request, MODE, name, info);
    }),
    form("expiryDuration in a quote", "@biconomy/account 4.x and @biconomy/paymaster", |request, pair, _| {
        if kinds::is_quote(pair) {
            set(request, MODE, "expiryDuration", json!(300));
        }
    }),
];

/// Forms that leave out a member which the tables list and do not call mandatory. No published client sends them: they are lawful to
/// refuse, and nothing warns of that.
static WITHOUT_MEMBERS: &[ClientForm] = &[
    form("without calculateGasLimits", "clients that leave calculateGasLimits out", |request, pair, _| {
        // The row of a quote in token mode has none.
        if pair != kinds::QUOTE_ERC20 {
            remove(request, MODE, "calculateGasLimits");
        }
    }),
    form("without expiryDuration", "clients that leave expiryDuration out", |request, pair, _| {
        if pair == kinds::SPONSOR_SPONSORED {
            remove(request, MODE, "expiryDuration");
        }
    }),
];

const fn form(
    name: &'static str,
    clients: &'static str,
    rewrite: fn(&mut Value, Kind, &Value),
) -> ClientForm {
    ClientForm { name, clients, rewrite }
}

/// Every form that discovery sends: those of [`CLIENT_FORMS`] first.
pub(crate) fn all_forms() -> impl Iterator<Item = &'static ClientForm> {
    CLIENT_FORMS.iter().chain(WITHOUT_MEMBERS)
}

impl ClientForm {
    /// A plain request in this form; none when the form does not differ from it.
    pub fn of(&self, request: &Value, pair: Kind, sponsorship_info: &Value) -> Option<Value> {
        let mut rewritten = request.clone();
        (self.rewrite)(&mut rewritten, pair, sponsorship_info);
        (rewritten != *request).then_some(rewritten)
    }
}

/// How a request differs from the tables, in words that two requests of one form share. Empty for a plain request.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Form(BTreeSet<String>);

impl Form {
    /// The form of a valid call; none when it differs in a way that cannot be compared, such as a long additional member.
    pub fn of(call: &Call, dialect: &Dialect) -> Option<Self> {
        let operation = call.operation().as_object()?;
        let mode = call.mode_object().as_object()?;
        let mut form = BTreeSet::new();
        for (name, value) in operation {
            if is_amount(name) {
                let own = if is_hex(name, dialect.amount_notation) { "hex" } else { "decimal" };
                let notation = notation(value)?;
                if notation != own {
                    form.insert(format!("{name} {notation}"));
                }
            } else if !ORDINARY.contains(&name.as_str()) {
                form.insert(addition(name, value)?);
            }
        }
        for name in ORDINARY.iter().chain(&GAS) {
            if !operation.contains_key(*name) && !is_optional(name, call.pair) {
                form.insert(format!("without {name}"));
            }
        }
        let own = mode_members(call.pair, dialect);
        for (name, value) in mode {
            if !own.contains(&name.as_str()) {
                form.insert(addition(name, value)?);
            }
        }
        for name in own {
            if !mode.contains_key(name) {
                form.insert(format!("without {name}"));
            }
        }
        Some(Self(form))
    }

    /// Whether the request is plain.
    pub fn is_plain(&self) -> bool {
        self.0.is_empty()
    }
}

/// Forms that the target served, by pair of method and mode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServedForms {
    #[serde(with = "by_pair")]
    forms: BTreeMap<Kind, BTreeSet<Form>>,
    /// Indices into [`all_forms`]. Requests are drawn from them; nothing is judged by them.
    #[serde(skip)]
    named: BTreeMap<Kind, BTreeSet<usize>>,
}

impl ServedForms {
    /// Adds a served call.
    pub fn learn(&mut self, call: &Call, dialect: &Dialect) {
        if let Some(form) = Form::of(call, dialect).filter(|form| !form.is_plain()) {
            self.forms.entry(call.pair).or_default().insert(form);
        }
    }

    /// How many forms there are.
    pub(crate) fn len(&self) -> usize {
        self.forms.values().map(BTreeSet::len).sum()
    }

    /// Adds that the form at this place of the tables was served.
    pub fn learn_named(&mut self, pair: Kind, form: usize) {
        self.named.entry(pair).or_default().insert(form);
    }

    /// Whether the target served calls of this form.
    pub fn serves(&self, call: &Call, dialect: &Dialect) -> bool {
        self.forms
            .get(&call.pair)
            .is_some_and(|forms| Form::of(call, dialect).is_some_and(|form| forms.contains(&form)))
    }

    /// The forms of the tables that the target served in this pair, in the order of the tables.
    pub fn named(&self, pair: Kind) -> Vec<&'static ClientForm> {
        let is_served = |form: &usize| self.named.get(&pair).is_some_and(|served| served.contains(form));
        let forms = all_forms().enumerate();
        forms.filter(|(place, _)| is_served(place)).map(|(_, form)| form).collect()
    }
}

/// Whether a call has the form of a published client: exactly what the client changes, and nothing else.
pub(crate) fn is_of_client(call: &Call, dialect: &Dialect) -> bool {
    let Some(own) = Form::of(call, dialect).filter(|form| !form.is_plain()) else { return false };
    let info = &call.mode_object()["sponsorshipInfo"];
    let plain = plain(call, dialect);
    CLIENT_FORMS.iter().any(|form| {
        let request = form.of(&plain, call.pair, info);
        let request =
            request.map(|request| ParsedRequest::of(request.to_string().as_bytes(), &SPECIFICATION));
        let rewritten = request.as_ref().and_then(ParsedRequest::valid_call);
        rewritten.and_then(|call| Form::of(call, dialect)).as_ref() == Some(&own)
    })
}

/// The request with the members of the tables and no others, in the notation of the dialect.
fn plain(call: &Call, dialect: &Dialect) -> Value {
    let mut operation = Map::new();
    for name in ORDINARY.iter().chain(&GAS).copied() {
        let sent = call.operation().get(name);
        let value = if is_amount(name) {
            json!(dialect.written(name, &sent.and_then(amount).unwrap_or_else(|| 1_u32.into())))
        } else {
            sent.cloned().unwrap_or_else(|| json!("0x"))
        };
        operation.insert(name.to_owned(), value);
    }
    let mut mode = Map::new();
    for name in mode_members(call.pair, dialect) {
        let filler = match name {
            "expiryDuration" => json!(300),
            _ => json!(true),
        };
        let sent = call.mode_object().get(name).cloned();
        mode.insert(name.to_owned(), sent.unwrap_or(filler));
    }
    let mut request = call.envelope.clone();
    request["params"] = json!([operation, mode]);
    request
}

/// An additional member as a difference: with its value, since a target may look at it.
fn addition(name: &str, value: &Value) -> Option<String> {
    const LONGEST: usize = 300;
    let text = value.to_string();
    (text.len() <= LONGEST).then(|| format!("with {name} {text}"))
}

/// How an amount is written.
fn notation(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(text) => Some(match text.strip_prefix("0x") {
            Some(digits) if digits.len() > 1 && digits.starts_with('0') => "hex with leading zeros",
            Some(_) => "hex",
            None => "decimal",
        }),
        Value::Number(_) => Some("a number"),
        _ => None,
    }
}

/// How a client writes hex amounts.
#[derive(Clone, Copy)]
enum Hex {
    /// Without leading zeros: `0x7`.
    Quantity,
    /// With an even number of digits: `0x07`.
    WholeBytes,
}

fn in_hex(request: &mut Value, names: &[&str], hex: Hex) {
    for name in names {
        let Some(amount) = amount(&request["params"][0][*name]) else { continue };
        let digits = format!("{amount:x}");
        let padding = match hex {
            Hex::WholeBytes if digits.len() % 2 == 1 => "0",
            _ => "",
        };
        set(request, OPERATION, name, json!(format!("0x{padding}{digits}")));
    }
}

/// Empty placeholders for what only a whole operation has.
fn add_placeholders(request: &mut Value) {
    set(request, OPERATION, "paymasterAndData", json!("0x"));
    set(request, OPERATION, "signature", json!("0x"));
}

/// What these clients add to the mode object of a quote.
fn add_other_info(request: &mut Value, pair: Kind, sponsorship_info: &Value) {
    if kinds::is_quote(pair) {
        let (name, info) = other_info(pair, sponsorship_info);
        set(request, MODE, name, info);
        set(request, MODE, "expiryDuration", json!(300));
    }
}

fn other_info(pair: Kind, sponsorship_info: &Value) -> (&'static str, Value) {
    match Mode::of(pair) {
        Mode::Sponsored => ("tokenInfo", json!({})),
        Mode::Erc20 => ("sponsorshipInfo", sponsorship_info.clone()),
    }
}
