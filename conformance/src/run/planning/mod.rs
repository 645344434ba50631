//! Making the groups of a plan while the run sends them, keeping whole plans for later runs, and estimating how long a run takes.

pub(crate) mod drawn;
pub(crate) mod forecast;
pub(crate) mod group_queue;

pub(crate) use {drawn::*, forecast::*, group_queue::*};
