//! The way a request is written as a cause: the order of its members, and white space.

use serde_json::Value;

use super::{Diagnosis, Search, members::Subject, parsed};
use paymaster_engine::{cases::case::Role, diagnosis::cause::Cause};

impl Search<'_> {
    /// Whether the order of the members or white space decides: the same values are sent in the order of a request for which the rule
    /// held, without white space.
    pub(super) async fn writing(&mut self) -> Option<Diagnosis> {
        let wrong = self.finding.violation.member;
        let body = &self.finding.group.members.get(wrong)?.body;
        let own: Value = serde_json::from_slice(body).ok()?;
        let rewritten = in_the_order_of(&own, &self.model_of_writing());
        if rewritten.to_string().as_bytes() == &**body {
            return None;
        }
        let contrast = self.right(Subject::Member(wrong), rewritten).await?;
        Some(Diagnosis { contrast: Some(contrast), ..Diagnosis::of(Cause::Writing) })
    }

    /// A request that is written in the usual way: the one to compare with in the group, or one for which the rule held.
    fn model_of_writing(&self) -> Value {
        let group = &self.finding.group;
        let model = if self.judges_groups() {
            let mut members = group.members.iter();
            members.find(|member| member.role == Role::Baseline).and_then(parsed)
        } else {
            let examples = self.material.session.examples(self.resender.rule, self.finding.pair);
            let mut members = examples.iter().filter_map(|example| example.group.members.get(example.member));
            members.find_map(parsed)
        };
        model.unwrap_or_else(|| group.base.clone())
    }
}

/// The value with the members of every object in the order of a model, where that has them, and the others behind them.
fn in_the_order_of(value: &Value, model: &Value) -> Value {
    match (value, model) {
        (Value::Object(members), Value::Object(model)) => {
            let first = model.keys().filter(|name| members.contains_key(*name));
            let rest = members.keys().filter(|name| !model.contains_key(*name));
            let ordered = first.chain(rest).map(|name| {
                let model = model.get(name).unwrap_or(&Value::Null);
                (name.clone(), in_the_order_of(&members[name], model))
            });
            Value::Object(ordered.collect())
        }
        (Value::Array(items), Value::Array(model)) => {
            let item = |(index, item): (usize, &Value)| {
                in_the_order_of(item, model.get(index).unwrap_or(&Value::Null))
            };
            Value::Array(items.iter().enumerate().map(item).collect())
        }
        _ => value.clone(),
    }
}
