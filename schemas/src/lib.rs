//! The specifications as data: sections, schema documents, compiled validators, clauses, readings and names. Each has a folder here and
//! a module; what all share of JSON-RPC is in `shared`.

pub mod clauses;
mod definition;
mod documents;
pub mod erc_7677;
pub mod fee_quote;
mod kind;
mod readings;
pub mod sections;
pub mod shared;
pub mod validators;

pub use clauses::{Basis, Clause, find_clause};
pub use definition::{DEFINITIONS, Definition, add, documents};
pub use documents::{Document, document, document_by_id, resolved};
pub use erc_7677::ERC_7677;
pub use fee_quote::{FEE_QUOTE, Mode, kinds};
pub use kind::{Kind, KindOfCall};
pub use readings::Reading;
pub use sections::Section;
pub use validators::{member_validator, validator_for};
