//! The paymaster specification as data: schema documents, compiled validators.

pub mod documents;
pub mod validators;

pub use documents::{Document, OPENRPC, document, document_by_id, documents, resolved};
pub use validators::{Message, member_validator, validator_for};
