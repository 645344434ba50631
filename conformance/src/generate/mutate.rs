//! stub
pub struct Mutation { pub pointer: String, pub keyword: &'static str, pub broken: serde_json::Value }
pub fn mutations(_: &str, _: &serde_json::Value) -> Vec<Mutation> { Vec::new() }
