//! Finds faults and variants by name.

use std::fmt;

use paymaster_service::nearest;

/// A fault or variant that shows by any specification.
pub(crate) const ANY: Option<&str> = None;
/// One that looks at requests or results of the first specification.
pub(crate) const FEE_QUOTE: Option<&str> = Some("fee-quote");

/// One that looks at requests or results of ERC-7677.
pub(crate) const ERC_7677: Option<&str> = Some("erc-7677");

/// A name that is not in its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    nearest: Option<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, nearest } = self;
        write!(formatter, "unknown {kind} `{name}`")?;
        match nearest {
            Some(nearest) => write!(formatter, ": did you mean `{nearest}`?"),
            None => write!(formatter, ": --list-{kind}s lists them"),
        }
    }
}

impl std::error::Error for UnknownName {}

/// The entry called `name`; `kind` is what the error calls an entry.
pub(crate) fn find<T>(
    kind: &'static str,
    mut entries: impl Iterator<Item = &'static T> + Clone,
    name_of: fn(&'static T) -> &'static str,
    name: &str,
) -> Result<&'static T, UnknownName> {
    let names = entries.clone().map(name_of);
    entries.find(|entry| name_of(entry) == name).ok_or_else(|| UnknownName {
        kind,
        name: name.to_owned(),
        nearest: nearest(name, names),
    })
}

#[cfg(test)]
mod tests {
    use crate::{find_fault, find_variant};

    #[test]
    fn a_name_with_the_right_words_is_suggested_however_they_are_ordered() {
        for (name, words) in [
            ("id-nul", "did you mean `id-null`?"),
            ("id-refused-string", "did you mean `id-string-refused`?"),
            ("zzz", "--list-faults lists them"),
        ] {
            let unknown = find_fault(name).unwrap_err().to_string();
            assert!(unknown.ends_with(words), "{unknown}");
        }
        assert!(find_variant("zzz").unwrap_err().to_string().ends_with("--list-variants lists them"));
    }
}
