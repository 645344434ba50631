//! Requests, answers, and the request tables of sections 2.1 to 2.5.

pub mod answer;
pub mod request;
pub mod tables;
