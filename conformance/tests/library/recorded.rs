//! Recorded traffic is judged as it would have been judged when it was sent: lawful targets break nothing, and what one exchange
//! shows to be broken is found.

use paymaster_conformance::{recorded::response_skip_reason, run};
use paymaster_engine::rules::Check;
use paymaster_engine::session::recorded::RecordedSession;
use paymaster_engine::verdict::conclusion::{Conclusion, Strictness, Verdict};
use paymaster_engine::verdict::summary::UnjudgedGroups;
use paymaster_fee_quote::learn::Learner;

use crate::*;

#[path = "../../specifications/fee-quote/tests/fee_quote/common/sample.rs"]
mod sample;

/// Keeps every exchange of a run.
#[derive(Default)]
struct Tape(Vec<Exchange>);

impl Reporter for Tape {
    fn event(&mut self, event: &Event<'_>) {
        if let Event::Exchanged(delivered) = event {
            // As the readers of recordings leave it out.
            let response = delivered.exchange.outcome.as_ref().ok();
            if response.is_none_or(|response| response_skip_reason(response).is_none()) {
                self.0.push(delivered.exchange.clone());
            }
        }
    }

    fn wants_exchanges(&self) -> bool {
        true
    }
}

/// A server that signs nothing: no rule over one exchange judges a signature, and signing takes a quarter of the time.
fn config() -> Config {
    let mut config = Config::default();
    config.signing.enabled = false;
    config
}

/// What a run against a server left on tape, and the rules over single exchanges that it broke.
async fn record(service: impl Respond) -> (Vec<Exchange>, BTreeSet<&'static str>, Profile) {
    let server = Embedded::serve(&config(), service).await.expect("a free port");
    let limits = Limits { timeout: Duration::from_secs(5), ..Limits::default() };
    let args = RunArgs {
        common: CommonArgs { seed: Some(3), ..CommonArgs::default() },
        cases: Some(5),
        jobs: Some(16),
        time_limit: Some(Duration::from_mins(2)),
        shrink_requests: Some(0),
        ..RunArgs::default()
    };
    let settings = Settings {
        closer_look: false,
        ..Settings::new(
            Transport::new(Target::parse(&server.url).expect("its own URL"), limits, &[]),
            server.url.clone(),
            server.profile(&SPECIFICATION),
            args,
        )
    };
    let mut tape = Tape::default();
    let outcome = run::check(&settings, &Suite::of(DEFAULT_SPECIFICATION), &Stop::default(), &mut tape).await;
    let profile = Context::of(&*server.profile(&SPECIFICATION)).profile.clone();
    server.stop().await;
    let broken = outcome
        .summary
        .rules
        .iter()
        .filter(|outcome| outcome.verdict.is_broken() && !matches!(outcome.rule.check, Check::Group(..)));
    (tape.0, broken.map(|outcome| outcome.rule.id).collect(), profile)
}

/// The rules that a recording breaks, stated ones apart.
fn judge(
    exchanges: &[Exchange],
    profile: &Profile,
    whole_first: bool,
) -> (BTreeSet<&'static str>, Vec<String>) {
    let mut session = RecordedSession::new(
        SPECIFICATION.rules().collect(),
        Arc::default(),
        Box::new(Learner::new(profile.clone())),
    );
    if whole_first {
        for exchange in exchanges {
            session.learn(exchange);
        }
    }
    for exchange in exchanges {
        if !whole_first {
            session.learn(exchange);
        }
        session.judge("here", exchange);
    }
    let (summary, _) =
        session.finish(String::new(), BTreeMap::default(), Strictness::default(), Duration::ZERO);
    let broken = || summary.rules.iter().filter(|outcome| outcome.verdict == Verdict::Failed);
    let stated = summary.findings.iter().filter(|finding| finding.basis == Basis::Stated);
    (
        broken().map(|outcome| outcome.rule.id).collect(),
        stated
            .map(|finding| format!("{}: {:?} {:?}", finding.rule.id, finding.violation, finding.exchanges))
            .collect(),
    )
}

#[test]
fn what_is_more_than_we_read_is_left_out_and_no_pass() {
    let request = sample::sponsor_request("pm_getFeeQuoteOrData").to_string();
    let answered = |body: String| {
        Exchange::new(
            request.clone(),
            Ok(Response { status: 200, headers: Vec::new(), body: body.into() }),
            Duration::ZERO,
        )
    };
    let deep = answered(format!("{}{}", "[".repeat(5_000), "]".repeat(5_000)));
    let fine = answered(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned());
    let id = SPECIFICATION.find_rule("answer.id").unwrap();
    let finish = |exchanges: &[&Exchange], strictness| {
        let mut session =
            RecordedSession::new(vec![id], Arc::default(), Box::new(Learner::new(Profile::default())));
        for exchange in exchanges {
            session.learn(exchange);
            assert!(session.judge("here", exchange).is_empty());
        }
        let skipped = BTreeMap::default();
        session.finish(String::new(), skipped, strictness, Duration::ZERO).0
    };
    let often = vec![&fine; usize::try_from(id.quota).unwrap()];
    let summary = finish(&often, Strictness::default());
    assert_eq!(summary.conclusion, Conclusion::NothingBroken);
    let with_deep = [often.as_slice(), &[&deep]].concat();
    let summary = finish(&with_deep, Strictness::default());
    assert_eq!(summary.conclusion, Conclusion::Incomplete);
    let [(reason, UnjudgedGroups { groups: 1, .. })] = &summary.unjudged.iter().collect::<Vec<_>>()[..]
    else {
        panic!("{:?}", summary.unjudged);
    };
    assert!(reason.ends_with("more than we read"), "{reason}");
    let allowing = Strictness { allow_incomplete: true, ..Strictness::default() };
    assert_eq!(finish(&with_deep, allowing).conclusion, Conclusion::NothingBroken);
}

/// Variants of every kind that a recording could mistake for a fault.
const LAWFUL: [&str; 6] = [
    "too-many-requests-answered",
    "sponsorship-refused",
    "version-2-0-refused",
    "unlisted-members-refused",
    "quotes-preferred-alone",
    "quotes-list-alone",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lawful_targets_break_no_stated_rule_whatever_is_known_of_them() {
    let mut wrong = Vec::new();
    for name in LAWFUL {
        let variant = find_variant(name).unwrap();
        let service = Service::new(&config()).unwrap();
        let service = InjectedService::from(service).with_variants([variant]);
        let (exchanges, _, profile) = record(service).await;
        assert!(exchanges.len() > 100, "{name}");
        for (said, profile, whole_first) in [
            ("known", &profile, true),
            ("unknown", &Profile::default(), true),
            ("unknown, as it passes", &Profile::default(), false),
        ] {
            let (_, stated) = judge(&exchanges, profile, whole_first);
            if !stated.is_empty() {
                wrong.push(format!("{name} ({said}): {stated:#?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A fault of each kind that one exchange shows: form, rows, tokens, errors, HTTP.
const FAULTS: [&str; 3] = ["id-number-as-string", "sponsored-call-string", "truncated-text"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_exchange_shows_is_found_in_the_recording() {
    for name in FAULTS {
        let fault = find_fault(name).unwrap();
        let service = Service::new(&config()).unwrap();
        let service = InjectedService::from(service).with_faults([fault]);
        let (exchanges, live, profile) = record(service).await;
        let (broken, _) = judge(&exchanges, &profile, true);
        assert!(!live.is_empty(), "{name} was not caught live");
        assert_eq!(live.difference(&broken).collect::<Vec<_>>(), Vec::<&&str>::new(), "{name}: {broken:?}");
    }
}
