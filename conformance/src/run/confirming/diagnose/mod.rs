//! Looks for the cause of a finding: what decides whether its rule is broken.
//!
//! The search sends variations of the smallest request within a budget, one group at a time, so that no other request of the run is in
//! flight. Every cause it returns was checked by sending the failing and the passing requests again.

pub(super) mod circumstances;
mod form;
mod left_behind;
pub(super) mod members;
mod writing;

use std::future::Future;
use std::pin::Pin;

use left_behind::in_no_order;
use serde_json::Value;

use crate::run::confirming::{Reproduction, RequestBudget, Resender};
use crate::run::replay::renewed;
use paymaster_engine::cases::{Group, Member};
use paymaster_engine::diagnosis::{Cause, Contrast, Finding, Sought};
use paymaster_engine::message::Answer;
use paymaster_engine::rules::Check;
use paymaster_engine::session::{Outcome, Session};
use paymaster_exchange::Exchange;

/// How often the requests of a cause and those of its contrast are sent again. Before, the finding was seen six times: with one wrong answer in
/// two by chance, one cause of 10^5 is chance.
const CONTROLS: usize = 6;

/// The cause of a finding.
pub(crate) struct Diagnosis {
    pub(crate) cause: Cause,
    pub(crate) contrast: Option<Contrast>,
    /// Requests that show the violation more plainly than those of the finding, where there are any.
    pub(crate) reproduction: Option<Reproduction>,
    /// Whether the budget was spent before every smaller request was tried.
    pub(crate) could_be_smaller: bool,
}

impl Diagnosis {
    pub(super) fn of(cause: Cause) -> Self {
        Self { cause, contrast: None, reproduction: None, could_be_smaller: false }
    }

    fn with(cause: Cause, contrast: Contrast) -> Self {
        Self { contrast: Some(contrast), ..Self::of(cause) }
    }
}

/// What a rule judges.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Judged {
    Requests,
    Groups,
}

/// One way to find a cause.
struct Strategy {
    /// The fewest requests of the budget with which it finds a cause. With less left, it is not tried.
    price: u32,
    /// What is judged by the rules that it is for; none where it is for all.
    judged: Option<Judged>,
    /// Whether what it finds can be chance, and is sent again.
    by_chance: bool,
    search: for<'s> fn(&'s mut Search<'_>, &'s [Finding]) -> Found<'s>,
}

type Found<'s> = Pin<Box<dyn Future<Output = Option<Diagnosis>> + 's>>;

impl Strategy {
    const fn new(price: u32, search: for<'s> fn(&'s mut Search<'_>, &'s [Finding]) -> Found<'s>) -> Self {
        Self { price, judged: None, by_chance: false, search }
    }

    const fn by_chance(self) -> Self {
        Self { by_chance: true, ..self }
    }

    const fn of(self, judged: Judged) -> Self {
        Self { judged: Some(judged), ..self }
    }
}

/// Every way to find the cause of what is wrong whenever its requests are sent, in the order in which they are tried: what an earlier request
/// or the circumstances decide looks as if any member of the request did.
const STRATEGIES: &[Strategy] = &[
    Strategy::new(1, |search, known| Box::pin(search.known_cause(known))),
    Strategy::new(1, |search, _| Box::pin(search.refused_value())),
    Strategy::new(0, |search, _| Box::pin(search.left_behind())),
    Strategy::new(1, |search, _| Box::pin(search.headers())).by_chance(),
    Strategy::new(1, |search, _| Box::pin(search.writing())).by_chance(),
    Strategy::new(2, |search, _| Box::pin(search.change_that_decides())).of(Judged::Groups).by_chance(),
    Strategy::new(1, |search, _| Box::pin(search.members())).of(Judged::Requests).by_chance(),
];

/// What a search compares with.
pub(crate) struct Material<'a> {
    /// The run, with requests for which the rules held.
    pub(crate) session: &'a Session,
    /// Calls that were drawn for the search.
    pub(crate) drawn: &'a [Group],
}

/// The search for the cause of one finding.
pub(crate) struct Search<'a> {
    resender: &'a Resender<'a>,
    material: &'a Material<'a>,
    finding: &'a Finding,
    budget: RequestBudget,
    /// Whether the requests of the finding were right when they were sent alone.
    pub(crate) sought: Sought,
}

impl<'a> Search<'a> {
    /// A search that may send as many requests as the limit says.
    pub(crate) fn new(
        resender: &'a Resender<'a>,
        material: &'a Material<'a>,
        finding: &'a Finding,
        limit: u32,
    ) -> Self {
        Self { resender, material, finding, budget: RequestBudget::new(limit), sought: Sought::Yes }
    }

    /// How many requests it has sent.
    pub(crate) fn spent(&self) -> u32 {
        self.budget.spent()
    }

    /// The cause. `known` are the findings whose causes are known already: most findings of a run share their cause with another one.
    pub(crate) async fn cause(&mut self, known: &[Finding]) -> Option<Diagnosis> {
        // The attempts of several findings were in flight at the same time. This one is alone, the second time after itself.
        let is_now_and_then = self.finding.reproduced() < self.finding.attempts.len();
        if is_now_and_then
            || self.breaks(&self.finding.group).await.is_none()
            || self.breaks(&self.finding.group).await.is_none()
        {
            if !is_now_and_then {
                self.sought = Sought::RightAlone;
            }
            return self.chance_or_concurrency(known).await;
        }
        for Strategy { price, judged, by_chance, search } in STRATEGIES {
            if judged.is_some_and(|judged| judged != self.judged()) || self.budget.left() < *price {
                continue;
            }
            if let Some(diagnosis) = search(self, known).await {
                let holds = !by_chance || self.is_no_chance(&diagnosis).await;
                return holds.then_some(diagnosis);
            }
        }
        None
    }

    /// Whether the requests of a cause break the rule each time, and those of its contrast never do.
    async fn is_no_chance(&mut self, diagnosis: &Diagnosis) -> bool {
        let finding = self.finding;
        let plainer = diagnosis.reproduction.as_ref();
        let failing = plainer.map_or(&finding.group, |plainer| &plainer.group);
        let member = plainer.map_or(finding.violation.member, |plainer| plainer.violation.member);
        match &diagnosis.contrast {
            Some(contrast) => {
                self.decides(failing, &contrast.group, None).await
                    && !self.is_right_when_longer(failing, member).await
                    && !self.is_right_as_new(failing, &diagnosis.cause).await
            }
            None => true,
        }
    }

    /// Whether the requests are right with other ids and nonces, apart from those that the cause names: then an earlier request decides, or
    /// chance that these values carry, such as the length of a signature over them. Where the cause names the party alone, a result that the rule
    /// does not judge is right too: what was wrong is no longer there.
    async fn is_right_as_new(&mut self, failing: &Group, cause: &Cause) -> bool {
        const TRIED: usize = 3;
        let party = self.places().party;
        let is_of_the_party = matches!(cause.members(), [member] if member.pointer == party);
        let has_result = |exchange: &Exchange| Answer::of(exchange).result().is_some();
        let is_kept = |place: &str| cause.members().iter().any(|member| member.pointer == place);
        let specification = self.resender.context.specification();
        for _ in 0..TRIED {
            let Some(new) = renewed(failing, &is_kept, false, specification) else { return false };
            match self.send_freely(&new).await {
                Some((_, Outcome::Held)) => return true,
                Some((exchanges, Outcome::NotJudged)) if is_of_the_party => {
                    return exchanges.iter().all(has_result);
                }
                _ => {}
            }
        }
        false
    }

    /// Whether white space makes a request right: then the length of its body decides, and no value in it.
    async fn is_right_when_longer(&mut self, failing: &Group, member: usize) -> bool {
        for space in ["{ ", "{  "] {
            let mut longer = failing.clone();
            let Some(own) = longer.members.get_mut(member) else { return false };
            let Some(rest) = own.body.strip_prefix(b"{") else { return false };
            own.body = [space.as_bytes(), rest].concat().into();
            if !self.holds(&longer).await {
                return false;
            }
        }
        true
    }

    /// Whether one group breaks the rule each time, with this member where one is given, and another group never does. Which of the two is sent
    /// first follows no order.
    async fn decides(&mut self, failing: &Group, passing: &Group, member: Option<usize>) -> bool {
        for is_failing in (0..CONTROLS).flat_map(in_no_order) {
            let group = if is_failing { failing } else { passing };
            let expected = match self.send_freely(group).await {
                Some((_, Outcome::Broken(violation))) => {
                    is_failing && member.is_none_or(|member| member == violation.member)
                }
                Some((_, Outcome::Held)) => !is_failing,
                _ => false,
            };
            if !expected {
                return false;
            }
        }
        true
    }

    /// The cause of one of these findings, where it is the cause of this one too.
    pub(crate) async fn known_cause(&mut self, known: &[Finding]) -> Option<Diagnosis> {
        for other in known {
            if let Some(diagnosis) = self.same_as(other).await {
                return Some(diagnosis);
            }
        }
        None
    }

    fn judged(&self) -> Judged {
        if self.judges_groups() { Judged::Groups } else { Judged::Requests }
    }

    /// Whether the rule judges a group as a whole.
    fn judges_groups(&self) -> bool {
        matches!(self.resender.rule.check, Check::Group(..))
    }

    /// Sends a group, where the budget allows it.
    async fn send(&mut self, group: &Group) -> Option<(Vec<Exchange>, Outcome)> {
        if self.budget.spend_on(group) { self.resender.send(group).await.ok() } else { None }
    }

    /// Sends a group whatever the budget allows. The number of these trials is limited.
    async fn send_freely(&mut self, group: &Group) -> Option<(Vec<Exchange>, Outcome)> {
        self.budget.add(group);
        self.resender.send(group).await.ok()
    }

    async fn holds(&mut self, group: &Group) -> bool {
        matches!(self.send(group).await, Some((_, Outcome::Held)))
    }

    async fn breaks(&mut self, group: &Group) -> Option<Reproduction> {
        let (exchanges, outcome) = self.send(group).await?;
        Some(Reproduction { group: group.clone(), exchanges, violation: outcome.broken()? })
    }
}

/// The body of a request as JSON; none where it is not what serde_json writes for it, so that a change would change more.
fn parsed(member: &Member) -> Option<Value> {
    let value: Value = serde_json::from_slice(&member.body).ok()?;
    (value.to_string().as_bytes() == &*member.body).then_some(value)
}

/// The group with another body for one request.
fn with_body(group: &Group, member: usize, body: &Value) -> Option<Group> {
    let mut changed = group.clone();
    changed.members.get_mut(member)?.body = body.to_string().into();
    Some(changed)
}
