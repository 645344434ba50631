//! Requests that break exactly one keyword of their schema at one place.
/// A broken request.
pub struct Mutation {
    /// Where.
    pub pointer: String,
    /// Which keyword.
    pub keyword: &'static str,
    /// The whole request.
    pub broken: serde_json::Value,
}
/// Every way of breaking one keyword.
pub fn mutations(_: &str, _: &serde_json::Value) -> Vec<Mutation> {
    Vec::new()
}
