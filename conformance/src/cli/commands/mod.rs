//! The commands, one file each. Each reads its arguments, does its work and returns the exit code.

pub(crate) mod check;
pub(crate) mod compare;
mod dry_run;
pub(crate) mod init;
pub(crate) mod judge;
pub(crate) mod matrix;
pub(crate) mod pages;
pub(crate) mod proxy;
pub(crate) mod replay;
pub(crate) mod rules;
pub(crate) mod selftest;
