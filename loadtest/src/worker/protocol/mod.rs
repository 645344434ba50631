//! The protocol between a Locust master and its workers: ZMTP, MessagePack, and the statistics of Locust.

pub mod connection;
pub(super) mod locust_stats;
pub(super) mod message;
pub mod zmtp;
