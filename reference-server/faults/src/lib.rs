//! Faults and variants of the reference server: an [`InjectedService`] is a `paymaster_service::Service` with [`faults()`] and
//! [`variants()`] around it, which the service does not know.
#![warn(missing_docs)]

#[macro_use]
mod injection;
mod faults;
mod names;
mod profile;
mod variants;

pub use faults::{Fault, FaultCondition, faults, faults_of, find_fault};
pub use injection::InjectedService;
pub use names::UnknownName;
pub use profile::{needs_signatures, to_profile};
pub use variants::{Statement, Variant, find_variant, variants, variants_of};
