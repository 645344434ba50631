//! The documents, their examples, the OpenRPC descriptions and the validators.

mod documents;
mod examples;
mod openrpc;
mod support;
mod validators;
