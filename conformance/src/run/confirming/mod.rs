//! Looking closer at a violation: sending the same requests again, looking for a smaller group that breaks the same rule, and looking
//! for the cause.

mod amounts;
mod budget;
mod causes;
mod check;
pub(crate) mod confirm;
mod diagnose;
mod resend;
pub(crate) mod shrink;

use amounts::add_amounts;
use check::Contradiction;
pub(crate) use {budget::*, confirm::*, diagnose::*, resend::*, shrink::*};
