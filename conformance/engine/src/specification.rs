//! A specification as the engine sees it: what is sent, what is judged, and what its members mean.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use std::{fmt, ptr};

use paymaster_schemas::{Definition, Document, Kind};
use serde_json::Value;

use crate::cases::{Base, BuildInput, Relation};
use crate::first_profile::Survey;
use crate::generate::Change;
use crate::knowledge::Knowledge;
use crate::load::LoadTest;
use crate::message::{Call, Called};
use crate::rules::{Observer, RowCheck, Rule};
use crate::spending::{SpendingLimits, Wei};

/// Names, as people read them, and values.
pub type DecidingValues<'a> = Vec<(&'static str, Cow<'a, str>)>;

/// A specification that plugs into the engine. What is known of one target is in its [`Knowledge`].
pub struct Specification {
    /// Its name in commands and reports.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its version, in words where it has none.
    pub version: &'static str,
    /// Where it is published.
    pub published: &'static str,
    /// Its documents, clauses, sections and readings.
    pub definition: &'static Definition,
    /// The kinds of its calls, in the order of its sections.
    pub kinds: &'static [Kind],
    /// Its rules, in groups, in the order of the reports.
    pub rules: &'static [&'static [Rule]],
    /// Its relations, in the order of the plan.
    pub relations: &'static [&'static Relation],
    /// Its observers.
    pub observers: &'static [Observer],
    /// The relation whose groups are ordinary calls, one each. It is in the plan too.
    pub calls: &'static Relation,
    /// The places of a request that causes and replays name.
    pub places: Places,
    /// The base requests that malformed bodies and batches are made of: those of calls that the target serves, the best first.
    pub plain_bases: &'static [Base],
    /// Reads what a profile says of a target, from TOML. Whoever read the file took the tables that are the same for every specification.
    pub read_profile: fn(&str) -> Result<Arc<dyn Knowledge>, ProfileError>,
    /// The tables of its profile with every key in a comment, to fill in. Lines with an example begin with `#:`.
    pub template: &'static str,
    /// Asks a target what a first profile can state, within these limits. The requests depend on a seed.
    pub survey: fn(u64, SpendingLimits) -> Box<dyn Survey>,
    /// Parts of a whole profile. A lawful server is accused with none of them.
    pub profile_parts: &'static [ProfilePart],
    /// What its page says beside sections, tables, clauses and readings.
    pub page: Page,
    /// Reads what [`Knowledge::saved`] wrote.
    pub restore: fn(&Value) -> Result<Arc<dyn Knowledge>, serde_json::Error>,
    /// The kind of call whose first results later ones are compared with, and the knowledge with such results as the first; none where nothing
    /// is compared with them.
    pub first_results: Option<(Kind, FirstResults)>,
    /// What a request with these members calls.
    pub called: fn(&Value) -> Called,
    /// Whether the specification shows the answer to a call that is not valid, so that the call is judged like a valid one.
    pub shows_answer: fn(&Call) -> bool,
    /// Whether the specification leaves open with which code a malformed call is refused.
    pub any_code: fn(&Call) -> bool,
    /// Whether a result grants what was asked for. A result may also refuse it.
    pub grants: fn(&Value) -> bool,
    /// Whether a target may refuse what it granted before, when it is asked for it again.
    pub refuses_repeats: bool,
    /// The line of the profile which says that the target serves calls of no kind but the others; none where no line says so.
    pub excluding_line: fn(&[Kind]) -> Option<&'static str>,
    /// The line of the profile for which an error that refuses every ordinary request asks by its words; none where it names none.
    pub line_asked_for: fn(&str) -> Option<&'static str>,
    /// What a request asks the target to pay, in wei, at most; none where it asks for no sponsorship.
    pub asks_for: fn(&Value) -> Option<Wei>,
    /// The sort of result that a call of a kind gets, in words.
    pub sort_of_kind: fn(Kind) -> &'static str,
    /// The sort of a result, in the same words; none where it shows none.
    pub sort_of_result: fn(&Value) -> Option<&'static str>,
    /// What the specification settles of a result: neither signature nor price nor time. None where it is no result.
    pub settled: fn(&Value) -> Option<Value>,
    /// A call of another kind with the same operation; none where too little is known of the target.
    pub sibling: fn(&BuildInput<'_>) -> Option<Value>,
    /// The base with an operation that the profile lists as refused; none where it lists none.
    pub refused: fn(&BuildInput<'_>) -> Option<Value>,
    /// What a target may decide by.
    pub deciding: fn(&Call) -> DecidingValues<'_>,
    /// An answer to the call that is right in form, at a time since 1970.
    pub right_answer: fn(&Call, Duration) -> Value,
    /// What shrinking may do at a place of a request.
    pub may_change: fn(&str) -> Change,
    /// Judges one row of a result table: document, member and expected value.
    pub check_row: RowCheck,
    /// Whether a member of that name is an amount, in whatever notation.
    pub is_amount: fn(&str) -> bool,
    /// The place of a request whose content the specification leaves to the service: it is compared as a whole.
    pub free_form: &'static str,
    /// Numbers of a request that may decide whether its answer is wrong, such as how many supported tokens it names.
    pub counts: fn(&Value, &dyn Knowledge) -> Vec<(Counted, usize)>,
    /// What a load test sends.
    pub load: &'static LoadTest,
}

/// Puts results, with the times at which they came, in place of the first ones that a knowledge compares later results with.
pub type FirstResults = fn(&dyn Knowledge, &[(&Value, Option<SystemTime>)]) -> Arc<dyn Knowledge>;

/// What a request has a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Counted {
    /// The part of the request that has them, as a JSON pointer; empty for the whole.
    pub pointer: &'static str,
    /// One of them, in words.
    pub what: &'static str,
}

impl Counted {
    /// The bytes of the request.
    pub const BYTES: Self = Self { pointer: "", what: "byte" };
    /// Whether its operation is one that the profile lists as refused: 1 or 0. The profile knows it, and no part of the request.
    pub const REFUSED: Self = Self { pointer: "", what: "refused operation" };
}

/// A part of a whole profile.
#[derive(Debug)]
pub struct ProfilePart {
    /// Its name, for people.
    pub name: &'static str,
    /// Whether it states an operation that the whole profile does not list.
    pub adds_operation: bool,
    /// What the part says of the target of which the whole profile is known.
    pub of: fn(&dyn Knowledge) -> Arc<dyn Knowledge>,
}

impl ProfilePart {
    /// A part that adds no operation.
    pub const fn new(name: &'static str, of: fn(&dyn Knowledge) -> Arc<dyn Knowledge>) -> Self {
        Self { name, adds_operation: false, of }
    }

    /// The part, which states an operation that the whole profile does not list.
    #[must_use]
    pub const fn adding_operation(self) -> Self {
        Self { adds_operation: true, ..self }
    }
}

/// What the page of a specification says beside its sections, tables, clauses and readings.
#[derive(Debug)]
pub struct Page {
    /// The beginning of the page, with its title, in Markdown.
    pub introduction: &'static str,
    /// When a member of a document must be present, where the document itself does not say it.
    pub required: fn(&Document, &str) -> String,
    /// What of a request of more than ordinary size may be refused, and why that size is the ordinary one.
    pub ordinary_sizes: fn() -> Vec<(String, &'static str)>,
}

/// Places of a request, as JSON pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Places {
    /// What each of the params is, for people.
    pub params: &'static [&'static str],
    /// What is asked for, as a whole.
    pub subject: &'static str,
    /// Who asks, as a text of 20 bytes in hex: a target may count or limit by it.
    pub party: &'static str,
    /// The amount within the subject that a client never sends twice.
    pub once: &'static str,
    /// Bytes in hex within the subject to which more can be added.
    pub bytes: &'static str,
    /// The parameter that selects a kind among those of a method.
    pub kind: &'static str,
    /// What the call says beside the subject.
    pub terms: &'static str,
    /// Texts and lists of texts within the terms under which a target may keep something.
    pub kept_under: &'static [&'static str],
    /// Places of requests and answers that hold one thing, whole in one kind and as a part in another: the whole, and the part.
    pub parts: &'static [(&'static str, &'static str)],
}

impl Places {
    /// The place of the whole where the pointer is that of a part, and the pointer else.
    pub fn whole_of(self, pointer: &str) -> &str {
        self.parts.iter().find(|(_, part)| *part == pointer).map_or(pointer, |(whole, _)| whole)
    }
}

/// Why a text is no profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProfileError {
    /// Where in the text, in bytes; none where the message names the entry.
    pub at: Option<usize>,
    /// What is wrong, in a line. It quotes no value that can be secret.
    pub message: String,
}

impl Specification {
    /// Name, title, version and place, in a line.
    pub fn line(&self) -> String {
        format!("{}: {}, {}, {}", self.name, self.title, self.version, self.published)
    }

    /// What is known of a target without a profile.
    ///
    /// # Panics
    ///
    /// Where a specification does not accept the empty profile: a test of each holds that it does.
    pub fn unknown(&self) -> Arc<dyn Knowledge> {
        (self.read_profile)("").expect("the empty profile states nothing")
    }

    /// Every rule, in the order of the reports.
    pub fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        self.rules.iter().copied().flatten()
    }

    /// The rule of that id.
    pub fn find_rule(&self, id: &str) -> Option<&'static Rule> {
        self.rules().find(|rule| rule.id == id)
    }

    /// How many rules are not selected. Rules about a chain do not count.
    pub fn left_out(&self, selected: &[&Rule]) -> usize {
        self.rules()
            .filter(|rule| !rule.needs_chain() && !selected.iter().any(|other| other.id == rule.id))
            .count()
    }

    /// The kind of calls of that name.
    pub fn find_kind(&self, name: &str) -> Option<Kind> {
        self.kinds.iter().copied().find(|kind| kind.name == name)
    }

    /// The methods, in the order of the kinds.
    pub fn methods(&self) -> Vec<&'static str> {
        let mut methods: Vec<&str> = self.kinds.iter().map(|kind| kind.method).collect();
        methods.dedup();
        methods
    }
}

impl PartialEq for Specification {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self, other)
    }
}

impl fmt::Debug for Specification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A specification for the tests of this crate. It has rules and kinds of another one, and knows nothing of requests but amounts.
#[cfg(test)]
#[expect(clippy::unimplemented, reason = "no test of this crate makes a first profile")]
pub(crate) static SAMPLE: Specification = Specification {
    name: "sample",
    title: "Sample",
    version: "1",
    published: "nowhere",
    definition: &paymaster_schemas::FEE_QUOTE,
    kinds: &paymaster_schemas::kinds::ALL,
    rules: &[
        crate::rules::answer_form::RULES,
        crate::rules::errors::RULES,
        &[
            Rule::sample("sponsored-result.MODE"),
            Rule::sample("sponsored-result.callGasLimit"),
            Rule::sample("sponsored-result.preVerificationGas"),
            Rule::sample("sponsored-result.verificationGasLimit"),
            Rule::sample("quote-result.feeQuotes"),
            Rule::sample("interoperability.mode-member"),
        ],
    ],
    relations: &[],
    observers: &[],
    calls: &crate::session::recorded::RECORDED,
    places: Places {
        params: &["the operation", "the terms"],
        subject: "",
        party: "",
        once: "",
        bytes: "",
        kind: "",
        terms: "",
        kept_under: &[],
        parts: &[("/result/whole", "/result/part"), ("/params/0/whole", "/params/0/part")],
    },
    plain_bases: &[],
    read_profile: |_| Err(ProfileError { at: None, message: String::new() }),
    template: "",
    survey: |_, _| unimplemented!("the tests know no target"),
    profile_parts: &[],
    page: Page { introduction: "", required: |_, _| String::new(), ordinary_sizes: Vec::new },
    restore: |_| Err(serde::de::Error::custom("the tests know no target")),
    first_results: None,
    called: |_| Called::Unknown,
    shows_answer: |_| false,
    any_code: |_| false,
    grants: |_| true,
    refuses_repeats: false,
    asks_for: |_| None,
    excluding_line: |_| None,
    line_asked_for: |_| None,
    sort_of_kind: |_| "a result",
    sort_of_result: |_| None,
    settled: |_| None,
    sibling: |_| None,
    refused: |_| None,
    deciding: |_| Vec::new(),
    right_answer: |_, _| Value::Null,
    may_change: |_| Change::Free,
    check_row: |_, _, _, _| (),
    is_amount: |name| name == "nonce" || name.contains("Gas"),
    free_form: "/params/1/sponsorshipInfo/webhookData",
    counts: |_, _| Vec::new(),
    load: &LoadTest { scenarios: &[], varying: &[], rules_of_times: &[] },
};
