//! JSON pointers (RFC 6901): writing one, and changing a value at one.

use serde_json::Value;

/// A name as a segment of a JSON pointer.
pub fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A JSON pointer with this text in the place of every array index.
pub fn with_indices(pointer: &str, index: &str) -> String {
    let is_index = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = pointer.split('/').map(|part| if is_index(part) { index } else { part });
    parts.collect::<Vec<_>>().join("/")
}

/// Whether a pointer is another one, or an object or list around it.
pub fn encloses(outer: &str, inner: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Removes the member or item at a JSON pointer; none when nothing stands there.
pub fn remove(value: &mut Value, pointer: &str) -> Option<()> {
    let (parent, name) = pointer.rsplit_once('/')?;
    match value.pointer_mut(parent)? {
        Value::Object(members) => {
            members.shift_remove(&name.replace("~1", "/").replace("~0", "~"))?;
        }
        Value::Array(items) => {
            let index = name.parse().ok().filter(|index| *index < items.len())?;
            items.remove(index);
        }
        _ => return None,
    }
    Some(())
}

/// The value with another value at a place, or without the member where there is none. None where the parent of the place does not
/// exist or cannot hold the member.
pub fn with_value(value: &Value, pointer: &str, new: Option<&Value>) -> Option<Value> {
    let mut changed = value.clone();
    let Some(new) = new else {
        remove(&mut changed, pointer)?;
        return Some(changed);
    };
    if let Some(place) = changed.pointer_mut(pointer) {
        *place = new.clone();
        return Some(changed);
    }
    let (parent, name) = pointer.rsplit_once('/')?;
    let name = name.replace("~1", "/").replace("~0", "~");
    let members = changed.pointer_mut(parent)?.as_object_mut()?;
    members.insert(name, new.clone());
    Some(changed)
}
