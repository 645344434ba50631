//! Causes in the request: the members that decide.

use serde_json::Value;

use super::{Diagnosis, Search, circumstances::with_members, form::Plain, parsed, with_body};
use paymaster_engine::cases::{Group, Member, Role};
use paymaster_engine::diagnosis::{
    Cause, Contrast, Difference, DifferenceKind, Fewest, Finding, Narrowing, Respect, differences,
    is_about_the_kind, is_right_in_the_same_respect, with_all, written_like,
};
use paymaster_engine::json::{amount, escaped, with_value};
use paymaster_engine::knowledge::{Knowledge, Requirement};
use paymaster_engine::message::{Answer, ParsedRequest};
use paymaster_engine::rules::Violation;
use paymaster_engine::session::{Example, Outcome};
use paymaster_engine::specification::Places;
use paymaster_exchange::Exchange;

/// How many requests that may pass are tried.
const MOST_CANDIDATES: usize = 4;

/// How many differences are narrowed. With more, no single value decides.
const MOST_NARROWED: usize = 3;

/// How many members are named of which only all together decide.
const MOST_TOGETHER: usize = 2;

/// How many requests of the budget are kept for sending the result of a search once more.
const KEPT_FOR_THE_RESULT: u32 = 6;

/// What is changed in the group of a finding.
#[derive(Clone, Copy)]
pub(crate) enum Subject {
    /// One request.
    Member(usize),
    /// The base request, from which the group is built.
    Base,
}

impl Subject {
    pub(crate) fn value(self, group: &Group) -> Option<Value> {
        match self {
            Self::Member(index) => parsed(group.members.get(index)?),
            Self::Base => Some(group.base.clone()).filter(Value::is_object),
        }
    }

    pub(crate) fn with(self, group: &Group, value: Value, context: &dyn Knowledge) -> Option<Group> {
        match self {
            Self::Member(index) => with_body(group, index, &value),
            Self::Base => with_the_members_of(group, group.rebuilt(value, context)?),
        }
    }
}

fn is_lower_case(text: &str) -> bool {
    !text.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// The members of a rebuilt group that a group has, by role and label: shrinking may have left some out.
fn with_the_members_of(group: &Group, mut rebuilt: Group) -> Option<Group> {
    let mut all = rebuilt.members.drain(..);
    let mut members = Vec::with_capacity(group.members.len());
    for member in &group.members {
        members.push(all.find(|other| other.role == member.role && other.label == member.label)?);
    }
    drop(all);
    Some(Group { members, ..rebuilt })
}

impl Search<'_> {
    /// For a rule about single requests: the members that decide.
    pub(super) async fn members(&mut self) -> Option<Diagnosis> {
        let wrong = Subject::Member(self.finding.violation.member);
        let mut found: Option<Diagnosis> = None;
        let plain = self.plain_request(wrong).await;
        let form = match plain {
            Plain::Cause(diagnosis) if diagnosis.cause.members().len() == 1 => return Some(*diagnosis),
            Plain::Cause(diagnosis) => {
                found = Some(*diagnosis);
                None
            }
            Plain::AlsoBroken => None,
            Plain::NotJudged => self.changes_of_the_relation(),
        };
        let candidates = self.passing_requests(wrong);
        let is_without_candidates = candidates.is_empty();
        for passing in candidates {
            if let Some(diagnosis) = self.fewest_members(wrong, passing).await {
                let members = diagnosis.cause.members().len();
                if found.as_ref().is_none_or(|known| members < known.cause.members().len()) {
                    found = Some(diagnosis);
                }
                if members == 1 {
                    break;
                }
            }
        }
        let decisive = self.members_that_the_rule_is_about().await;
        for form in [form, decisive].into_iter().flatten() {
            if !self.holds_for_every_operation(wrong, &form).await || self.is_right_in_another(&form).await {
                continue;
            }
            if found.as_ref().is_none_or(|known| form.len() < known.cause.members().len()) {
                found = Some(Diagnosis::of(Cause::Form(form)));
            }
        }
        if found.is_none()
            && is_without_candidates
            && let Some(passing) = self.another_passing_request().await
        {
            found = self.fewest_members(wrong, passing).await;
        }
        if found.is_none()
            && let Some(passing) = wrong.value(&self.finding.group).and_then(with_id_of_other_type)
        {
            found = self.fewest_members(wrong, passing).await;
        }
        found
    }

    /// Whether a form that names the party, such as the sender, breaks the rule for another operation of that party too: otherwise an earlier
    /// request may decide.
    async fn holds_for_every_operation(&mut self, subject: Subject, form: &[Difference]) -> bool {
        let Places { party, once, .. } = self.places();
        if form.iter().all(|member| member.pointer != party) {
            return true;
        }
        let own = subject.value(&self.finding.group);
        let other = own.and_then(|own| self.renewed(&own, once));
        self.breaks_with(subject, other).await
    }

    /// Whether a request of the run for which the rule held is right with these values too.
    pub(super) async fn is_right_in_another(&mut self, form: &[Difference]) -> bool {
        const TRIED: usize = 2;
        let examples = self.material.session.tally.examples(self.resender.rule, self.finding.pair);
        let finding = self.finding;
        for example in examples.iter().filter(|example| may_be_right(finding, example)).take(TRIED) {
            let group = with_members(&example.group, &[example.member]);
            let own = group.as_ref().and_then(|group| parsed(&group.members[0])).filter(Value::is_object);
            let own = own.and_then(|own| form.iter().try_fold(own, |own, member| member.with_failing(&own)));
            if let Some(group) = group.zip(own).and_then(|(group, own)| with_body(&group, 0, &own))
                && let Some((exchanges, Outcome::Held)) = self.send(&group).await
                && is_right_in_the_same_respect(
                    &finding.violation.pointer,
                    &finding.exchanges[finding.violation.member],
                    &exchanges[0],
                    self.resender.context,
                )
            {
                return true;
            }
        }
        false
    }

    /// A request of the same method and mode for which the rule holds: one of the run, whatever rule it is an example of, or one that is
    /// drawn for this.
    async fn another_passing_request(&mut self) -> Option<Value> {
        const TRIED_OF_THE_RUN: usize = 4;
        const TRIED_OF_DRAWN: usize = 3;
        let finding = self.finding;
        let examples = self.material.session.tally.examples_of_any_rule();
        let of_the_run = examples
            .iter()
            .filter(|example| example.pair == self.finding.pair && may_be_right(finding, example))
            .map(|example| &*example.group)
            .filter(|group| group.members.len() == 1)
            .take(TRIED_OF_THE_RUN);
        let drawn = self
            .material
            .drawn
            .iter()
            .filter(|group| group.pair.is_some() && group.pair == self.finding.pair)
            .take(TRIED_OF_DRAWN);
        let context = self.resender.context;
        let failing = Subject::Member(self.finding.violation.member).value(&self.finding.group)?;
        for group in of_the_run.chain(drawn) {
            let request = group.members.first().and_then(parsed);
            let comparable = request.filter(|request| is_comparable(&failing, request, context));
            if let Some(request) = comparable
                && self.holds(group).await
            {
                return Some(request);
            }
        }
        None
    }

    /// Whether the known cause of another finding is the cause of this one too.
    pub(super) async fn same_as(&mut self, other: &Finding) -> Option<Diagnosis> {
        let Some(Cause::Members(differences)) = &other.cause else { return None };
        let group = &self.finding.group;
        let wrong = Subject::Member(self.finding.violation.member);
        let differs = |baseline: &Subject| {
            let both = wrong.value(group).zip(baseline.value(group));
            let differ = |(wrong, other): (Value, Value)| {
                differences
                    .iter()
                    .any(|member| wrong.pointer(&member.pointer) != other.pointer(&member.pointer))
            };
            both.is_some_and(differ)
        };
        // Where the requests that the rule compares differ in a member of the cause, their difference decides, and not the base.
        let baseline = self.baseline().map(Subject::Member).filter(differs);
        let of_groups = self.judges_groups().then(|| baseline.into_iter().chain([Subject::Base]));
        for subject in of_groups.into_iter().flatten().chain([wrong]) {
            let Some(value) = subject.value(group) else { continue };
            let is_in = |difference: &Difference| {
                let has_it = value.pointer(&difference.pointer).is_some();
                difference.is_in(&value) || difference.passing.is_none() && has_it
            };
            if !differences.iter().all(is_in) {
                continue;
            }
            let Some(passing) = with_all(&value, differences) else { continue };
            if let Some(contrast) = self.right(subject, passing).await {
                return Some(Diagnosis::with(Cause::Members(differences.clone()), contrast));
            }
        }
        None
    }

    /// The place of the request with which the rule compares the one that breaks it.
    fn baseline(&self) -> Option<usize> {
        let members = &self.finding.group.members;
        let stated = members.iter().position(|member| member.role == Role::Baseline);
        let first = || (members.len() > 1).then_some(0);
        stated.or_else(first).filter(|baseline| *baseline != self.finding.violation.member)
    }

    /// For a rule over a group: the members in which the request that breaks the rule differs from the one it is compared with.
    pub(super) async fn change_that_decides(&mut self) -> Option<Diagnosis> {
        let group = &self.finding.group;
        let subject = Subject::Member(self.finding.violation.member);
        let baseline = self.baseline()?;
        let (failing, mut passing) = (subject.value(group)?, Subject::Member(baseline).value(group)?);
        keep_id(&mut passing, &failing);
        if failing == passing {
            let own_id = Subject::Member(baseline).value(group)?;
            return self.fewest_members(subject, own_id).await;
        }
        if let Some(found) = self.fewest_members(subject, passing).await {
            return Some(found);
        }
        for mut passing in self.other_changes() {
            keep_id(&mut passing, &failing);
            if let Some(found) = self.fewest_members(subject, passing).await {
                return Some(found);
            }
        }
        None
    }

    /// The other changes that the relation makes to the base request: the rule may hold for them.
    fn other_changes(&self) -> Vec<Value> {
        let Finding { group, violation, .. } = self.finding;
        let (Some(wrong), Some(whole)) =
            (group.members.get(violation.member), group.rebuilt(group.base.clone(), self.resender.context))
        else {
            return Vec::new();
        };
        let is_other = |member: &&Member| member.role == wrong.role && member.label != wrong.label;
        whole.members.iter().filter(is_other).filter_map(parsed).take(MOST_CANDIDATES).collect()
    }

    /// Requests of the same method and mode for which the rule held, those with the fewest differences first; with the id of the failing
    /// request, then with their own. Those that got an answer of another kind are left out, unless the rule is about the kind: the rule
    /// held because of that.
    fn passing_requests(&self, subject: Subject) -> Vec<Value> {
        let Some(failing) = subject.value(&self.finding.group) else { return Vec::new() };
        let examples = self.material.session.tally.examples(self.resender.rule, self.finding.pair);
        let finding = self.finding;
        let mut requests: Vec<Value> = Vec::new();
        for example in examples.iter().filter(|example| may_be_right(finding, example)) {
            let request = example.group.members.get(example.member).and_then(parsed);
            let context = self.resender.context;
            requests.extend(request.filter(|request| is_comparable(&failing, request, context)));
        }
        // A request that must be answered in another way may be right for that reason alone.
        let context = self.resender.context;
        let own = requirement(&failing, context);
        requests.sort_by_cached_key(|request| {
            let is_other = requirement(request, context) != own;
            (is_other, differences(&failing, request, context.specification()).len())
        });
        let with_the_id = requests.iter().take(MOST_CANDIDATES).map(|request| {
            let mut request = request.clone();
            keep_id(&mut request, &failing);
            request
        });
        let mut candidates: Vec<Value> = Vec::new();
        for request in with_the_id.chain(requests.iter().take(MOST_CANDIDATES / 2).cloned()) {
            if !candidates.contains(&request) {
                candidates.push(request);
            }
        }
        candidates
    }

    /// The fewest members that must change in the failing value, towards a passing one, until the rule holds.
    pub(super) async fn fewest_members(&mut self, subject: Subject, passing: Value) -> Option<Diagnosis> {
        let finding = self.finding;
        let mut failing = subject.value(&finding.group)?;
        let all = differences(&failing, &passing, self.resender.context.specification());
        // Bodies and params of different shape have no members to compare.
        let is_whole = |difference: &Difference| matches!(difference.pointer.as_str(), "" | "/params");
        if all.is_empty()
            || all.iter().any(is_whole)
            || self.right(subject, with_all(&failing, &all)?).await.is_none()
        {
            return None;
        }
        let mut fewest = Fewest::new(all);
        while let Some(trial) = fewest.next_trial() {
            let Some(value) = with_all(&failing, &trial) else { continue };
            if self.right(subject, value).await.is_some() {
                fewest.was_enough(trial);
            }
        }
        let mut members = fewest.finish();
        let own = failing.clone();
        // Where one of several members is enough to break the rule, there are several causes: this is the first one.
        for index in 0..if members.len() > 1 { members.len() } else { 0 } {
            let others = members.iter().enumerate().filter(|(other, _)| *other != index);
            if let Some(alone) = with_all(&own, others.map(|(_, member)| member))
                && let Some(group) = subject.with(&finding.group, alone.clone(), self.resender.context)
                && self.breaks(&group).await.is_some()
            {
                (failing, members) = (alone, vec![members.swap_remove(index)]);
                break;
            }
        }
        if members.len() <= MOST_NARROWED {
            for index in 0..members.len() {
                self.narrow(subject, &failing, &mut members, index).await;
            }
            members = members.into_iter().flat_map(Difference::inside).collect();
        }
        if let [one] = &mut members[..] {
            one.respect = self.respect(subject, &failing, one).await?;
        }
        let smallest =
            members.iter().try_fold(failing.clone(), |value, member| member.with_failing(&value))?;
        let passing = with_all(&smallest, &members)?;
        let reproduction = if smallest == own {
            None
        } else {
            let group = subject.with(&finding.group, smallest, self.resender.context)?;
            Some(self.breaks(&group).await?)
        };
        let contrast = self.right(subject, passing).await?;
        Some(Diagnosis { reproduction, ..Diagnosis::with(Cause::Members(members), contrast) })
    }

    /// The cause that the known members decide together with more of them, towards a request that has the known ones and is right.
    pub(crate) async fn more_members(&mut self, known: &[Difference], right: Value) -> Option<Diagnosis> {
        if self.judges_groups() {
            return None;
        }
        let subject = Subject::Member(self.finding.violation.member);
        let found = self.fewest_members(subject, right).await?;
        let Cause::Members(more) = found.cause else { return None };
        let members: Vec<Difference> = known.iter().cloned().chain(more).collect();
        // Under some a target may keep answers, a list may be one of many, and method and kind decide what is judged: nearly any value of
        // these looks as if it decided too.
        let Places { subject: operation, party, once, bytes, kind, kept_under, .. } = self.places();
        let others = [operation, party, once, bytes, kind, "/id", "/method"];
        let is_other = |member: &Difference| {
            let mut pointers = others.iter().chain(kept_under);
            pointers.any(|pointer| *pointer == member.pointer)
        };
        if members.len() > MOST_TOGETHER || members.iter().any(is_other) {
            return None;
        }
        let group = found.reproduction.as_ref().map_or(&self.finding.group, |plainer| &plainer.group);
        let passing = with_all(&subject.value(group)?, &members)?;
        let contrast = self.right(subject, passing).await?;
        Some(Diagnosis { cause: Cause::Members(members), contrast: Some(contrast), ..found })
    }

    /// Whether requests of another party that is written in the same way are right, so that not the letter case decides: the target has kept
    /// something under one way of writing this party.
    async fn is_kept_under_a_spelling(
        &mut self,
        subject: Subject,
        failing: &Value,
        member: &Difference,
    ) -> bool {
        // A new address may have few letters.
        const TRIED: usize = 3;
        let party = self.places().party;
        // New addresses are in lower case. Those of a group are then written as its relation says.
        let is_in_lower_case = member.failing.as_ref().and_then(Value::as_str).is_some_and(is_lower_case);
        if member.pointer != party
            || member.kind() != DifferenceKind::LetterCase
            || !(self.judges_groups() || is_in_lower_case)
        {
            return false;
        }
        for _ in 0..TRIED {
            let group = if self.judges_groups() {
                self.renewed_group(party, &self.finding.group.base)
            } else {
                let other = self.renewed(failing, party);
                other.and_then(|other| subject.with(&self.finding.group, other, self.resender.context))
            };
            let Some(group) = group else { return false };
            if !matches!(self.send(&group).await, Some((_, Outcome::Held))) {
                return false;
            }
        }
        true
    }

    /// What of the only difference decides: the values, how long they are, or how much. None where a list as a whole decides.
    async fn respect(&mut self, subject: Subject, failing: &Value, member: &Difference) -> Option<Respect> {
        if member.element().is_some() {
            return self.respect_of_lists(subject, failing, member).await;
        }
        if self.is_kept_under_a_spelling(subject, failing, member).await {
            return None;
        }
        if let Some(other) = self.equal_member(subject, failing, member).await {
            return Some(Respect::EqualTo(other));
        }
        let (Some(wrong), Some(right)) = (&member.failing, &member.passing) else {
            return Some(Respect::Value);
        };
        let (respect, others) = match (wrong, right) {
            _ if member.kind() == DifferenceKind::Number => (Respect::Amount, further_amounts(wrong, right)),
            (Value::String(wrong), Value::String(right))
                if wrong.is_ascii() && wrong.starts_with(&**right) =>
            {
                (Respect::Length, of_the_lengths(wrong, right))
            }
            _ => return Some(Respect::Value),
        };
        for (is_wrong, other) in others {
            if self.is_wrong_with(subject, failing, member, &other).await != Some(is_wrong) {
                return Some(Respect::Value);
            }
        }
        Some(respect)
    }

    /// What decides of two lists of which one has one more element. With nearly every other element in the place of that one, the longer list may be
    /// as right or as wrong as it is: then their lengths decide where that is true of the shorter list too, and otherwise a list as a whole.
    async fn respect_of_lists(
        &mut self,
        subject: Subject,
        failing: &Value,
        member: &Difference,
    ) -> Option<Respect> {
        const TRIED: usize = 4;
        let (element, failing_is_longer) = member.element()?;
        let items = |value: &Option<Value>| value.as_ref()?.as_array().cloned();
        let (wrong, right) = (items(&member.failing)?, items(&member.passing)?);
        let (longer, shorter) = if failing_is_longer { (&wrong, &right) } else { (&right, &wrong) };
        let lists = self.material.drawn.iter().filter_map(|group| group.base.pointer(&member.pointer));
        let mut unused: Vec<&Value> = Vec::new();
        for item in lists.filter_map(Value::as_array).flatten() {
            if !longer.contains(item) && !unused.contains(&item) {
                unused.push(item);
            }
        }
        let place = longer.iter().position(|item| item == element).unwrap_or_default();
        let exchanged = |list: &[Value], place: usize, other: &Value| -> Value {
            let each = list.iter().enumerate();
            each.map(|(own, item)| if own == place { other.clone() } else { item.clone() }).collect()
        };
        let (mut longer_alike, mut shorter_alike) = (0, true);
        for other in unused.into_iter().take(TRIED) {
            let is_wrong =
                self.is_wrong_with(subject, failing, member, &exchanged(longer, place, other)).await;
            longer_alike += usize::from(is_wrong == Some(failing_is_longer));
            if !shorter.is_empty() {
                let is_wrong =
                    self.is_wrong_with(subject, failing, member, &exchanged(shorter, 0, other)).await;
                shorter_alike &= is_wrong == Some(!failing_is_longer);
            }
        }
        // One other element may be right, or wrong, for a reason of its own.
        if longer_alike + 1 < TRIED {
            return Some(Respect::Value);
        }
        shorter_alike.then_some(Respect::Length)
    }

    /// Whether the rule is broken or holds with another value of a member, whatever the budget allows. None where it is neither, or the request
    /// could not be sent.
    async fn is_wrong_with(
        &mut self,
        subject: Subject,
        failing: &Value,
        member: &Difference,
        value: &Value,
    ) -> Option<bool> {
        let value = member.with(failing, Some(value))?;
        let group = subject.with(&self.finding.group, value, self.resender.context)?;
        match self.send_freely(&group).await?.1 {
            Outcome::Broken(_) => Some(true),
            Outcome::Held => Some(false),
            Outcome::BrokenElsewhere(_) | Outcome::NotJudged => None,
        }
    }

    /// The other member with the amount that the only difference has in the failing request, where another amount in both breaks the rule too: that
    /// they are equal decides.
    async fn equal_member(
        &mut self,
        subject: Subject,
        failing: &Value,
        member: &Difference,
    ) -> Option<String> {
        let (parent, name) = member.pointer.rsplit_once('/').unwrap_or_default();
        let amount_of = |value: &Option<Value>| value.as_ref().and_then(amount);
        let (own, is_amount) = (amount_of(&member.failing), amount_of(&member.passing).is_some());
        let beside =
            failing.pointer(parent).and_then(Value::as_object).filter(|_| own.is_some() && is_amount);
        for other in
            beside.into_iter().flatten().filter(|(other, value)| *other != name && amount(value) == own)
        {
            let pointer = format!("{parent}/{}", escaped(other.0));
            let both = member.applied(failing);
            let both = both.and_then(|both| with_value(&both, &pointer, member.passing.as_ref()));
            if self.breaks_with(subject, both).await {
                return Some(pointer);
            }
        }
        None
    }

    /// Whether the rule is broken with this value.
    async fn breaks_with(&mut self, subject: Subject, value: Option<Value>) -> bool {
        let context = self.resender.context;
        let group = value.and_then(|value| subject.with(&self.finding.group, value, context));
        match group {
            Some(group) => self.breaks(&group).await.is_some(),
            None => false,
        }
    }

    /// Moves the values of one difference together. The others have their passing values meanwhile.
    async fn narrow(&mut self, subject: Subject, failing: &Value, members: &mut [Difference], index: usize) {
        let is_alone = members.len() == 1;
        let mut narrowing = Narrowing::new(members[index].clone());
        while let Some(value) = narrowing.next_value() {
            let others = members.iter().enumerate().filter(|(other, _)| *other != index);
            let context = self.resender.context;
            let candidate = with_all(failing, others.map(|(_, member)| member))
                .and_then(|rest| members[index].with(&rest, Some(&value)))
                .filter(|value| is_comparable(failing, value, context))
                .and_then(|value| subject.with(&self.finding.group, value, self.resender.context));
            let Some(group) = candidate else { continue };
            // The result must be sent once more.
            if self.budget.left() < KEPT_FOR_THE_RESULT {
                break;
            }
            match self.send(&group).await {
                None => break,
                Some((exchanges, Outcome::Held)) if self.is_same_respect(&exchanges) => narrowing.held(),
                Some((_, Outcome::Broken(_))) if is_alone => narrowing.broke(),
                Some(_) => {}
            }
        }
        members[index] = narrowing.finish();
    }

    /// Sends the requests with this value: the contrast where the rule holds, in the respect in which it is broken. Where another answer is
    /// due to the value, the rule would hold for that reason.
    pub(super) async fn right(&mut self, subject: Subject, value: Value) -> Option<Contrast> {
        let (finding, context) = (self.finding, self.resender.context);
        if !is_comparable(&subject.value(&finding.group)?, &value, context) {
            return None;
        }
        let group = subject.with(&finding.group, value, context)?;
        let (exchanges, outcome) = self.send(&group).await?;
        (outcome == Outcome::Held && self.is_same_respect(&exchanges)).then_some(Contrast {
            group,
            exchanges,
            member: finding.violation.member,
        })
    }

    /// Whether answers that do not break the rule are right in the respect in which those of the finding are wrong. For a rule that
    /// compares requests, the others must get answers of the same kind.
    pub(super) fn is_same_respect(&self, exchanges: &[Exchange]) -> bool {
        let Violation { member, pointer, .. } = &self.finding.violation;
        let mut pairs = self.finding.exchanges.iter().zip(exchanges).enumerate();
        pairs.all(|(place, (wrong, right))| match (self.judges_groups(), place == *member) {
            (false, true) => is_right_in_the_same_respect(pointer, wrong, right, self.resender.context),
            (true, false) => is_right_in_the_same_respect("/id", wrong, right, self.resender.context),
            _ => true,
        })
    }
}

/// Texts as long as the failing one with other last letters, a longer one, and texts as long as the passing one with other last letters; each with
/// whether it is wrong where the length decides.
fn of_the_lengths(wrong: &str, right: &str) -> Vec<(bool, Value)> {
    let with_end = |text: &str, end: &str| {
        let kept = text.len().saturating_sub(end.len()).max("0x".len()).min(text.len());
        Value::from(text[..kept].to_owned() + &end[..text.len() - kept])
    };
    vec![
        (true, with_end(wrong, "11")),
        (true, with_end(wrong, "f2")),
        (true, format!("{wrong}{}", "a7".repeat(32)).into()),
        (false, with_end(right, "11")),
        (false, with_end(right, "f2")),
    ]
}

/// Amounts beyond the failing one, and amounts beyond the passing one on the other side; each with whether it is wrong where the amount decides.
fn further_amounts(wrong: &Value, right: &Value) -> Vec<(bool, Value)> {
    let (Some(most), Some(least)) = (amount(wrong), amount(right)) else { return Vec::new() };
    let mut sides = [(true, most, wrong), (false, least, right)];
    if sides[0].1 < sides[1].1 {
        sides.reverse();
    }
    let [(above, most, like_most), (below, least, like_least)] = sides;
    let greater = [&most + 1_u8, &most * 2_u8 + 1_u8, &most * 3_u8];
    let smaller = [&least / 2_u8, &least / 3_u8];
    let greater = greater.iter().filter_map(|number| Some((above, written_like(like_most, number)?)));
    greater
        .chain(smaller.iter().filter_map(|number| Some((below, written_like(like_least, number)?))))
        .collect()
}

/// Whether the answer to an example is of the kind of the wrong one. For an error that should be another answer, any kind is right.
fn may_be_right(finding: &Finding, example: &Example) -> bool {
    let Violation { member, pointer, .. } = &finding.violation;
    finding.exchanges.get(*member).is_some_and(|wrong| {
        let got_error = Answer::of(wrong).error().is_some();
        got_error == example.got_error || got_error && is_about_the_kind(pointer, wrong)
    })
}

fn requirement(request: &Value, context: &dyn Knowledge) -> Option<Requirement> {
    let request = ParsedRequest::of(request.to_string().as_bytes(), context.specification());
    Some(context.requirement(request.valid_call()?))
}

/// Whether a request may show what decides in another one: both must be answered in the same way, a valid one is not compared with an
/// invalid one, and method and mode are the same.
pub(crate) fn is_comparable(failing: &Value, passing: &Value, context: &dyn Knowledge) -> bool {
    let is_valid = |request| requirement(request, context).is_some();
    let specification = context.specification();
    let pair = |request: &Value| ParsedRequest::of(request.to_string().as_bytes(), specification).pair();
    let is_other_pair = pair(failing).zip(pair(passing)).is_some_and(|(own, other)| own != other);
    // A notification rightly gets no answer, which shows nothing of a request with an id.
    let ids = |request: &Value| -> Vec<bool> {
        let elements = request.as_array().map_or(std::slice::from_ref(request), Vec::as_slice);
        elements.iter().map(|element| element.get("id").is_some()).collect()
    };
    let (own, others) = (ids(failing), ids(passing));
    own.iter().zip(&others).all(|(own, other)| own == other)
        && is_to_be_refused(failing, context) == is_to_be_refused(passing, context)
        && (is_valid(passing) || !is_valid(failing))
        && !is_other_pair
}

/// Whether a request is owed whatever another one is owed: a target may refuse what is long, unusual or not listed.
pub(crate) fn is_owed_as_much(own: &Value, other: &Value, context: &dyn Knowledge) -> bool {
    let Some(own) = requirement(own, context) else { return true };
    requirement(other, context).is_some_and(|other| {
        (other.within_tables || !own.within_tables)
            && (other.beyond.is_none() || own.beyond.is_some())
            && (other.expectation.requires_result() || !own.expectation.requires_result())
    })
}

/// Whether the operation of a request must not be sponsored.
fn is_to_be_refused(request: &Value, context: &dyn Knowledge) -> bool {
    context.lists_as_refused(request)
        || requirement(request, context).is_some_and(|own| own.expectation.forbids_grant())
}

/// The request with a text as its id in place of a number, or the other way round: clients send both.
fn with_id_of_other_type(mut request: Value) -> Option<Value> {
    let id = request.get_mut("id")?;
    *id = if id.is_number() { format!("call-{id}").into() } else { 1.into() };
    Some(request)
}

pub(super) fn keep_id(request: &mut Value, of: &Value) {
    if let (Some(id), Some(members)) = (of.get("id"), request.as_object_mut()) {
        members.insert("id".to_owned(), id.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use paymaster_exchange::Response;
    use paymaster_fee_quote::SPECIFICATION;
    use paymaster_fee_quote::target::context::Context;
    use serde_json::json;

    use super::*;

    fn exchange(request: &'static str, answer: &str) -> Exchange {
        let response = Response { status: 200, headers: Vec::new(), body: answer.to_owned().into() };
        Exchange::new(request, Ok(response), Duration::ZERO)
    }

    #[test]
    fn an_answer_is_right_in_the_respect_in_question_only() {
        let result = exchange("{}", r#"{"id":1,"result":{"feeQuotes":[{"decimal":6}]}}"#);
        let without_quotes = exchange("{}", r#"{"id":1,"result":{"feeQuotes":[]}}"#);
        let error = exchange("{}", r#"{"id":1,"error":{"code":-32602,"message":"no"}}"#);
        for (pointer, wrong, right, expected) in [
            ("/result/feeQuotes/3/decimal", &result, &result, true),
            ("/result/feeQuotes/0/decimal", &result, &without_quotes, false),
            ("/result/feeQuotes/0/decimal", &result, &error, false),
            ("/id", &error, &result, false),
            ("/id", &result, &without_quotes, true),
            // The kind of the answer is what is wrong.
            ("/error", &error, &result, true),
            ("/result", &result, &error, true),
            ("/error/code", &result, &error, true),
            ("", &error, &result, true),
        ] {
            let is_right = is_right_in_the_same_respect(pointer, wrong, right, &Context::default());
            assert_eq!(is_right, expected, "{pointer}: {wrong:?} beside {right:?}");
        }
    }

    #[test]
    fn declining_is_right_only_where_the_operation_is_to_be_refused() {
        const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"pm_sponsorUserOperation","params":[
            {"sender":"0x00000000000000000000000000000000000000aa","nonce":"1","initCode":"0x","callData":"0x","callGasLimit":"1",
             "verificationGasLimit":"1","preVerificationGas":"1","maxFeePerGas":"1","maxPriorityFeePerGas":"1"},
            {"mode":"SPONSORED","sponsorshipInfo":{"webhookData":{},"smartAccountInfo":{"name":"BICONOMY","version":"2.0.0"}}}]}"#;
        let data = |data: &str| {
            exchange(
                CALL,
                &json!({ "id": 1, "result": { "paymasterAndData": data, "callGasLimit": 1 } }).to_string(),
            )
        };
        let open = SPECIFICATION.unknown().expected();
        let refusing = "[operations]\nrefused-senders = [\"0x00000000000000000000000000000000000000aa\"]";
        let refusing = (SPECIFICATION.read_profile)(refusing).expect("it is a profile").expected();
        for (pointer, [wrong, right], knowledge, expected) in [
            ("/result/paymasterAndData", ["0xabc", "0xabcd"], &open, true),
            ("/result/paymasterAndData", ["0xabc", "0x"], &open, false),
            ("/result/paymasterAndData", ["0x", "0xabcd"], &open, true),
            ("/result/paymasterAndData", ["0xabcd", "0x"], &refusing, true),
            ("/result/callGasLimit", ["0xabcd", "0x"], &open, true),
        ] {
            let is_right = is_right_in_the_same_respect(pointer, &data(wrong), &data(right), &**knowledge);
            assert_eq!(is_right, expected, "{pointer}: {wrong} beside {right}");
        }
    }

    #[test]
    fn a_batch_with_fewer_ids_shows_nothing_and_a_shorter_one_does() {
        let (call, notification) = (json!({"jsonrpc": "2.0", "id": 1}), json!({"jsonrpc": "2.0"}));
        let both = json!([call, call]);
        for (passing, is_right_to_compare) in [
            (json!([call, notification]), false),
            (json!([notification, notification]), false),
            (json!([call]), true),
        ] {
            assert_eq!(is_comparable(&both, &passing, &Context::default()), is_right_to_compare, "{passing}");
        }
        assert!(!is_comparable(&call, &notification, &Context::default()));
    }
}
