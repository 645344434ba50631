//! Departures from what the service would do by itself: faults, which break a clause, and variants, which are lawful.
//!
//! Both are tables of [`Deed`]s: when to act, and how. Without any, a request never comes here.

mod act;
mod asked;
mod change;
mod crossing;
mod memory;
mod nearest;
mod perform;
#[cfg(test)]
pub(crate) mod samples;
mod sent;
#[cfg(test)]
mod tests;

pub(crate) use act::{Act, Damage, Deed, Part, When, Which, always};
pub(crate) use asked::Asked;
pub(crate) use change::{
    decimal_text, each_quote, json, map_strings, quotes, rename_address, result, reverse_members, text_of,
};
pub use nearest::UnknownName;
pub(crate) use nearest::find;
pub(crate) use perform::{Deviations, Kind};
pub(crate) use sent::{Framing, Sent};
