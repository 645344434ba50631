//! Causes outside the members of the request: chance, requests in flight, earlier requests, request headers.

use std::{sync::Arc, time::Duration};

use futures_util::future::join_all;
use paymaster_engine::cases::{Group, Order};
use paymaster_engine::diagnosis::{Cause, Contrast, Difference, Fewest, Finding};
use paymaster_engine::session::{Example, Outcome};
use paymaster_exchange::{HeaderLine, HeaderSet, PLAIN_HEADERS};
use tokio::time::Instant;

use super::{Diagnosis, Search, parsed, with_body};
use crate::run::confirming::{MISSED_STEP, MOST_TRIES, Reproduction, Shrinker, Shrunk, code_of, tries_for};

/// How often a request that breaks its rule now and then is sent: one answer of 25 is seen in 49 of 50 searches.
const SENT_FOR_CHANCE: u32 = 100;

/// The probability with which a request that breaks its rule alone is taken for one that does so in company only.
const MISSED_ALONE: f64 = 0.01;

/// How long requests are sent alone.
const ALONE_AT_MOST: Duration = Duration::from_mins(1);

/// How many copies of a group are in flight to find out whether concurrency decides, and how often.
const COPIES: usize = 8;
const ROUNDS_OF_COPIES: usize = 4;
const ROUNDS_OF_COPIES_AGAIN: usize = 40;
/// How often requests that broke the rule in company are sent one after the other, and then in company again; and in how many orders each time.
/// Answers may change with the second in which they are given: that they did so each time as if company decided is unlikely. Where company
/// needs several rounds, more orders are tried: an error by chance would be seen in them.
const TURNS: usize = 3;
const ORDERS: usize = 4;
const ORDERS_A_ROUND: usize = 3;

impl Search<'_> {
    /// For a violation that not every attempt showed again. The requests are sent alone as often as the share that the run saw asks for; a rare
    /// one of a target that is known to mix answers up, only as often as chance asks for: it is no other defect.
    pub(super) async fn chance_or_concurrency(&mut self, known: &[Finding]) -> Option<Diagnosis> {
        let finding = self.finding;
        let share = finding.share?;
        let needed = tries_for(share.broken, share.judged, MISSED_ALONE);
        let mixes_up = known.iter().any(|other| matches!(other.cause, Some(Cause::Concurrency)));
        let asked = needed.unwrap_or(MOST_TRIES).max(SENT_FOR_CHANCE);
        let most = if mixes_up { SENT_FOR_CHANCE } else { asked };
        let (broken, sent) = self.seen_alone(&finding.group, most).await;
        if broken == 0 && mixes_up && asked > most {
            return None;
        }
        if broken == 0 {
            if let Some(diagnosis) = self.left_behind().await {
                return Some(diagnosis);
            }
            let is_right_alone = needed.is_some_and(|needed| sent >= needed);
            return if is_right_alone { self.concurrency().await } else { None };
        }
        if broken == sent {
            return self.company_of_its_own().await;
        }
        // One wrong answer is no share: what came before it may decide.
        if broken == 1 {
            return None;
        }
        // Any request of the group may have broken a rule about single requests: alone, each breaks it less often.
        let chances = if self.judges_groups() { 1 } else { finding.group.members.len() };
        let tries = tries_for(broken as usize, (sent as usize).saturating_mul(chances), MISSED_STEP);
        let shrunk = self.shrunk_now_and_then(tries.unwrap_or(MOST_TRIES)).await;
        // Fewer requests break the rule less often.
        let bodies =
            |group: &Group| group.members.iter().map(|member| member.body.clone()).collect::<Vec<_>>();
        let is_same = bodies(&shrunk.reproduction.group) == bodies(&finding.group);
        let seen =
            if is_same { (broken, sent) } else { self.seen_alone(&shrunk.reproduction.group, most).await };
        let (is_shrunk, (broken, sent)) =
            if (1..seen.1).contains(&seen.0) { (true, seen) } else { (false, (broken, sent)) };
        Some(Diagnosis {
            could_be_smaller: !(is_shrunk && shrunk.is_smallest),
            reproduction: is_shrunk.then_some(shrunk.reproduction),
            ..Diagnosis::of(Cause::Chance { broken, sent })
        })
    }

    /// How often requests that are sent alone break the rule, and how often they were sent: so many times at most. The second half goes over new
    /// connections: each may lead to another server.
    async fn seen_alone(&mut self, group: &Group, most: u32) -> (u32, u32) {
        let ends = Instant::now() + ALONE_AT_MOST;
        let (mut broken, mut sent) = (0, 0);
        while sent < most && Instant::now() < ends {
            if 2 * sent >= most {
                self.resender.sender.close_idle();
            }
            let Some((_, outcome)) = self.send_freely(group).await else { break };
            sent += 1;
            broken += u32::from(outcome.broken().is_some());
        }
        (broken, sent)
    }

    /// The smallest requests that break the rule now and then too: each step is sent so many times.
    async fn shrunk_now_and_then(&mut self, tries: u32) -> Shrunk {
        let finding = self.finding;
        let code = code_of(&finding.exchanges, &finding.violation);
        let shrinker = Shrinker { resender: self.resender, tries, kept: &[], code };
        let original = Reproduction {
            group: finding.group.clone(),
            exchanges: finding.exchanges.clone(),
            violation: finding.violation.clone(),
        };
        shrinker.shrink(original, &mut self.budget).await
    }

    /// Other requests of the run, each also with the party of the finding's requests: a target confuses requests of one method most easily,
    /// and those of one party.
    fn company(&self) -> Vec<Group> {
        let mut examples = self.material.session.tally.examples_of_any_rule();
        examples.retain(|example| example.group.members.len() == 1);
        let party = self.places().party;
        let own = self.subject().value(&self.finding.group);
        let own = own.and_then(|own| own.pointer(party).cloned());
        let specification = self.resender.context.specification();
        let same_party = Difference::new(party, None, own, specification);
        let of_party =
            |group: &Group| with_body(group, 0, &same_party.applied(&parsed(group.members.first()?)?)?);
        let mut places = [0, 0];
        examples.sort_by_cached_key(|example| {
            let place = &mut places[usize::from(example.pair == self.finding.pair)];
            *place += 1;
            *place
        });
        let both = |example: &Example| [Some(Group::clone(&example.group)), of_party(&example.group)];
        examples.iter().flat_map(both).flatten().collect()
    }

    /// Whether the rule is broken while other requests are in flight: copies of the group, and other requests of the run. Sent alone, it
    /// held.
    async fn concurrency(&mut self) -> Option<Diagnosis> {
        let company = self.company();
        let mut others = company.iter().cycle();
        let (mut groups, mut found, mut rounds) = (Vec::new(), None, 0);
        for turn in 0..=TURNS {
            let is_first = turn == 0;
            let orders = ORDERS.max(ORDERS_A_ROUND * rounds);
            if !is_first && !self.is_right_in_order(orders, &groups, &mut others).await {
                return None;
            }
            rounds = 0;
            for _ in 0..if is_first { ROUNDS_OF_COPIES } else { ROUNDS_OF_COPIES_AGAIN } {
                rounds += 1;
                if is_first {
                    let own = &self.finding.group;
                    groups = (0..COPIES).flat_map(|_| [Some(own), others.next()]).flatten().collect();
                }
                found = self.broken_in_company(&groups).await;
                if found.is_some() {
                    break;
                }
            }
            found.as_ref()?;
        }
        Some(Diagnosis { reproduction: Some(found?), ..Diagnosis::of(Cause::Concurrency) })
    }

    /// Sends these groups at the same time; the first that breaks the rule.
    async fn broken_in_company(&mut self, groups: &[&Group]) -> Option<Reproduction> {
        for group in groups {
            self.budget.add(group);
        }
        let resender = self.resender;
        // On connections that were idle, that may decide.
        resender.sender.close_idle();
        let results = join_all(groups.iter().map(|group| resender.send(group))).await;
        groups.iter().zip(results).find_map(|(group, result)| {
            let (exchanges, outcome) = result.ok()?;
            Some(Reproduction { group: Group::clone(group), exchanges, violation: outcome.broken()? })
        })
    }

    /// Whether requests that broke the rule in company never do one after the other, over new connections too. Otherwise what they are, their order
    /// or the server of a connection may decide.
    async fn is_right_in_order(
        &mut self,
        orders: usize,
        groups: &[&Group],
        others: &mut impl Iterator<Item = &Group>,
    ) -> bool {
        for round in 0..orders {
            // Requests in flight are answered in any order, and after others.
            let start = round * (COPIES - 1) % groups.len();
            let mut order: Vec<&Group> = [&groups[start..], &groups[..start]].concat();
            if round % 2 == 1 {
                order.reverse();
            }
            for group in order.into_iter().flat_map(|group| [Some(group), others.next()]).flatten() {
                self.budget.add(group);
                if 2 * round >= orders {
                    self.resender.sender.close_idle();
                }
                // An example of another rule may not be judged by this one.
                match self.resender.send_as(group, Order::Sequential).await {
                    Ok((_, Outcome::Held | Outcome::NotJudged)) => {}
                    Ok((_, Outcome::Broken(_) | Outcome::BrokenElsewhere(_))) | Err(_) => return false,
                }
            }
        }
        true
    }

    /// The header lines of a published client that decide. Shrinking has already tried the plain headers: the rule held with them.
    pub(super) async fn headers(&mut self) -> Option<Diagnosis> {
        let group = self.finding.group.clone();
        let set = group.members.get(self.finding.violation.member)?.sent_as.clone()?;
        // Where requests are compared, the others keep theirs.
        let wrong = self.judges_groups().then_some(self.finding.violation.member);
        let with = |set: Option<Arc<HeaderSet>>| {
            let mut group = group.clone();
            match wrong {
                Some(wrong) => group.members[wrong].sent_as = set,
                None => group = group.sent_as(set.as_ref()),
            }
            group
        };
        let plain = with(None);
        // A header that closes its connection leaves a new one to the next request: both are compared on new ones.
        self.resender.sender.close_idle();
        let Some((exchanges, Outcome::Held)) = self.send(&plain).await else { return None };
        let contrast = Contrast { group: plain, exchanges, member: self.finding.violation.member };
        let differing: Vec<HeaderLine> = set
            .lines
            .iter()
            .copied()
            .filter(|(name, value)| PLAIN_HEADERS.header(name) != Some(value))
            .collect();
        // How the client writes the names may decide. Otherwise, which of its lines are enough to break the rule.
        let decides = self.breaks(&with(Some(with_lines(&set, &differing)))).await.is_some();
        let mut fewest = Fewest::new(if decides { differing } else { Vec::new() });
        while let Some(trial) = fewest.next_trial() {
            if self.breaks(&with(Some(with_lines(&set, &trial)))).await.is_some() {
                fewest.was_enough(trial);
            }
        }
        Some(Diagnosis::with(Cause::Headers { client: set.name, lines: fewest.finish() }, contrast))
    }
}

/// The plain headers with these lines of a client in their places.
fn with_lines(set: &HeaderSet, chosen: &[HeaderLine]) -> Arc<HeaderSet> {
    let kept = PLAIN_HEADERS.lines.iter().filter(|(name, _)| !chosen.iter().any(|(other, _)| other == name));
    Arc::new(HeaderSet { lines: kept.chain(chosen).copied().collect(), ..HeaderSet::new(set.name, &[]) })
}

/// The group with these members alone.
pub(crate) fn with_members(group: &Group, kept: &[usize]) -> Option<Group> {
    let members: Option<Vec<_>> = kept.iter().map(|index| group.members.get(*index).cloned()).collect();
    Some(Group { members: members?, ..group.clone() })
}
