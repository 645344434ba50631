//! Requests and answers.

pub mod answer;
pub mod request;

pub use {answer::*, request::*};
