//! The paymaster specification as data: sections, schema documents, compiled validators, clauses, readings and names.

pub mod clauses;
pub mod documents;
mod kind;
pub mod names;
pub mod readings;
pub mod sections;
pub mod validators;

pub use clauses::{Basis, Clause, clauses, find_clause};
pub use documents::{Addition, Document, OPENRPC, add, document, document_by_id, documents, resolved};
pub use kind::{Kind, KindOfCall};
pub use names::{Method, Mode, Pair, kinds};
pub use readings::{READINGS, Reading, find_reading};
pub use sections::{SECTIONS, Section, find_section};
pub use validators::{Message, member_validator, validator_for};
