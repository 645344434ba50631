//! A macro that declares the type of a JSON object, and the type of its strings.
//!
//! serde's derive would also accept an array for an object (`["0x..", ..]` for an operation). The visitors here accept objects
//! only, skip unknown members and refuse a member that occurs twice.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, Error, MapAccess};
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

/// Implements `Deserialize` by `in_text` or `in_json`: what is wanted, and how it is parsed.
macro_rules! reads {
    ($read:ident $name:ty: $wanted:literal, $parse:expr) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::message::request::members::$read(deserializer, $wanted, $parse)
            }
        }
    };
}
pub(crate) use reads;

/// Reads the value of a member; an error when the object has the member already.
pub(crate) fn set<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    name: &'static str,
    member: &mut Option<T>,
    map: &mut A,
) -> Result<(), A::Error> {
    match member.replace(map.next_value()?) {
        Some(_) => Err(Error::duplicate_field(name)),
        None => Ok(()),
    }
}

/// Declares a struct with its required members, then the optional ones, and its `Deserialize`. A member whose field begins with `_` is
/// checked and not used.
macro_rules! object {
    (
        $(#[$meta:meta])*
        $visibility:vis struct $name:ident<'a> {
            $( required { $( $(#[$required_meta:meta])* $required:literal => $needed:ident: $needed_type:ty, )+ } )?
            $( $(#[$member_meta:meta])* $member:literal => $field:ident: $type:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug)]
        $visibility struct $name<'a> {
            $($( $(#[$required_meta])* pub(crate) $needed: $needed_type, )+)?
            $( $(#[$member_meta])* pub(crate) $field: Option<$type>, )*
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
                        use $crate::message::request::members::{Text, set};
                        $($( let mut $needed = None; )+)?
                        $( let mut $field = None; )*
                        while let Some(name) = map.next_key::<Text<'de>>()? {
                            match &*name.0 {
                                $($( $required => set($required, &mut $needed, &mut map)?, )+)?
                                $( $member => set($member, &mut $field, &mut map)?, )*
                                _ => {
                                    map.next_value::<serde::de::IgnoredAny>()?;
                                }
                            }
                        }
                        Ok($name {
                            $($( $needed: $needed.ok_or_else(|| serde::de::Error::missing_field($required))?, )+)?
                            $( $field, )*
                        })
                    }
                }

                deserializer.deserialize_map(Members(std::marker::PhantomData))
            }
        }
    };
}
pub(crate) use object;
