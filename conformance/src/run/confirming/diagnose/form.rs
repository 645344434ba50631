//! The form of a request as a cause: what its relation changed, and what a rule is about.

use serde_json::Value;

use super::members::{Subject, keep_id};
use super::{Diagnosis, Search, parsed, with_body};
use paymaster_engine::diagnosis::{Cause, Difference, Fewest, differences, with_all};
use paymaster_engine::json::escaped;
use paymaster_engine::message::Answer;
use paymaster_engine::session::Outcome;

/// What sending the base request in place of the changed one showed.
pub(super) enum Plain {
    /// The rule held.
    Cause(Box<Diagnosis>),
    /// The rule was broken too: what the relation changes does not decide.
    AlsoBroken,
    /// The rule does not judge it: the rule is about what the relation changes.
    NotJudged,
}

impl Search<'_> {
    /// Sends the base request in place of the one that the relation made of it: with the id of that one, then with an id of its own.
    pub(super) async fn plain_request(&mut self, subject: Subject) -> Plain {
        let group = &self.finding.group;
        let (Some(failing), own_id) = (subject.value(group), group.base.clone()) else {
            return Plain::NotJudged;
        };
        if !own_id.is_object() {
            return Plain::NotJudged;
        }
        let mut same_id = own_id.clone();
        keep_id(&mut same_id, &failing);
        let mut seen = Plain::AlsoBroken;
        for passing in [same_id, own_id] {
            if passing == failing {
                continue;
            }
            let Some(plain) = subject.with(group, passing.clone(), self.resender.context) else {
                return Plain::NotJudged;
            };
            seen = match self.send(&plain).await {
                Some((_, Outcome::Held)) => match self.fewest_members(subject, passing).await {
                    Some(diagnosis) => return Plain::Cause(Box::new(diagnosis)),
                    None => Plain::AlsoBroken,
                },
                Some((_, Outcome::Broken(_) | Outcome::BrokenElsewhere(_))) => Plain::AlsoBroken,
                _ => return Plain::NotJudged,
            };
        }
        seen
    }

    /// The value that the run found in refused requests only. None where a request that the target served is served with this value too: then
    /// something else decides that the refused requests have in common.
    pub(super) async fn refused_value(&mut self) -> Option<Diagnosis> {
        let wrong = self.finding.violation.member;
        let (name, value) = self.finding.exchanges.get(wrong)?.refused_value.as_deref()?.member.as_ref()?;
        let request: Value = serde_json::from_slice(&self.finding.group.members.get(wrong)?.body).ok()?;
        let (pointer, failing) = member_with("", &request, name, value)?;
        let specification = self.resender.context.specification();
        let form = vec![Difference::new(pointer, Some(failing), None, specification)];
        (!self.is_right_in_another(&form).await).then_some(Diagnosis::of(Cause::Form(form)))
    }

    /// What the relation changed in the base request; none where it is written in another way too.
    pub(super) fn changes_of_the_relation(&self) -> Option<Vec<Difference>> {
        let group = &self.finding.group;
        let failing = parsed(group.members.get(self.finding.violation.member)?)?;
        let mut passing = group.base.clone();
        if !passing.is_object() {
            return None;
        }
        if self.has_id_of_the_plan(&failing) {
            keep_id(&mut passing, &failing);
        }
        let changes = differences(&failing, &passing, self.resender.context.specification());
        (!changes.is_empty()).then_some(changes)
    }

    /// Whether a request has the id that the plan gave it, which is no change.
    fn has_id_of_the_plan(&self, request: &Value) -> bool {
        let group = &self.finding.group;
        let own_ids = group.first_id..group.first_id + group.members.len() as u64;
        request["id"].as_u64().is_some_and(|id| own_ids.contains(&id))
    }

    /// The members because of which the rule judges the request at all: with those of an ordinary request of the same method and mode, it
    /// does not. None where the rule judges ordinary requests too.
    pub(super) async fn members_that_the_rule_is_about(&mut self) -> Option<Vec<Difference>> {
        let wrong = self.finding.violation.member;
        let failing = parsed(self.finding.group.members.get(wrong)?)?;
        let examples = self.material.session.tally.examples_of_any_rule();
        let of_the_kind =
            examples.iter().filter(|example| example.pair == self.finding.pair && !example.got_error);
        let requests = of_the_kind.filter_map(|example| parsed(example.group.members.get(example.member)?));
        let mut ordinary = requests.clone().next()?;
        keep_id(&mut ordinary, &failing);
        if self.not_broken(&ordinary).await != Some(Outcome::NotJudged) {
            if self.has_id_of_the_plan(&failing) {
                return None;
            }
            // The rule may be about the id.
            ordinary = requests.into_iter().find(|request| is_other_type(&request["id"], &failing["id"]))?;
            if self.not_broken(&ordinary).await != Some(Outcome::NotJudged) {
                return None;
            }
        }
        let mut fewest = Fewest::new(differences(&failing, &ordinary, self.resender.context.specification()));
        while let Some(trial) = fewest.next_trial() {
            if let Some(value) = with_all(&failing, &trial)
                && self.not_broken(&value).await.is_some()
            {
                fewest.was_enough(trial);
            }
        }
        Some(fewest.finish())
    }

    /// What the answer to a request shows where it does not break the rule: that the rule holds, or a result that it does not judge.
    async fn not_broken(&mut self, request: &Value) -> Option<Outcome> {
        let wrong = self.finding.violation.member;
        let group = with_body(&self.finding.group, wrong, request)?;
        let (exchanges, outcome) = self.send(&group).await?;
        let has_result = exchanges.get(wrong).is_some_and(|exchange| Answer::of(exchange).result().is_some());
        match outcome {
            Outcome::NotJudged if has_result => Some(outcome),
            // Something else may be wrong with it.
            Outcome::Held => Some(outcome),
            _ => None,
        }
    }
}

/// The pointer of a member of this name with this text, in any letter case, and the text as it is there.
fn member_with(pointer: &str, value: &Value, name: &str, text: &str) -> Option<(String, Value)> {
    let is_it = |own: &str, value: &Value| {
        own == name && value.as_str().is_some_and(|value| value.eq_ignore_ascii_case(text))
    };
    match value {
        Value::Object(members) => members.iter().find_map(|(own, value)| {
            let pointer = format!("{pointer}/{}", escaped(own));
            if is_it(own, value) {
                Some((pointer, value.clone()))
            } else {
                member_with(&pointer, value, name, text)
            }
        }),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(index, item)| member_with(&format!("{pointer}/{index}"), item, name, text))
        }
        _ => None,
    }
}

fn is_other_type(one: &Value, other: &Value) -> bool {
    std::mem::discriminant(one) != std::mem::discriminant(other)
}
