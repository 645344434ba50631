use std::time::Duration;

use paymaster_conformance::{exchange::Response, run::profile_of};
use paymaster_reference_server::{Config, Service, faults, find_fault, variants};

use super::*;
use crate::{
    corpus::Draws,
    scenarios::{Mix, Weights},
};

fn exchange(service: &Service, entry: &Entry, number: u64) -> Exchange {
    let request = entry.body(number, None);
    let reply = service.handle_bytes(&request, 1_800_000_000 + number);
    Exchange {
        on_chain: None,
        request,
        outcome: Ok(Response {
            status: reply.status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: reply.body.unwrap_or_default().into(),
        }),
        took: Duration::from_millis(1),
    }
}

fn mix(context: &Context) -> Mix {
    Mix::new("mixed", &Weights::new(), &mut Draws::new(context, 1, 6))
        .unwrap()
        .0
}

fn service() -> Service {
    let mut config = Config::default();
    config.signing.enabled = false;
    Service::new(&config).unwrap()
}

/// The verdict of the rules alone, without anything remembered.
fn by_the_rules(judging: &Judging, exchange: &Exchange, entry: &Entry) -> Outcome {
    judging.judge(exchange, entry, None).0
}

/// Looks at a few hundred answers of a service in both ways, and counts the wrong ones.
fn both_ways(service: &Service, judging: &Judging, mix: &Mix, name: &str) -> usize {
    let mut scratch = Vec::new();
    let mut wrong = 0;
    for number in 0..240_u64 {
        // The same entries come again and again, so that most are remembered.
        for entry in mix.chain(number % 24) {
            let exchange = exchange(service, entry, number);
            let sent = Sent {
                entry,
                number,
                token: None,
            };
            let (told, judged, _) = judging.look(&exchange, sent, &mut scratch);
            let expected = by_the_rules(judging, &exchange, entry);
            assert_eq!(told, expected, "{name}: {:?}", exchange.outcome);
            assert!(judged || told != Outcome::Wrong);
            wrong += usize::from(told == Outcome::Wrong);
        }
    }
    wrong
}

#[test]
fn a_sound_server_is_sound_and_remembered() {
    let context = Context::new(profile_of(&Config::default()));
    let mix = mix(&context);
    let judging = Judging::new(context, Share::ALL, false);
    assert_eq!(both_ways(&service(), &judging, &mix, "sound"), 0);
    let remembered = |number| {
        let entries = mix.chain(number);
        entries
            .iter()
            .all(|entry| !entry.sound.read().unwrap().is_empty())
    };
    let of_24 = (0..24).filter(|number| remembered(*number)).count();
    assert!(
        of_24 >= 20,
        "only {of_24} of 24 requests have answers that are remembered"
    );
}

#[test]
fn what_is_remembered_changes_no_verdict_whatever_the_fault() {
    let context = Context::new(profile_of(&Config::default()));
    let mix = mix(&context);
    let judging = Judging::new(context, Share::ALL, true);
    both_ways(&service(), &judging, &mix, "sound");
    let mut caught = 0;
    for fault in faults() {
        let service = service().with_faults(vec![fault]);
        caught += usize::from(both_ways(&service, &judging, &mix, fault.name) > 0);
    }
    for variant in variants() {
        both_ways(
            &service().with_variants(vec![variant]),
            &judging,
            &mix,
            variant.name,
        );
    }
    assert!(caught >= 60, "only {caught} faults showed in a load");
}

#[test]
fn a_wrong_answer_in_25_is_about_4_percent() {
    let context = Context::new(profile_of(&Config::default()));
    let (mix, _) = Mix::new(
        "sponsor-sponsored",
        &Weights::new(),
        &mut Draws::new(&context, 1, 6),
    )
    .unwrap();
    let judging = Judging::new(context, Share::ALL, false);
    let fault = find_fault("result-true-now-and-then").unwrap();
    let wrong = both_ways(&service().with_faults(vec![fault]), &judging, &mix, fault.name);
    assert!((5..=15).contains(&wrong), "{wrong} of 240");
}

#[test]
fn an_answer_to_another_request_is_wrong() {
    let context = Context::new(profile_of(&Config::default()));
    let mix = mix(&context);
    let judging = Judging::new(context, Share::ALL, false);
    let service = service();
    let mut scratch = Vec::new();
    let entry = &mix.chain(0)[0];
    for crossed in [false, true] {
        let mut exchange = exchange(&service, entry, 5);
        if crossed {
            exchange.request = entry.body(6, None);
        }
        let sent = Sent {
            entry,
            number: if crossed { 6 } else { 5 },
            token: None,
        };
        let (outcome, _, seen) = judging.look(&exchange, sent, &mut scratch);
        assert_eq!(outcome == Outcome::Wrong, crossed);
        assert_eq!(
            seen.broken.map(|(rule, _)| rule.id),
            crossed.then_some("answer.id")
        );
    }
}

#[test]
fn without_an_answer_there_is_nothing_to_judge() {
    let context = Context::new(profile_of(&Config::default()));
    let mix = mix(&context);
    let judging = Judging::new(context, Share::ALL, false);
    let entry = &mix.chain(0)[0];
    let refused = |status: u16, header: Option<&str>| {
        Ok(Response {
            status,
            headers: header
                .map(|value| ("retry-after".to_owned(), value.to_owned()))
                .into_iter()
                .collect(),
            body: "busy".into(),
        })
    };
    for (outcome, expected) in [
        (Err(Failure::Broken("x".to_owned())), Outcome::Transport),
        (Err(Failure::Connect("x".to_owned())), Outcome::Transport),
        (
            Err(Failure::Timeout {
                waiting_for: "response head",
                after: Duration::from_secs(1),
            }),
            Outcome::Timeout,
        ),
        (refused(429, None), Outcome::RateLimited),
        (refused(503, Some("1")), Outcome::RateLimited),
        (refused(503, None), Outcome::Refused),
        (refused(403, None), Outcome::Refused),
        (refused(200, None), Outcome::Wrong),
        (refused(500, None), Outcome::Wrong),
    ] {
        let exchange = Exchange {
            on_chain: None,
            request: entry.body(0, None),
            outcome,
            took: Duration::ZERO,
        };
        let sent = Sent {
            entry,
            number: 0,
            token: None,
        };
        let told = judging.look(&exchange, sent, &mut Vec::new()).0;
        assert_eq!(told, expected, "{:?}", exchange.outcome);
    }
}

#[test]
fn a_share_is_exact_and_spread() {
    for (text, of_1000) in [
        ("10%", 100),
        ("all", 1_000),
        ("none", 0),
        ("33.3%", 333),
        ("100%", 1_000),
    ] {
        let share = Share::parse(text).unwrap();
        let taken = (0..1_000).filter(|number| share.takes(*number)).count();
        assert!(taken.abs_diff(of_1000) <= 1, "{text}: {taken}");
    }
    for text in ["10", "101%", "-1%", "", "NaN%"] {
        assert!(Share::parse(text).is_err(), "{text}");
    }
}
