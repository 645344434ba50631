//! ERC-7677, the paymaster web service capability, as data.

mod clauses;

use crate::Definition;

/// ERC-7677: Paymaster Web Service Capability.
pub static ERC_7677: Definition =
    Definition { documents: &[], clauses: clauses::CLAUSES, sections: &[], readings: &[], openrpc: "{}" };
