//! A macro that declares the type of a JSON object, and the type of its strings.
//!
//! serde's derive would also accept an array for an object (`["0x..", ..]` for an operation). The visitors here accept objects
//! only, skip unknown members and refuse a member that occurs twice.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;

/// A string of the request, borrowed unless it contains escapes.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// What `parse` reads in a string; any other string is not what `wanted` names.
pub(crate) fn in_text<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    wanted: &str,
    parse: impl FnOnce(Cow<'de, str>) -> Option<T>,
) -> Result<T, D::Error> {
    parse(Text::deserialize(deserializer)?.0).ok_or_else(|| D::Error::custom(format_args!("not {wanted}")))
}

/// The same with the JSON of any value.
pub(crate) fn in_json<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    wanted: &str,
    parse: impl FnOnce(&'de str) -> Option<T>,
) -> Result<T, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    parse(raw.get()).ok_or_else(|| D::Error::custom(format_args!("not {wanted}")))
}

/// Declares a struct whose members are all optional, with its `Deserialize`.
macro_rules! object {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident<'a> {
            $( $(#[$member_meta:meta])* $member:literal => $field:ident: $type:ty, )+
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        $visibility struct $name<'a> {
            $( $(#[$member_meta])* pub(crate) $field: Option<$type>, )+
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members<'a>(std::marker::PhantomData<&'a ()>);

                impl<'de: 'a, 'a> serde::de::Visitor<'de> for Members<'a> {
                    type Value = $name<'a>;

                    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        formatter.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut found = $name::default();
                        while let Some(name) = map.next_key::<$crate::message::request::members::Text<'de>>()? {
                            match &*name.0 {
                                $( $member => {
                                    if found.$field.is_some() {
                                        return Err(serde::de::Error::duplicate_field($member));
                                    }
                                    found.$field = Some(map.next_value()?);
                                } )+
                                _ => {
                                    map.next_value::<serde::de::IgnoredAny>()?;
                                }
                            }
                        }
                        Ok(found)
                    }
                }

                deserializer.deserialize_map(Members(std::marker::PhantomData))
            }
        }
    };
}
pub(crate) use object;
