//! A macro that declares the type of a JSON object, and the type of its strings.
//!
//! serde's derive would also accept an array for an object (`["0x..", ..]` for an operation). The visitors here accept objects
//! only, skip unknown members and refuse a member that occurs twice.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// A string of the request, borrowed unless it contains escapes.
#[derive(Debug, Clone)]
pub(crate) struct Text<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrow;
        impl<'de> Visitor<'de> for Borrow {
            type Value = Text<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }

            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrow)
    }
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
