//! The Paymaster JSON-RPC Service Specification as data.

mod clauses;
mod names;
mod readings;
mod sections;

pub use names::{Mode, kinds};

use crate::{Definition, Document, documents::table};

/// The Paymaster JSON-RPC Service Specification.
pub static FEE_QUOTE: Definition = Definition {
    documents: DOCUMENTS,
    clauses: clauses::CLAUSES,
    sections: sections::SECTIONS,
    readings: readings::READINGS,
    openrpc: include_str!("../fee-quote/openrpc.json"),
};

/// The forms first, then the tables, then the entry points.
const DOCUMENTS: &[Document] = table! {
    "fee-quote";
    "amount" "2.2"
    "decimal-digits" "2.6"
    "gas-number" "2.6"
    "url" "2.8"

    "request-envelope" "2.1"
    "user-operation" "2.2"
    "mode-object" "2.3"
    "sponsorship-info" "2.4"
    "smart-account-info" "2.4"
    "token-info" "2.5"
    "sponsored-result" "2.6"
    "quote-result" "2.7"
    "fee-quote" "2.8"
    "token-sponsor-result" "2.9"
    "response-envelope" "2.10"

    "quote-sponsored-request" "4.1"
    "quote-erc20-request" "4.1"
    "sponsor-sponsored-request" "4.2"
    "sponsor-erc20-request" "4.2"
    "sponsored-answer" "2.6"
    "quote-answer" "2.7"
    "token-sponsor-answer" "2.9"
    "error-answer" "7"
};
