//! `$ref`, `allOf`, `anyOf`, `oneOf`, `dependentSchemas`: which schemas apply together.

use crate::generate::{Place, Unsupported};

/// References nested deeper than this are reported as a cycle.
const DEEPEST: usize = 32;

/// Schemas that apply together, without combining keywords, and what the choice itself asks for.
#[derive(Clone, Default)]
pub(super) struct Alternative {
    /// The schemas.
    pub places: Vec<Place>,
    /// Members that must be present.
    pub present: Vec<&'static str>,
    /// Members that must be absent.
    pub absent: Vec<&'static str>,
}

/// Every way to satisfy the combining keywords of `places`.
pub(super) fn alternatives(places: &[Place]) -> Result<Vec<Alternative>, Unsupported> {
    let mut all = vec![Alternative::default()];
    for place in places {
        all = both(&all, &expand(place, 0)?);
    }
    Ok(all)
}

fn expand(place: &Place, depth: usize) -> Result<Vec<Alternative>, Unsupported> {
    if depth > DEEPEST {
        return Err(place.unsupported("a circle of references"));
    }
    let keywords = place.keywords()?;
    let mut all = vec![Alternative { places: vec![place.clone()], ..Alternative::default() }];
    if keywords.contains_key("$ref") {
        // The referenced schema first: its members come before those that the referring one adds.
        all = both(&expand(&place.target()?, depth + 1)?, &all);
    }
    for branch in place.each("allOf") {
        all = both(&all, &expand(&branch, depth + 1)?);
    }
    if keywords.contains_key("anyOf") {
        let mut any = Vec::new();
        for branch in place.each("anyOf") {
            any.extend(expand(&branch, depth + 1)?);
        }
        all = both(&all, &any);
    }
    if keywords.contains_key("oneOf") {
        all = both(&all, &exactly_one(&place.branch_members("oneOf")?));
    }
    for (member, schema) in place.named("dependentSchemas") {
        let mut either = expand(&schema, depth + 1)?;
        for with in &mut either {
            with.present.push(member);
        }
        either.push(Alternative { absent: vec![member], ..Alternative::default() });
        all = both(&all, &either);
    }
    Ok(all)
}

/// One member and none of the others.
fn exactly_one(members: &[&'static str]) -> Vec<Alternative> {
    let one = |chosen: &&'static str| Alternative {
        present: vec![*chosen],
        absent: members.iter().copied().filter(|member| member != chosen).collect(),
        ..Alternative::default()
    };
    members.iter().map(one).collect()
}

fn both(left: &[Alternative], right: &[Alternative]) -> Vec<Alternative> {
    let mut all = Vec::with_capacity(left.len() * right.len());
    for one in left {
        for other in right {
            let mut joined = one.clone();
            joined.places.extend(other.places.iter().cloned());
            joined.present.extend(&other.present);
            joined.absent.extend(&other.absent);
            all.push(joined);
        }
    }
    all
}
