//! Filters by name with `*`, and suggestions for names that match nothing.

use crate::cli::CommandError;
use paymaster_engine::rules::Rule;
use paymaster_settings::did_you_mean;

/// The rules whose id or clause matches a filter; all rules where there is no filter. A filter that matches nothing is an error.
pub(crate) fn rules(
    filters: &[String],
    rules: Vec<&'static Rule>,
) -> Result<Vec<&'static Rule>, CommandError> {
    select(filters, rules, |rule| vec![rule.id, rule.clause]).map_err(|unmatched| {
        format!("no rule matches {unmatched}; `paymaster-conformance rules` lists them").into()
    })
}

/// The items of which any name matches a filter; all items where there is no filter. The error is a filter that matches nothing, in
/// backticks, with the nearest name.
pub(crate) fn select<T>(
    filters: &[String],
    mut items: Vec<T>,
    names: impl Fn(&T) -> Vec<&'static str>,
) -> Result<Vec<T>, String> {
    let matches = |filter: &String, item: &T| names(item).into_iter().any(|name| glob(filter, name));
    if let Some(filter) = filters.iter().find(|filter| !items.iter().any(|item| matches(filter, item))) {
        return Err(format!("`{filter}`{}", did_you_mean(filter, items.iter().flat_map(&names))));
    }
    items.retain(|item| filters.is_empty() || filters.iter().any(|filter| matches(filter, item)));
    Ok(items)
}

/// Whether a text matches a pattern in which `*` matches any number of letters.
fn glob(pattern: &str, text: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == text };
    let rest = text.strip_prefix(head);
    rest.is_some_and(|rest| rest.char_indices().any(|(at, _)| glob(tail, &rest[at..])) || glob(tail, ""))
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn stars_match_any_letters() {
        for (pattern, text, matches) in [
            ("a.b", "a.b", true),
            ("a.b", "a.bc", false),
            ("a.*", "a.b", true),
            ("*", "", true),
            ("*.b", "a.b", true),
            ("a*c*e", "abcde", true),
            ("a*c*e", "abde", false),
            ("ab*b", "ab", false),
            ("**", "x", true),
        ] {
            assert_eq!(glob(pattern, text), matches, "{pattern} on {text}");
        }
    }
}
