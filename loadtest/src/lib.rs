//! Load testing of paymaster services whose answers are judged: an answer that is fast and wrong counts as a failure.
//!
//! [`scenarios`] say what is sent, [`corpus`] makes the requests before the clock runs, [`engine`] sends and judges them
//! (goose keeps the users, their plan and its dashboard), [`figures`] count, [`run`] puts them together, [`report`] tells.

pub mod cli;
pub mod compare;
pub mod corpus;
pub mod embedded;
pub mod engine;
pub mod figures;
pub mod judging;
pub mod merge;
pub mod politeness;
pub mod report;
pub mod run;
pub mod scenarios;
pub mod schedule;
pub mod summary;
pub mod threshold;
