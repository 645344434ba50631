//! The protocol between a Locust master and its workers: ZMTP, MessagePack, and the statistics of Locust.

mod connection;
mod locust_stats;
pub(super) mod message;
pub mod zmtp;

pub(super) use {connection::*, locust_stats::*, message::*, zmtp::Frame};
