//! The specifications that targets are judged by.

use std::sync::Arc;

use paymaster_engine::{knowledge::Knowledge, rules::Rule, specification::Specification};
use paymaster_fee_quote::target::Profile;

use crate::did_you_mean;
use crate::settings::TargetProfile;

/// Every specification. A new one is a line here.
pub static SPECIFICATIONS: &[&Specification] =
    &[&paymaster_fee_quote::SPECIFICATION, &paymaster_erc_7677::SPECIFICATION];

/// The specification of a target of which nothing is said.
pub static DEFAULT_SPECIFICATION: &Specification = &paymaster_fee_quote::SPECIFICATION;

/// The rules of all specifications, each once.
pub fn all_rules() -> Vec<&'static Rule> {
    let mut rules: Vec<&Rule> = Vec::new();
    for rule in SPECIFICATIONS.iter().flat_map(|specification| specification.rules()) {
        if !rules.iter().any(|known| known.id == rule.id) {
            rules.push(rule);
        }
    }
    rules
}

impl From<Profile> for TargetProfile {
    fn from(profile: Profile) -> Self {
        Arc::<dyn Knowledge>::from(profile).into()
    }
}

/// The rule of that id, of whatever specification. The rules of JSON-RPC are the same in each.
pub fn find_rule(id: &str) -> Option<&'static Rule> {
    SPECIFICATIONS.iter().find_map(|specification| specification.find_rule(id))
}

/// The names of the specifications, for a message.
pub fn names() -> String {
    SPECIFICATIONS.iter().map(|known| known.name).collect::<Vec<_>>().join(", ")
}

/// The specification of that name.
pub fn specification(name: &str) -> Result<&'static Specification, String> {
    SPECIFICATIONS.iter().copied().find(|known| known.name == name).ok_or_else(|| {
        let hint = did_you_mean(name, SPECIFICATIONS.iter().map(|known| known.name));
        format!("there is no specification `{name}`{hint}; there is {}", names())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_specification_takes_the_empty_profile_and_restores_what_it_saves() {
        for specification in SPECIFICATIONS {
            let unknown = specification.unknown();
            let restored = (specification.restore)(&unknown.saved()).unwrap();
            assert_eq!(*restored, *unknown, "{}", specification.name);
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest() {
        let refusal = specification("fee-quotes").unwrap_err();
        assert!(refusal.contains("did you mean `fee-quote`?"), "{refusal}");
    }
}
