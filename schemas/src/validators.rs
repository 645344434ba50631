//! Validators for the documents, each compiled once, at its first use, and kept.
//!
//! They see the embedded documents and nothing else: no `$ref` is ever fetched. `format` asserts nothing in JSON Schema
//! 2020-12, so the documents say what they mean with `pattern`.

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use jsonschema::{PatternOptions, Registry, Resource, Validator};
use serde_json::{Value, json};

use crate::{definition::documents, documents::resolved};

/// The eight whole messages that a client and the service exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Message {
    /// A `pm_getFeeQuoteOrData` request in SPONSORED mode (section 4.1).
    QuoteSponsoredRequest,
    /// A `pm_getFeeQuoteOrData` request in ERC20 mode (section 4.1).
    QuoteErc20Request,
    /// A `pm_sponsorUserOperation` request in SPONSORED mode (section 4.2).
    SponsorSponsoredRequest,
    /// A `pm_sponsorUserOperation` request in ERC20 mode (section 4.2).
    SponsorErc20Request,
    /// The answer to either method in SPONSORED mode (sections 2.6 and 2.10).
    SponsoredAnswer,
    /// The answer to a token quote request (sections 2.7 and 2.10).
    QuoteAnswer,
    /// The answer to a token sponsorship request (sections 2.9 and 2.10).
    TokenSponsorAnswer,
    /// The answer that refuses a request (section 7).
    ErrorAnswer,
}

impl Message {
    /// Every message, in the order of the enum.
    pub const ALL: [Self; 8] = [
        Self::QuoteSponsoredRequest,
        Self::QuoteErc20Request,
        Self::SponsorSponsoredRequest,
        Self::SponsorErc20Request,
        Self::SponsoredAnswer,
        Self::QuoteAnswer,
        Self::TokenSponsorAnswer,
        Self::ErrorAnswer,
    ];

    /// The name of its entry point among the documents.
    pub const fn document(self) -> &'static str {
        match self {
            Self::QuoteSponsoredRequest => "quote-sponsored-request",
            Self::QuoteErc20Request => "quote-erc20-request",
            Self::SponsorSponsoredRequest => "sponsor-sponsored-request",
            Self::SponsorErc20Request => "sponsor-erc20-request",
            Self::SponsoredAnswer => "sponsored-answer",
            Self::QuoteAnswer => "quote-answer",
            Self::TokenSponsorAnswer => "token-sponsor-answer",
            Self::ErrorAnswer => "error-answer",
        }
    }

    /// The validator of its entry point.
    pub fn validator(self) -> &'static Validator {
        static COMPILED: [OnceLock<&Validator>; Message::ALL.len()] = [const { OnceLock::new() }; _];
        COMPILED[self as usize].get_or_init(|| {
            validator_for(self.document()).expect("every message has a document: a test asks each")
        })
    }
}

/// The validator of the document called `name`, or none when there is no such document.
pub fn validator_for(name: &str) -> Option<&'static Validator> {
    ENTRIES.get(name).map(|entry| entry.whole.get())
}

/// The validator of one member of the document called `document`, or none when the document or the member's own row in it
/// is missing. It judges the member's value alone; whether the member is required is for the whole document to say.
pub fn member_validator(document: &str, member: &str) -> Option<&'static Validator> {
    let members = &ENTRIES.get(document)?.members;
    members.get(member).map(Lazy::get)
}

/// A validator with the absolute reference that it stands for.
struct Lazy {
    reference: String,
    compiled: OnceLock<Validator>,
}

/// A document's validators: the whole, and one for each of its own `properties`.
struct Entry {
    whole: Lazy,
    members: HashMap<&'static str, Lazy>,
}

static ENTRIES: LazyLock<HashMap<&'static str, Entry>> = LazyLock::new(|| {
    documents()
        .map(|document| {
            let properties = resolved(document.name)
                .and_then(|schema| schema.get("properties"))
                .and_then(Value::as_object);
            let members = properties
                .into_iter()
                .flatten()
                .map(|(member, _)| {
                    let lazy = Lazy::new(format!("{}#/properties/{member}", document.id));
                    (member.as_str(), lazy)
                })
                .collect();
            let whole = Lazy::new(document.id.to_owned());
            (document.name, Entry { whole, members })
        })
        .collect()
});

static REGISTRY: LazyLock<Registry<'static>> = LazyLock::new(|| {
    let pairs = documents().filter_map(|document| {
        let schema = resolved(document.name)?;
        Some((document.id, Resource::from_contents(schema.clone())))
    });
    Registry::new()
        .extend(pairs)
        .and_then(jsonschema::RegistryBuilder::prepare)
        .expect("the embedded documents refer only to each other: a test compiles each")
});

impl Lazy {
    fn new(reference: String) -> Self {
        Self { reference, compiled: OnceLock::new() }
    }

    fn get(&self) -> &Validator {
        self.compiled.get_or_init(|| {
            // Our patterns need no look-around, so the engine with linear time will do, whatever it is fed.
            jsonschema::draft202012::options()
                .with_registry(&REGISTRY)
                .with_pattern_options(PatternOptions::regex())
                .offline()
                .build(&json!({ "$ref": self.reference }))
                .expect("every embedded document compiles: a test compiles each")
        })
    }
}
