//! Conformance testing of paymaster services: clauses joined to rules, generated requests, judged answers.
//!
//! The pure half (everything here but [`run`], [`report`] and [`cli`]) knows no clock, socket, environment or printer.

pub mod cli;
pub mod estimate;
pub mod events;
pub mod recorded;
pub mod relay;
pub mod report;
pub mod run;
pub mod selftest;
