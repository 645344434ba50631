//! The profile of a server for `paymaster-conformance`: what the harness needs to know to judge it.

use std::collections::BTreeMap;

use paymaster_service::{Config, ConfigError, EntryPoint, Layout, Service};
use toml::Value;

use crate::variants::{Statement, Variant};

/// Addresses that are no tokens of the default configuration.
const UNSUPPORTED: [&str; 3] = [
    "0x1111111111111111111111111111111111111111",
    "0x2222222222222222222222222222222222222222",
    "0xFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFfFf",
];
/// The versions that published clients send with the account names of the default configuration.
const VERSIONS: [(&str, &str); 3] = [("BICONOMY", "2.0.0"), ("INFINITISM", "1.0.0"), ("SAFE", "1.4.1")];
/// The version for other account names.
const OTHER_VERSION: &str = "1.0.0";

/// A table whose values are texts, in the order of their keys.
fn texts<'a>(members: impl IntoIterator<Item = (&'a str, &'a str)>) -> Value {
    BTreeMap::from_iter(members).into()
}

/// A table with these members, in this order.
fn table<'a>(members: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    Value::Table(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn list(items: impl IntoIterator<Item = Value>) -> Value {
    Value::Array(items.into_iter().collect())
}

/// The `paymaster.toml` with which `paymaster-conformance` judges a server of this configuration with these variants by a specification.
/// It leaves out what a variant makes untrue, and the sizes that a variant may refuse. By a specification that the server does not serve it is
/// empty.
pub fn to_profile(
    specification: &str,
    config: &Config,
    variants: &[&Variant],
) -> Result<String, ConfigError> {
    let is_true = |statement| !variants.iter().any(|variant| variant.untrue.contains(&statement));
    let (profile, arguments) = match specification {
        "fee-quote" => (fee_quote(config, is_true, variants.is_empty())?, ""),
        "erc-7677" => (erc_7677(config, is_true)?, " --spec erc-7677"),
        _ => return Ok(String::new()),
    };
    let text = toml::to_string(&profile)?;
    Ok(format!("# What paymaster-reference-server supports, for paymaster-conformance{arguments}.\n{text}"))
}

/// Whether a clause of the specification concerns the bytes of signatures.
pub fn needs_signatures(specification: &str) -> bool {
    specification == "erc-7677"
}

fn fee_quote(
    config: &Config,
    is_true: impl Fn(Statement) -> bool,
    serves_every_size: bool,
) -> Result<Value, ConfigError> {
    let has_tokens = is_true(Statement::Tokens) && is_true(Statement::OneToken);
    let has_accounts = is_true(Statement::Accounts);
    let is_supported = |address: &str| {
        let mut tokens = config.tokens.iter();
        tokens.any(|token| token.address.eq_ignore_ascii_case(address))
    };
    let version = |name: &str| {
        let known = VERSIONS.iter().find(|(known, _)| *known == name);
        known.map_or(OTHER_VERSION, |(_, version)| *version)
    };
    let unsupported = UNSUPPORTED.into_iter().filter(|address| !is_supported(address));
    let supported = config.tokens.iter().filter(|_| has_tokens).map(|token| {
        table([
            ("address", token.address.as_str().into()),
            ("symbol", token.symbol.as_str().into()),
            ("decimals", token.decimals.into()),
        ])
    });
    let accounts = config.policy.account_names.iter().filter(|_| has_accounts);
    let accounts = accounts.map(|name| texts([("name", name.as_str()), ("version", version(name))]));
    let operations = table([
        ("accepts", if is_true(Statement::AcceptsAny) { "any" } else { "unknown" }.into()),
        ("sponsors", if is_true(Statement::SponsorsAny) { "any" } else { "listed" }.into()),
        ("refused-senders", config.policy.denied_senders.clone().into()),
    ]);
    // The sizes that the server serves. The harness requires less of a server that states none.
    let limits = table([
        ("call-data-bytes", Value::try_from(config.policy.max_call_data_bytes)?),
        ("token-list-length", 100.into()),
        ("id-length", 1_000.into()),
        ("gas-limit", i64::MAX.into()),
        ("max-fee-gwei", i64::MAX.into()),
        ("expiry-seconds", u32::MAX.into()),
        ("webhook-data-bytes", 16_384.into()),
    ]);
    let tokens = [("unsupported", list(unsupported.map(Value::from))), ("supported", list(supported))];
    Ok(table(
        [("tokens", table(tokens)), ("operations", operations)]
            .into_iter()
            .chain(serves_every_size.then_some(("limits", limits)))
            .chain([("accounts", list(accounts))]),
    ))
}

/// An ordinary call of an account that exists.
const OPERATION: [(&str, &str); 8] = [
    ("sender", "0x1306b01bc3e4ad202612d3843387e94737673f53"),
    ("nonce", "0x7"),
    ("callData", "0xb61d27f6"),
    ("callGasLimit", "0x186a0"),
    ("verificationGasLimit", "0x30d40"),
    ("preVerificationGas", "0xc350"),
    ("maxFeePerGas", "0xb2d05e00"),
    ("maxPriorityFeePerGas", "0x3b9aca00"),
];

fn erc_7677(config: &Config, is_true: impl Fn(Statement) -> bool) -> Result<Value, ConfigError> {
    let served = &config.paymaster_data.entry_points;
    let is_singleton = config.paymaster_data.layout == Layout::Singleton;
    let kinds = [
        (EntryPoint::V06, "0.6", "verifying-0.6", "singleton-0.6"),
        (EntryPoint::V07, "0.7", "verifying-0.7", "singleton-0.7"),
        (EntryPoint::V08, "0.8", "verifying-0.7", "singleton-0.8"),
        // The singleton has no version for 0.9.
        (EntryPoint::V09, "0.9", "verifying-0.7", "verifying-0.7"),
    ];
    let kind = kinds.into_iter().filter(|(version, ..)| served.contains(version));
    let kind =
        kind.map(|(_, name, verifying, singleton)| (name, if is_singleton { singleton } else { verifying }));
    let is_signed = config.signing.enabled && is_true(Statement::Contract);
    let signer = Service::new(config)?.signer_address();
    let is_sponsored = is_true(Statement::OneOperation);
    let sponsorable = served.iter().filter(|_| is_sponsored).map(|version| {
        let init_code = (*version == EntryPoint::V06).then_some(("initCode", "0x"));
        let operation = texts(OPERATION.into_iter().chain(init_code));
        Ok(table([("entry-point", Value::try_from(version)?), ("operation", operation)]))
    });
    let sponsorable = sponsorable.collect::<Result<Vec<Value>, ConfigError>>()?;
    let refused = config.policy.denied_senders.iter().map(|sender| texts([("sender", sender.as_str())]));
    let context = (!is_true(Statement::NoContext)).then(|| ("context", texts([("policyId", "p-1")])));
    let service =
        [("entry-points", Value::try_from(served)?), ("chain-id", Value::try_from(config.signing.chain_id)?)];
    let accepts = if is_true(Statement::AcceptsAny) { "any" } else { "unknown" };
    let operations = [("accepts", accepts.into())]
        .into_iter()
        .chain((!sponsorable.is_empty()).then(|| ("sponsorable", sponsorable.into())))
        .chain([("refused", list(refused))]);
    // Version of EntryPoint, then the contract.
    let contract = || table([("kind", texts(kind)), ("signer", signer.into())]);
    Ok(table(
        [("service", table(service.into_iter().chain(context))), ("operations", table(operations))]
            .into_iter()
            .chain(is_signed.then(|| ("contract", contract()))),
    ))
}
