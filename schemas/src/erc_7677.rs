//! ERC-7677, the paymaster web service, as data.

mod clauses;
mod sections;

use crate::{Definition, Document, documents::table};

/// ERC-7677 with user operations of EntryPoint 0.6 to 0.9.
pub static ERC_7677: Definition = Definition {
    documents: DOCUMENTS,
    clauses: clauses::CLAUSES,
    sections: sections::SECTIONS,
    readings: &[],
    openrpc: include_str!("../erc-7677/openrpc.json"),
};

/// The forms first, then the objects, then the entry points.
const DOCUMENTS: &[Document] = table! {
    "erc-7677";
    "hex-quantity" "2.3"

    "operation-06" "2.1"
    "operation-07" "2.2"
    "paymaster-context" "2.3"
    "sponsor" "3.1"
    "stub-result-06" "3"
    "stub-result-07" "3"
    "data-result-06" "6"
    "data-result-07" "6"
    "erc-7677-response-envelope" "2.10"

    "stub-request-06" "2"
    "stub-request-07" "2"
    "data-request-06" "2"
    "data-request-07" "2"
    "stub-answer-06" "3"
    "stub-answer-07" "3"
    "data-answer-06" "6"
    "data-answer-07" "6"
    "erc-7677-error-answer" "7"
};
