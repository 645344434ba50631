//! What specifications need of Ethereum, without a socket: operations of EntryPoint 0.6 to 0.9, their hashes and call data, what paymaster
//! contracts sign, the calls that simulate an operation, and how their results are read.

mod accounts;
mod calls;
mod contracts;
mod cost;
mod operation;
mod reading;
mod spelling;
mod window;

pub use accounts::{ACCOUNTS, AccountForm, CallContext, Encoded};
pub use calls::{
    PackedUserOperation, UserOperation, bundle_call, bundler_call, eth_call, hash_call, limited_call,
    signer_call, simulation_call, validation_call,
};
pub use contracts::{ContractKind, PaymasterTerms};
pub use cost::most_cost;
pub use operation::{EntryPointVersion, Operation, hex_bytes};
pub use reading::{
    CallOutcome, NodeError, PaymasterValidation, SimulationOutcome, read_bundle, read_hash,
    read_paymaster_call, read_simulation, read_validation,
};
pub use spelling::{checksummed, in_capitals, in_mixed_case};
pub use window::{Window, zero_bytes};
