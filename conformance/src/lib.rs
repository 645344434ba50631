//! Conformance testing of paymaster services: clauses joined to rules, generated requests, judged answers.
//!
//! The pure half (everything here but [`run`], [`report`] and [`cli`]) knows no clock, socket, environment or printer.

pub mod access;
pub mod accounts;
pub mod answer;
pub mod case;
pub mod cli;
pub mod context;
pub mod counts;
pub mod dialect;
pub mod discovery;
pub mod estimate;
pub mod events;
pub mod exchange;
pub mod exit;
pub mod facts;
pub mod finding;
pub mod generate;
pub mod json;
pub mod judge;
pub mod known;
pub mod on_chain;
pub mod plan;
pub mod profile;
pub mod recorded;
pub mod redact;
pub mod relations;
pub mod relay;
pub mod report;
pub mod request;
pub mod rules;
pub mod run;
pub mod selftest;
pub mod tables;
pub mod tally;
pub mod unread;
pub mod verdict;
pub mod verdict_line;
