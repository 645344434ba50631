//! Requests, answers, and the tables of sections 2.1 to 2.5 that requests keep to.

pub mod answer;
pub mod request;
pub mod tables;
