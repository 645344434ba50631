//! wip
use serde_json::Value;
/// wip
pub fn simpler(_document: Option<&str>, _base: &Value) -> Vec<Value> {
    Vec::new()
}
