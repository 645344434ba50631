use std::time::Duration;

use paymaster_cli::embedded::{Embedded, profile_of};
use paymaster_client::{
    target::Target,
    transport::{Limits, PooledConnection, Transport},
};
use paymaster_exchange::Response;
use paymaster_reference_server::{
    Config, Fault, InjectedService, Service, Variant, faults, find_fault, variants,
};

use super::*;
use crate::{
    corpus::Draws,
    scenarios::{Mix, Weights},
};

/// A server with these deviations, and a line to it.
struct Server {
    embedded: Embedded,
    transport: Transport,
    line: PooledConnection,
}

impl Server {
    async fn start(faults: Vec<&'static Fault>, variants: Vec<&'static Variant>) -> Self {
        let mut config = Config::default();
        config.signing.enabled = false;
        let service = Service::new(&config).unwrap();
        let service = InjectedService::from(service)
            .with_variants(variants)
            .with_faults(faults);
        let embedded = Embedded::serve(&config, service).await.unwrap();
        // Some faults never answer.
        let limits = Limits {
            timeout: Duration::from_millis(500),
            ..Limits::default()
        };
        let transport = Transport::new(Target::parse(&embedded.url).unwrap(), limits, &[]);
        Self {
            embedded,
            transport,
            line: PooledConnection::default(),
        }
    }

    async fn exchange(&mut self, entry: &Entry, number: u64) -> Exchange {
        self.line
            .exchange(&self.transport, entry.body(number, None))
            .await
    }
}

fn mix(context: &Context) -> Mix {
    Mix::new("mixed", &Weights::new(), &mut Draws::new(context, 1, 6))
        .unwrap()
        .0
}

/// The verdict of the rules alone, without anything remembered.
fn by_the_rules(judging: &Judging, exchange: &Exchange, entry: &Entry) -> Outcome {
    judging.judge(exchange, entry, None).0
}

/// Looks at answers of a server in both ways, and counts the wrong ones.
async fn both_ways(server: &mut Server, judging: &Judging, mix: &Mix, times: u64, name: &str) -> usize {
    let mut scratch = Vec::new();
    let mut wrong = 0;
    for number in 0..times {
        // The same entries come again and again, so that most answers are remembered.
        for entry in mix.chain(number % 12) {
            let exchange = server.exchange(entry, number).await;
            let sent = Sent {
                entry,
                number,
                token: None,
            };
            let (told, judged, _) = judging.look(&exchange, sent, &mut scratch);
            if !told.is_answer() {
                continue;
            }
            let expected = by_the_rules(judging, &exchange, entry);
            assert_eq!(told, expected, "{name}: {:?}", exchange.outcome);
            assert!(judged || told != Outcome::Wrong);
            wrong += usize::from(told == Outcome::Wrong);
        }
    }
    wrong
}

/// What is made of an exchange that ended so.
fn look_at(judging: &Judging, entry: &Entry, outcome: Result<Response, Failure>) -> (Outcome, bool, Seen) {
    let exchange = Exchange {
        request: entry.body(0, None),
        outcome,
        took: Duration::ZERO,
        on_chain: None,
    };
    let sent = Sent {
        entry,
        number: 0,
        token: None,
    };
    judging.look(&exchange, sent, &mut Vec::new())
}

#[test]
fn what_is_more_than_we_read_is_no_wrong_answer() {
    let context = Context::new(profile_of(&Config::default()));
    let mix = mix(&context);
    let judging = Judging::new(context, Share::ALL, true);
    let entry = &mix.chain(0)[0];
    let depth = 5_000;
    let answer = Ok(Response {
        status: 200,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: format!("{}{}", "[".repeat(depth), "]".repeat(depth)).into(),
    });
    let (outcome, judged, seen) = look_at(&judging, entry, answer);
    assert_eq!((outcome, judged), (Outcome::Transport, false));
    assert!(
        seen.trouble
            .as_deref()
            .is_some_and(|words| words.ends_with("more than we read")),
        "{seen:?}"
    );
}

#[tokio::test]
async fn a_sound_server_is_sound_and_remembered() {
    let context = Context::new(profile_of(&Config::default()));
    let mix = mix(&context);
    let judging = Judging::new(context, Share::ALL, false);
    let mut server = Server::start(vec![], vec![]).await;
    assert_eq!(both_ways(&mut server, &judging, &mix, 24, "sound").await, 0);
    let remembered = |number: &u64| {
        let entries = mix.chain(*number);
        entries.iter().all(|entry| entry.sound.len() > 0)
    };
    let of_12 = (0..12).filter(remembered).count();
    assert!(
        of_12 >= 10,
        "only {of_12} of 12 requests have answers that are remembered"
    );
    server.embedded.stop().await;
}

/// Without this, an answer that is not judged is parsed each time, and `--judge none` costs more than `--judge all`.
#[tokio::test]
async fn an_answer_that_is_not_judged_is_parsed_once_and_not_taken_for_a_judged_one() {
    let context = Context::new(profile_of(&Config::default()));
    let mix = mix(&context);
    let unjudging = Judging::new(context.clone(), Share::parse("none").unwrap(), false);
    let judging = Judging::new(context, Share::ALL, false);
    let fault = find_fault("jsonrpc-number").unwrap();
    let mut server = Server::start(vec![fault], vec![]).await;
    let entry = &mix.chain(0)[0];
    let mut scratch = Vec::new();
    for number in 0..3 {
        let exchange = server.exchange(entry, number).await;
        let sent = Sent {
            entry,
            number,
            token: None,
        };
        let (told, judged, _) = unjudging.look(&exchange, sent, &mut scratch);
        assert_eq!((told, judged, entry.unjudged.len()), (Outcome::Good, false, 1));
        let (told, judged, _) = judging.look(&exchange, sent, &mut scratch);
        assert_eq!((told, judged, entry.sound.len()), (Outcome::Wrong, true, 0));
    }
    server.embedded.stop().await;
}

#[tokio::test]
async fn what_is_remembered_changes_no_verdict_whatever_the_fault() {
    let context = Context::new(profile_of(&Config::default()));
    let mix = mix(&context);
    let judging = Judging::new(context, Share::ALL, true);
    let mut sound = Server::start(vec![], vec![]).await;
    both_ways(&mut sound, &judging, &mix, 12, "sound").await;
    let (mut caught, mut met) = (0, 0);
    for fault in faults() {
        let mut server = Server::start(vec![fault], vec![]).await;
        caught += usize::from(both_ways(&mut server, &judging, &mix, 26, fault.name).await > 0);
        met += 1;
    }
    for variant in variants() {
        let mut server = Server::start(vec![], vec![variant]).await;
        both_ways(&mut server, &judging, &mix, 13, variant.name).await;
    }
    assert!(caught * 2 > met, "only {caught} of {met} faults showed in a load");
}

#[tokio::test]
async fn a_wrong_answer_in_25_is_4_percent() {
    let context = Context::new(profile_of(&Config::default()));
    let (mix, _) = Mix::new(
        "sponsor-sponsored",
        &Weights::new(),
        &mut Draws::new(&context, 1, 6),
    )
    .unwrap();
    let judging = Judging::new(context, Share::ALL, false);
    let fault = find_fault("result-true-now-and-then").unwrap();
    let mut server = Server::start(vec![fault], vec![]).await;
    assert_eq!(both_ways(&mut server, &judging, &mix, 200, fault.name).await, 8);
}

#[tokio::test]
async fn an_answer_to_another_request_is_wrong() {
    let context = Context::new(profile_of(&Config::default()));
    let mix = mix(&context);
    let judging = Judging::new(context, Share::ALL, false);
    let mut server = Server::start(vec![], vec![]).await;
    let mut scratch = Vec::new();
    let entry = &mix.chain(0)[0];
    for crossed in [false, true] {
        let mut exchange = server.exchange(entry, 5).await;
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
                waiting_for: paymaster_exchange::Stage::Head,
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
        let said = format!("{outcome:?}");
        assert_eq!(look_at(&judging, entry, outcome).0, expected, "{said}");
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
