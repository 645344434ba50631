//! Strict JSON: whole texts, repeated members reported, numbers compared exactly; JSON pointers.

pub mod document;
pub mod number;
pub mod pointer;

pub use {document::*, number::*, pointer::*};
