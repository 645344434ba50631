//! What a paymaster decides and computes: sponsorship, gas limits, fees, signatures (sections 3 to 6).

pub(crate) mod chain;
pub(crate) mod clock;
pub(crate) mod decimal;
pub(crate) mod gas;
pub(crate) mod methods;
pub(crate) mod policy;
pub(crate) mod signing;
pub(crate) mod tokens;
