//! The report of a run: one value in plain names and texts, made once from the run ([`super::making`]) and without secrets from then on.
//!
//! `--report json` writes it, `compare` and `matrix` read it back, and every other format shows parts of it. What is not published in
//! the JSON report, whose schema is `report.schema.json` in the folder of this package, is marked `skip`.

use std::{collections::BTreeMap, time::Duration};

use indexmap::IndexMap;
use paymaster_engine::cases::Role;
use paymaster_engine::diagnosis::{KindShare, without_indices};
use paymaster_engine::rules::{count, fails_the_run};
use paymaster_engine::session::Original;
use paymaster_engine::verdict::{Conclusion, Counts, EntryState, Reached, RuleState, Verdict, VerdictLine};
use paymaster_schemas::Basis;
use paymaster_settings::escape_controls;
use paymaster_settings::output::Text;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::report::machine::profile_place::ProfilePlace;

/// Longer answer bodies are cut in the JSON report, in characters; it has their length.
const LONGEST_BODY: usize = 16 * 1024;

/// The report of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    pub(crate) format: String,
    pub(crate) tool: Tool,
    pub(crate) specification: ReportedSpecification,
    /// The URL of the target, secrets replaced.
    pub(crate) target: String,
    /// Whether the target is the embedded reference server.
    pub(crate) embedded: bool,
    /// What limits the whole run, each on one line.
    pub(crate) warnings: Vec<String>,
    pub(crate) seed: u64,
    pub(crate) strict: bool,
    pub(crate) conclusion: Conclusion,
    pub(crate) verdict: String,
    pub(crate) exit_code: u8,
    /// Why the run ended early.
    pub(crate) cut_short: Option<String>,
    pub(crate) requests: usize,
    pub(crate) took_ms: u64,
    pub(crate) recorded: Option<RecordedTraffic>,
    /// The answers to the valid requests of each kind of call, in the order of the specification.
    pub(crate) reached: IndexMap<String, Reached>,
    pub(crate) unjudged: Vec<Unjudged>,
    /// How many rules were not selected.
    pub(crate) left_out: usize,
    pub(crate) rules: Vec<JudgedRule>,
    pub(crate) findings: Vec<Finding>,
    /// Those that fail the run come first.
    pub(crate) defects: Vec<Defect>,
    pub(crate) known_failures: Vec<KnownFailure>,
    pub(crate) dialect: Map<String, Value>,
    /// For each observed clause, the values seen and how often.
    pub(crate) observations: BTreeMap<String, BTreeMap<String, u64>>,
    #[serde(skip)]
    pub(crate) details: Details,
}

/// What reports of a run show beside the published members.
#[derive(Clone, Debug, Default)]
pub(crate) struct Details {
    /// Name, title, version and place of the specification, in a line.
    pub(crate) specification: String,
    /// The file with the profile of the target.
    pub(crate) profile: Option<String>,
    pub(crate) took: Duration,
    /// Whether the target refused every ordinary request of a kind of call with the same message.
    pub(crate) is_refused: bool,
    /// Whether that message says that a key is missing or wrong.
    pub(crate) asks_for_key: bool,
    /// Whether the user interrupted the run.
    pub(crate) is_interrupted: bool,
    /// Lines of the profile that the target contradicts, as `tokens.supported[1]`.
    pub(crate) contradicted: Vec<String>,
    pub(crate) contradictions: Vec<Vec<Text>>,
    /// What the line of the profile is for that most inconclusive rules wait for, and the line.
    pub(crate) missing_line: Option<(String, String)>,
    /// The environment variables that must be exported before command lines work.
    pub(crate) exports: Option<String>,
    /// The user's own headers, with variables in place of secrets.
    pub(crate) own_headers: Vec<Header>,
    /// What was known about the target, as its specification writes it into replay files.
    pub(crate) known: Value,
}

/// The program that wrote a report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// What the target was judged by.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReportedSpecification {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) version: String,
    pub(crate) published: String,
}

/// Of recorded traffic: how many exchanges were judged, and how many entries were left out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RecordedTraffic {
    pub(crate) exchanges: u64,
    pub(crate) skipped: Vec<Skipped>,
}

/// Entries of recorded traffic that were left out, for one reason.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Skipped {
    pub(crate) reason: String,
    pub(crate) entries: u64,
}

/// Groups of requests that were not judged, for one reason.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Unjudged {
    pub(crate) reason: String,
    pub(crate) groups: usize,
    /// The shortest request of them.
    #[serde(default)]
    pub(crate) request: String,
    /// What is different about that request.
    #[serde(default)]
    pub(crate) label: String,
}

/// A rule and its verdict.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JudgedRule {
    pub(crate) id: String,
    pub(crate) clause: String,
    pub(crate) section: String,
    pub(crate) basis: String,
    /// What the clause states.
    pub(crate) text: String,
    pub(crate) verdict: Verdict,
    pub(crate) held: u64,
    pub(crate) broken: u64,
    pub(crate) quota: u64,
    pub(crate) reason: Option<String>,
    /// Where to look when it is broken.
    #[serde(skip)]
    pub(crate) hint: String,
    /// Whether a line of the profile would make it conclusive.
    #[serde(skip)]
    pub(crate) waits: bool,
}

/// A broken rule at one place. Requests and answers are not read back.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Finding {
    pub(crate) rule: String,
    pub(crate) clause: String,
    pub(crate) section: String,
    pub(crate) basis: String,
    pub(crate) verdict: Verdict,
    pub(crate) method: Option<String>,
    pub(crate) mode: Option<String>,
    /// JSON pointer into the answer.
    pub(crate) pointer: String,
    pub(crate) expected: String,
    pub(crate) actual: String,
    pub(crate) times: u64,
    pub(crate) share: Option<KindShare>,
    pub(crate) relation: String,
    /// Which of the requests is answered wrongly, from 0.
    pub(crate) member: usize,
    #[serde(skip_deserializing)]
    pub(crate) requests: Vec<Request>,
    #[serde(skip_deserializing, rename = "answers")]
    pub(crate) exchanges: Vec<Exchanged>,
    pub(crate) reproduced: usize,
    #[serde(skip_deserializing)]
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) shrink_requests: u32,
    pub(crate) could_be_smaller: bool,
    /// None where the body is too long for a command line, or has a secret.
    pub(crate) curl: Option<String>,
    pub(crate) replay_file: Option<String>,
    #[serde(skip)]
    pub(crate) details: FindingDetails,
}

/// What reports of a run show of a finding beside the published members.
#[derive(Clone, Debug, Default)]
pub(crate) struct FindingDetails {
    /// The kind of call, as `quote-erc20`; none where the request has none.
    pub(crate) call: Option<String>,
    /// The method, and the mode where there is one.
    pub(crate) call_in_words: Option<String>,
    pub(crate) cause: Option<Cause>,
    pub(crate) contrast: Option<Contrast>,
    /// The entry of the list of known failures that covers it.
    pub(crate) known: Option<KnownFailure>,
    /// Whether it was sent again with new ids and nonces.
    pub(crate) is_repeated_as_new: bool,
    /// Whether it is of recorded traffic. The label of its request then names the place in the recording.
    pub(crate) is_recorded: bool,
    /// The line of the profile that it is about.
    pub(crate) place: Option<ProfilePlace>,
    /// What to change in the answer.
    pub(crate) hint: String,
    /// The command line that replays it.
    pub(crate) replay: Option<String>,
    /// What a replay needs to show that it is fixed; none while the run goes on.
    pub(crate) original: Option<Original>,
    /// The kind of call and the round of the requests' relation.
    pub(crate) made_for: (Option<String>, u32),
}

/// A request of a finding.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Request {
    pub(crate) role: String,
    pub(crate) label: String,
    pub(crate) body: Body,
    /// The published client whose request headers were sent; none for the plain headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    /// These headers, without those that the user's own replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) headers: Option<Vec<Header>>,
}

/// A header without secrets.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// A body. As a member of the JSON report it is its text.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Body {
    /// Its text, secrets replaced, and what is not UTF-8 too.
    pub(crate) text: String,
    /// Base64 of a body that is not UTF-8 and has no secret.
    #[serde(skip)]
    pub(crate) base64: Option<String>,
    /// How many bytes it has.
    #[serde(skip)]
    pub(crate) bytes: usize,
    /// Whether a secret was replaced: the text is not what was sent then.
    #[serde(skip)]
    pub(crate) has_secret: bool,
}

/// A request that was sent, and what came back.
#[derive(Clone, Debug)]
pub(crate) struct Exchanged {
    pub(crate) request: Body,
    /// The published client whose request headers were sent.
    pub(crate) client: Option<String>,
    /// These headers.
    pub(crate) headers: Option<Vec<Header>>,
    /// A response, or why there is none.
    pub(crate) answer: Result<Response, String>,
    pub(crate) took: Duration,
}

/// An HTTP response.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<Header>,
    pub(crate) body: Body,
}

/// An attempt to reproduce a violation.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Attempt {
    pub(crate) broken: bool,
    pub(crate) actual: Option<String>,
    #[serde(rename = "answers")]
    pub(crate) exchanges: Vec<Exchanged>,
}

/// Findings with one cause. The first one is shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Defect {
    /// What is wrong, in a sentence without its full stop.
    pub(crate) headline: String,
    /// Whether it breaks a rule that fails the run.
    pub(crate) fails: bool,
    pub(crate) rules: Vec<String>,
    pub(crate) findings: Vec<usize>,
    pub(crate) links: Vec<Link>,
    pub(crate) cause: Option<Cause>,
    #[serde(skip_deserializing)]
    pub(crate) contrast: Option<Contrast>,
    /// Its number in the reports, from 1.
    #[serde(skip)]
    pub(crate) number: usize,
    /// `Defect 1`; `Warning 1` where it only warns: warnings have numbers of their own.
    #[serde(skip)]
    pub(crate) label: String,
    /// What decides, or that no cause was found and how many requests show it; none where no cause was looked for.
    #[serde(skip)]
    pub(crate) cause_in_words: Option<String>,
}

/// Why two findings are one defect.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Link {
    pub(crate) findings: [usize; 2],
    pub(crate) reason: String,
}

/// What decides whether a rule is broken.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cause {
    pub(crate) kind: String,
    pub(crate) text: String,
    pub(crate) members: Vec<CauseMember>,
    /// With what the rule held; empty where no request was compared.
    #[serde(skip)]
    pub(crate) right: String,
    /// Whether the rule judges several requests, so that either of two answers may be wrong.
    #[serde(skip)]
    pub(crate) compares: bool,
    /// Whether the members have values for which the rule held.
    #[serde(skip)]
    pub(crate) is_compared: bool,
    /// Whether the order of members or white space decides.
    #[serde(skip)]
    pub(crate) is_writing: bool,
}

/// A member of a request that decides. A value is missing where the member is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CauseMember {
    /// Its name, for people.
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) pointer: String,
    /// What of the values decides, where they do not decide themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) respect: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failing: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) passing: Option<Value>,
}

/// The nearest requests that do not break a rule.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Contrast {
    /// The request to compare with the one that breaks it, from 0.
    pub(crate) member: usize,
    pub(crate) requests: Vec<Request>,
    #[serde(rename = "answers")]
    pub(crate) exchanges: Vec<Exchanged>,
}

/// An entry of the list of known failures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KnownFailure {
    pub(crate) list: String,
    pub(crate) rule: String,
    pub(crate) method: Option<String>,
    pub(crate) mode: Option<String>,
    pub(crate) pointer: Option<String>,
    pub(crate) reason: String,
    pub(crate) owner: String,
    pub(crate) expires: String,
    /// Its state after the run.
    pub(crate) state: EntryState,
    /// What it names, in words.
    #[serde(skip)]
    pub(crate) scope: String,
    /// What to do about an entry that fails the run; the state of any other, in words.
    #[serde(skip)]
    pub(crate) advice: String,
}

impl Report {
    /// The specification and the other one of two reports, where these differ.
    pub(crate) fn compared_with(&self, other: &Self) -> Result<(), String> {
        let (own, others) = (&self.specification.name, &other.specification.name);
        let other_one = || {
            format!("one report is about {own}, another about {others}: compare reports of one specification")
        };
        (own == others).then_some(()).ok_or_else(other_one)
    }

    /// Whether a broken rule fails the run.
    pub(crate) fn fails(&self, rule: &JudgedRule) -> bool {
        fails_the_run(rule.basis(), self.strict)
    }

    /// The state of a rule: its verdict, and whether it fails the run.
    pub(crate) fn state(&self, rule: &JudgedRule) -> RuleState {
        RuleState::of_verdict(rule.verdict, self.fails(rule))
    }

    /// The counts.
    pub(crate) fn counts(&self) -> Counts {
        Counts::of_states(self.rules.iter().map(|rule| self.state(rule)))
    }

    /// The verdict in words.
    pub(crate) fn verdict_line(&self) -> VerdictLine {
        VerdictLine {
            contradicted: self.details.contradicted.clone(),
            conclusion: self.conclusion,
            counts: self.counts(),
            defects: self.defects.iter().filter(|defect| defect.fails).count(),
            left_out: self.left_out,
            no_result: Reached::is_without_result(self.reached.values()),
            cut_short: self.cut_short.as_deref().map(escape_controls),
            unjudged: self.unjudged.iter().map(|unjudged| unjudged.groups).sum(),
            known: self.known_failures.iter().map(|known| known.state).collect(),
        }
    }

    /// The rule of that id.
    pub(crate) fn rule(&self, id: &str) -> Option<&JudgedRule> {
        self.rules.iter().find(|rule| rule.id == id)
    }

    /// The defect that has this finding.
    pub(crate) fn defect_of(&self, finding: usize) -> Option<&Defect> {
        self.defects.iter().find(|defect| defect.findings.contains(&finding))
    }

    /// The finding that a defect shows.
    pub(crate) fn shown(&self, defect: &Defect) -> Option<&Finding> {
        self.findings.get(*defect.findings.first()?)
    }

    /// The rules that a defect breaks.
    pub(crate) fn rules_of<'a>(&'a self, defect: &'a Defect) -> impl Iterator<Item = &'a JudgedRule> {
        defect.rules.iter().filter_map(|id| self.rule(id))
    }

    /// `breaks 3 rules`; where some of them do not fail the run, `breaks 1 rule, and 2 that only warn`. The verdict counts the others.
    pub(crate) fn extent(&self, defect: &Defect) -> String {
        let breaks = |rules| format!("breaks {}", count(rules as u128, "rule"));
        let warn = |rules| if rules == 1 { "warns" } else { "warn" };
        let failing = self.rules_of(defect).filter(|rule| self.fails(rule)).count();
        match (failing, defect.rules.len() - failing) {
            (failing, 0) => breaks(failing),
            (0, warned) => format!("{} that only {}", breaks(warned), warn(warned)),
            (failing, warned) => format!("{}, and {warned} that only {}", breaks(failing), warn(warned)),
        }
    }

    /// Headline, cause and broken rules of a defect, a line each.
    pub(crate) fn lines(&self, defect: &Defect) -> Vec<String> {
        let cause = defect.cause_in_words.as_ref().map(|cause| format!("cause: {cause}"));
        let extent = format!("{}: {}", self.extent(defect), defect.rules.join(", "));
        [Some(defect.headline.clone()), cause, Some(extent)].into_iter().flatten().collect()
    }

    /// The rules of that state that no defect explains: a run without confirmation has no findings.
    pub(crate) fn unexplained(&self, state: RuleState) -> Vec<&JudgedRule> {
        let is_explained =
            |rule: &JudgedRule| self.defects.iter().any(|defect| defect.rules.contains(&rule.id));
        self.rules.iter().filter(|rule| self.state(rule) == state && !is_explained(rule)).collect()
    }

    /// The entries of the list of known failures that fail the run, and the others.
    pub(crate) fn stale_and_known(&self) -> (Vec<&KnownFailure>, Vec<&KnownFailure>) {
        self.known_failures.iter().partition(|known| known.state.fails_the_run())
    }
}

impl Defect {
    /// The id of its part of the HTML page.
    pub(crate) fn anchor(&self) -> String {
        self.label.to_lowercase().replace(' ', "-")
    }
}

impl KnownFailure {
    /// What to do about an entry that fails the run; of any other, its state, reason, owner and end.
    pub(crate) fn in_words(&self) -> String {
        let Self { advice, reason, owner, expires, .. } = self;
        if self.state.fails_the_run() {
            return escape_controls(advice);
        }
        escape_controls(&format!("{advice}: {reason} ({owner}, until {expires})"))
    }
}

impl JudgedRule {
    /// The basis of its clause. An unknown name counts as a basis that cannot fail a run.
    pub(crate) fn basis(&self) -> Basis {
        let known = Basis::ALL.into_iter().find(|basis| basis.into_str() == self.basis);
        known.unwrap_or(Basis::NotShown)
    }
}

impl Finding {
    /// The place of the violation, the same in every run: the call, and the pointer with every index replaced by `*`.
    pub(crate) fn place(&self) -> String {
        let call = match (&self.method, &self.mode) {
            (Some(method), Some(mode)) => format!("{method} in mode {mode}"),
            _ => "any request".to_owned(),
        };
        match without_indices(&self.pointer).as_str() {
            "" => call,
            pointer => format!("{call}, {pointer}"),
        }
    }

    /// The place in the answer at which the rule is broken.
    pub(crate) fn at(&self) -> &str {
        if self.pointer.is_empty() { "the whole answer" } else { &self.pointer }
    }

    /// The places of the request to compare with and of the one that is answered wrongly, which may be the same.
    pub(crate) fn first_and_wrong(&self) -> Vec<usize> {
        let baseline = self.requests.iter().position(|request| request.role == Role::Baseline.into_str());
        let mut places = vec![baseline.unwrap_or(0), self.member];
        places.dedup();
        places
    }

    /// Whether no attempt broke the rule again.
    pub(crate) fn is_flaky(&self) -> bool {
        !self.attempts.is_empty() && self.reproduced == 0
    }

    /// The members of the request that decide, as JSON pointers.
    pub(crate) fn deciding(&self) -> Vec<&str> {
        let members = self.details.cause.iter().flat_map(|cause| &cause.members);
        members.map(|member| member.pointer.as_str()).collect()
    }
}

impl Exchanged {
    /// The answer on one line: status and body, or why there is no answer.
    pub(crate) fn line(&self) -> String {
        match &self.answer {
            Ok(response) => {
                let body = response.body.text.as_str();
                let body = if body.is_empty() { "(empty body)" } else { body.trim() };
                format!("HTTP {}  {body}", response.status)
            }
            Err(failure) => failure.clone(),
        }
    }
}

/// The answer alone, as the JSON report publishes it.
impl Serialize for Exchanged {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let published = match &self.answer {
            Ok(Response { status, body, .. }) => {
                let shown: String = body.text.chars().take(LONGEST_BODY).collect();
                json!({"status": status, "body": shown, "bytes": body.bytes})
            }
            Err(failure) => json!({"failure": failure}),
        };
        published.serialize(serializer)
    }
}
