//! Edits that break a keyword at a place.

use serde_json::Value;

use crate::json::remove;

/// An edit at a place.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Removes the member.
    Remove,
    /// Replaces the value.
    Set(Value),
    /// Changes the string.
    Text(TextEdit),
    /// Removes these members from the object.
    Without(Vec<&'static str>),
    /// Adds these members to the object, except those that it has.
    With(Vec<(&'static str, Value)>),
}

/// A small change of a string, close to a valid one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextEdit {
    /// Removes the last character.
    DropLast,
    /// Appends a text.
    Append(&'static str),
    /// Prepends a text.
    Prepend(&'static str),
    /// Replaces the last character with `g`, which is not a hex digit.
    BadDigit,
    /// Removes the prefix `0x`.
    NoPrefix,
    /// Replaces the prefix `0x` with `0X`.
    UpperPrefix,
}

impl Edit {
    /// Edits `message` at `pointer`. None when the edit does not fit what is there.
    pub fn perform(&self, message: &mut Value, pointer: &str) -> Option<()> {
        if let Self::Remove = self {
            return remove(message, pointer);
        }
        let place = message.pointer_mut(pointer)?;
        match self {
            Self::Remove => {}
            Self::Set(value) => *place = value.clone(),
            Self::Text(edit) => *place = Value::String(edit.apply(place.as_str()?)?),
            Self::Without(names) => {
                let members = place.as_object_mut()?;
                members.retain(|name, _| !names.contains(&name.as_str()));
            }
            Self::With(additions) => {
                let members = place.as_object_mut()?;
                for (name, value) in additions {
                    members.entry(*name).or_insert_with(|| value.clone());
                }
            }
        }
        Some(())
    }
}

impl TextEdit {
    fn apply(self, text: &str) -> Option<String> {
        let mut edited = text.to_owned();
        match self {
            Self::DropLast => {
                edited.pop()?;
            }
            Self::Append(more) => edited.push_str(more),
            Self::Prepend(more) => edited.insert_str(0, more),
            Self::BadDigit => {
                edited.pop()?;
                edited.push('g');
            }
            Self::NoPrefix => return text.strip_prefix("0x").map(str::to_owned),
            Self::UpperPrefix => edited = format!("0X{}", text.strip_prefix("0x")?),
        }
        Some(edited)
    }
}

/// `location` in `message`: each `*` becomes the index of the last item. None when there is no item.
pub(super) fn place(location: &str, message: &Value) -> Option<String> {
    let Some((before, after)) = location.split_once("/*") else { return Some(location.to_owned()) };
    let last = message.pointer(before)?.as_array()?.len().checked_sub(1)?;
    place(&format!("{before}/{last}{after}"), message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn edited(edit: &Edit, value: &Value) -> Option<Value> {
        let mut message = json!({ "at": value });
        edit.perform(&mut message, "/at")?;
        message.get_mut("at").map(Value::take)
    }

    #[test]
    fn each_edit_has_its_effect() {
        let text = |edit| edited(&Edit::Text(edit), &json!("0xab"));
        assert_eq!(text(TextEdit::DropLast), Some(json!("0xa")));
        assert_eq!(text(TextEdit::Append("0")), Some(json!("0xab0")));
        assert_eq!(text(TextEdit::Prepend(" ")), Some(json!(" 0xab")));
        assert_eq!(text(TextEdit::BadDigit), Some(json!("0xag")));
        assert_eq!(text(TextEdit::NoPrefix), Some(json!("ab")));
        assert_eq!(text(TextEdit::UpperPrefix), Some(json!("0Xab")));
        assert_eq!(edited(&Edit::Remove, &json!(1)), None);
        assert_eq!(edited(&Edit::Set(json!(2)), &json!(1)), Some(json!(2)));
        assert_eq!(edited(&Edit::Without(vec!["a"]), &json!({ "a": 1, "b": 2 })), Some(json!({ "b": 2 })));
        let with = Edit::With(vec![("a", json!(3)), ("b", json!(4))]);
        assert_eq!(edited(&with, &json!({ "a": 1 })), Some(json!({ "a": 1, "b": 4 })));
    }

    #[test]
    fn an_edit_that_does_not_fit_gives_none() {
        assert_eq!(edited(&Edit::Text(TextEdit::DropLast), &json!(1)), None);
        assert_eq!(edited(&Edit::Text(TextEdit::NoPrefix), &json!("12")), None);
    }

    #[test]
    fn a_star_is_the_last_item() {
        let message = json!({ "list": [1, 2, 3], "none": [] });
        assert_eq!(place("/list/*", &message).as_deref(), Some("/list/2"));
        assert_eq!(place("/none/*", &message), None);
        assert_eq!(place("/other/*", &message), None);
    }
}
