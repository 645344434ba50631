//! Which rules are judged.

use paymaster_cli::suggestion::did_you_mean;
use paymaster_judge::rules::Rule;

/// The rules that the filters ask for; all of them when there is none. A filter that matches nothing is an error.
pub(crate) fn select(filters: &[String], rules: Vec<&'static Rule>) -> Result<Vec<&'static Rule>, String> {
    for filter in filters {
        if !rules.iter().any(|rule| matches(filter, rule)) {
            let ids = rules.iter().flat_map(|rule| [rule.id, rule.clause]);
            let hint = did_you_mean(filter, ids);
            return Err(format!(
                "no rule matches `{filter}`{hint}; `paymaster-conformance rules` lists them"
            ));
        }
    }
    Ok(rules
        .into_iter()
        .filter(|rule| filters.is_empty() || filters.iter().any(|filter| matches(filter, rule)))
        .collect())
}

fn matches(filter: &str, rule: &Rule) -> bool {
    glob(filter, rule.id) || glob(filter, rule.clause)
}

/// Whether a text matches a pattern in which `*` stands for any letters, none included.
pub(super) fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|head| text.strip_prefix(head)) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.len() >= last.len() && rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn stars_stand_for_any_letters() {
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
