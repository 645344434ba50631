//! The profile of a server for `paymaster-conformance`: what the harness needs to know to judge it.

use std::collections::BTreeMap;

use paymaster_service::{Config, ConfigError, EntryPoint, Layout, Service};
use serde::Serialize;

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
type Texts<'a> = BTreeMap<&'static str, &'a str>;

#[derive(Serialize)]
struct Profile<'a> {
    tokens: Tokens<'a>,
    operations: Operations<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<Limits>,
    accounts: Vec<Texts<'a>>,
}

#[derive(Serialize)]
struct Tokens<'a> {
    unsupported: Vec<&'a str>,
    supported: Vec<SupportedToken<'a>>,
}

#[derive(Serialize)]
struct SupportedToken<'a> {
    address: &'a str,
    symbol: &'a str,
    decimals: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Operations<'a> {
    accepts: &'static str,
    sponsors: &'static str,
    refused_senders: &'a [String],
}

/// The sizes that the server serves. The harness requires less of a server that states none.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Limits {
    call_data_bytes: usize,
    token_list_length: u32,
    id_length: u32,
    gas_limit: i64,
    max_fee_gwei: i64,
    expiry_seconds: u32,
    webhook_data_bytes: u32,
}

/// The `paymaster.toml` with which `paymaster-conformance` judges a server of this configuration with these variants by a specification.
/// It leaves out what a variant makes untrue, and the sizes that a variant may refuse. By a specification that the server does not serve it is
/// empty.
pub fn to_profile(
    specification: &str,
    config: &Config,
    variants: &[&Variant],
) -> Result<String, ConfigError> {
    match specification {
        "fee-quote" => fee_quote(config, variants),
        "erc-7677" => erc_7677(config, variants),
        _ => Ok(String::new()),
    }
}

/// Whether a clause of the specification concerns the bytes of signatures.
pub fn needs_signatures(specification: &str) -> bool {
    specification == "erc-7677"
}

fn fee_quote(config: &Config, variants: &[&Variant]) -> Result<String, ConfigError> {
    let is_true = |statement: Statement| !variants.iter().any(|variant| variant.untrue.contains(&statement));
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
    let profile = Profile {
        tokens: Tokens {
            unsupported: UNSUPPORTED.into_iter().filter(|address| !is_supported(address)).collect(),
            supported: config
                .tokens
                .iter()
                .filter(|_| has_tokens)
                .map(|token| SupportedToken {
                    address: &token.address,
                    symbol: &token.symbol,
                    decimals: token.decimals,
                })
                .collect(),
        },
        operations: Operations {
            accepts: if is_true(Statement::AcceptsAny) { "any" } else { "unknown" },
            sponsors: if is_true(Statement::SponsorsAny) { "any" } else { "listed" },
            refused_senders: &config.policy.denied_senders,
        },
        limits: variants.is_empty().then_some(Limits {
            call_data_bytes: config.policy.max_call_data_bytes,
            token_list_length: 100,
            id_length: 1_000,
            gas_limit: i64::MAX,
            max_fee_gwei: i64::MAX,
            expiry_seconds: u32::MAX,
            webhook_data_bytes: 16_384,
        }),
        accounts: config
            .policy
            .account_names
            .iter()
            .filter(|_| has_accounts)
            .map(|name| Texts::from([("name", name.as_str()), ("version", version(name))]))
            .collect(),
    };
    let text = toml::to_string(&profile)?;
    Ok(format!("# What paymaster-reference-server supports, for paymaster-conformance.\n{text}"))
}

#[derive(Serialize)]
struct PaymasterProfile<'a> {
    service: PaymasterService<'a>,
    operations: PaymasterOperations<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contract: Option<Contract>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct PaymasterService<'a> {
    entry_points: &'a [EntryPoint],
    chain_id: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<Texts<'a>>,
}

#[derive(Serialize)]
struct PaymasterOperations<'a> {
    accepts: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sponsorable: Vec<Sponsorable>,
    refused: Vec<Texts<'a>>,
}

/// An operation that the server sponsors.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Sponsorable {
    entry_point: EntryPoint,
    operation: Texts<'static>,
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

#[derive(Serialize)]
struct Contract {
    /// Version of EntryPoint, then the contract.
    kind: Texts<'static>,
    signer: String,
}

fn erc_7677(config: &Config, variants: &[&Variant]) -> Result<String, ConfigError> {
    let is_true = |statement: Statement| !variants.iter().any(|variant| variant.untrue.contains(&statement));
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
        Sponsorable { entry_point: *version, operation: OPERATION.into_iter().chain(init_code).collect() }
    });
    let profile = PaymasterProfile {
        service: PaymasterService {
            entry_points: served,
            chain_id: config.signing.chain_id,
            context: (!is_true(Statement::NoContext)).then(|| Texts::from([("policyId", "p-1")])),
        },
        operations: PaymasterOperations {
            accepts: if is_true(Statement::AcceptsAny) { "any" } else { "unknown" },
            sponsorable: sponsorable.collect(),
            refused: config
                .policy
                .denied_senders
                .iter()
                .map(|sender| Texts::from([("sender", sender.as_str())]))
                .collect(),
        },
        contract: is_signed.then(|| Contract { kind: kind.collect(), signer }),
    };
    let text = toml::to_string(&profile)?;
    Ok(format!(
        "# What paymaster-reference-server supports, for paymaster-conformance --spec erc-7677.\n{text}"
    ))
}
