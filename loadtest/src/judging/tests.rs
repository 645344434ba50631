use std::{sync::Arc, time::Duration};

use paymaster_client::http::transport::{Limits, PooledConnection, Transport};
use paymaster_client::network::target::Target;
use paymaster_engine::knowledge::Knowledge;
use paymaster_exchange::Response;
use paymaster_fee_quote::SPECIFICATION;
use paymaster_reference_server::{
    Config, Fault, InjectedService, Service, Variant, faults_of, find_fault, variants_of,
};
use paymaster_settings::embedded::{Embedded, profile_of};

use super::*;
use crate::scenarios::{Mix, RequestGenerator, Weights};

/// A reference server with faults or variants, and a connection to it.
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
        let service = InjectedService::from(service).with_variants(variants).with_faults(faults);
        let embedded = Embedded::serve(&config, service).await.unwrap();
        // With some faults the server never answers.
        let limits = Limits { timeout: Duration::from_millis(500), ..Limits::default() };
        let transport = Transport::new(Target::parse(&embedded.url).unwrap(), limits, &[]);
        Self { embedded, transport, line: PooledConnection::default() }
    }

    async fn exchange(&mut self, template: &RequestTemplate, number: u64) -> Exchange {
        self.line.exchange(&self.transport, template.body(number, None)).await
    }
}

fn mix(known: &dyn Knowledge) -> Mix {
    Mix::new("mixed", &Weights::new(), &mut RequestGenerator::new(known, 1, 6)).unwrap()
}

fn judge(known: &Arc<dyn Knowledge>, share: &str, strict: bool) -> AnswerJudge {
    AnswerJudge::new(known, JudgingOptions { judge: JudgedShare::parse(share).unwrap(), strict })
}

/// The outcome by the rules alone, without the cache.
fn by_the_rules(judge: &AnswerJudge, exchange: &Exchange, template: &RequestTemplate) -> Outcome {
    // With escapes the answer has no skeleton, so that nothing is kept of it.
    let unlike = ReadAnswer { status: 0, content_type: "", body: br#""\""#, id: b"", token: "" };
    judge.judge(exchange, template, &unlike).outcome
}

/// Compares the outcomes with and without the cache, and returns the number of wrong answers.
async fn both_ways(server: &mut Server, judge: &AnswerJudge, mix: &Mix, times: u64, name: &str) -> usize {
    let mut wrong = 0;
    for number in 0..times {
        // The same 12 iterations repeat, so that most answers are in the cache.
        for template in mix.sequence(number % 12) {
            let exchange = server.exchange(template, number).await;
            let sent = SentRequest { template, number, token: None };
            let assessment = judge.assess(&exchange, sent);
            let outcome = assessment.outcome;
            if !outcome.is_answer() {
                continue;
            }
            let expected = by_the_rules(judge, &exchange, template);
            assert_eq!(outcome, expected, "{name}: {:?}", exchange.outcome);
            assert!(assessment.judged || outcome != Outcome::Wrong);
            wrong += usize::from(outcome == Outcome::Wrong);
        }
    }
    wrong
}

/// Assesses an exchange that ended in this way.
fn assess(judge: &AnswerJudge, template: &RequestTemplate, outcome: Result<Response, Failure>) -> Assessment {
    let exchange = Exchange::new(template.body(0, None), outcome, Duration::ZERO);
    let sent = SentRequest { template, number: 0, token: None };
    judge.assess(&exchange, sent)
}

#[test]
fn an_answer_beyond_our_limits_is_not_wrong() {
    let known = profile_of(&SPECIFICATION, &Config::default(), &[]);
    let mix = mix(&*known);
    let judge = judge(&known, "all", true);
    let template = &mix.sequence(0)[0];
    let depth = 5_000;
    let answer = Ok(Response {
        status: 200,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: format!("{}{}", "[".repeat(depth), "]".repeat(depth)).into(),
    });
    let assessment = assess(&judge, template, answer);
    assert_eq!((assessment.outcome, assessment.judged), (Outcome::Transport, false));
    assert!(
        assessment.failure.as_deref().is_some_and(|failure| failure.ends_with("more than we read")),
        "{assessment:?}"
    );
}

#[tokio::test]
async fn answers_of_a_correct_server_are_good_and_cached() {
    let known = profile_of(&SPECIFICATION, &Config::default(), &[]);
    let mix = mix(&*known);
    let judge = judge(&known, "all", false);
    let mut server = Server::start(vec![], vec![]).await;
    assert_eq!(both_ways(&mut server, &judge, &mix, 24, "sound").await, 0);
    let cached = |number: &u64| {
        let templates = mix.sequence(*number);
        templates.iter().all(|template| template.answers(true).len() > 0)
    };
    let of_12 = (0..12).filter(cached).count();
    assert!(of_12 >= 10, "only {of_12} of 12 requests have cached answers");
    server.embedded.stop().await;
}

/// Without this, an answer that is not judged is parsed each time, and `--judge none` costs more than `--judge all`.
#[tokio::test]
async fn an_unjudged_answer_is_parsed_once_and_cached_apart_from_judged_ones() {
    let known = profile_of(&SPECIFICATION, &Config::default(), &[]);
    let mix = mix(&*known);
    let none_judged = judge(&known, "none", false);
    let all_judged = judge(&known, "all", false);
    let fault = find_fault("jsonrpc-number").unwrap();
    let mut server = Server::start(vec![fault], vec![]).await;
    let template = &mix.sequence(0)[0];
    for number in 0..3 {
        let exchange = server.exchange(template, number).await;
        let sent = SentRequest { template, number, token: None };
        let unjudged = none_judged.assess(&exchange, sent);
        assert_eq!((unjudged.outcome, unjudged.judged), (Outcome::Good, false));
        assert_eq!(template.answers(false).len(), 1);
        let judged = all_judged.assess(&exchange, sent);
        assert_eq!((judged.outcome, judged.judged), (Outcome::Wrong, true));
        assert_eq!(template.answers(true).len(), 0);
    }
    server.embedded.stop().await;
}

#[tokio::test]
async fn the_cache_changes_no_outcome_whatever_the_fault() {
    let known = profile_of(&SPECIFICATION, &Config::default(), &[]);
    let mix = mix(&*known);
    let judge = judge(&known, "all", true);
    let mut sound = Server::start(vec![], vec![]).await;
    both_ways(&mut sound, &judge, &mix, 12, "sound").await;
    let (mut caught, mut met) = (0, 0);
    for fault in faults_of(SPECIFICATION.name) {
        let mut server = Server::start(vec![fault], vec![]).await;
        caught += usize::from(both_ways(&mut server, &judge, &mix, 26, fault.name).await > 0);
        met += 1;
    }
    for variant in variants_of(SPECIFICATION.name) {
        let mut server = Server::start(vec![], vec![variant]).await;
        both_ways(&mut server, &judge, &mix, 13, variant.name).await;
    }
    // Many faults need requests that no load has: of rare values, refused senders, or other forms.
    assert!(caught * 5 > met * 2, "only {caught} of {met} faults showed in a load");
}

#[tokio::test]
async fn a_wrong_answer_in_25_is_4_percent() {
    let known = profile_of(&SPECIFICATION, &Config::default(), &[]);
    let mix =
        Mix::new("sponsor-sponsored", &Weights::new(), &mut RequestGenerator::new(&*known, 1, 6)).unwrap();
    let judge = judge(&known, "all", false);
    let fault = find_fault("result-true-now-and-then").unwrap();
    let mut server = Server::start(vec![fault], vec![]).await;
    assert_eq!(both_ways(&mut server, &judge, &mix, 200, fault.name).await, 8);
}

#[tokio::test]
async fn an_answer_to_another_request_is_wrong() {
    let known = profile_of(&SPECIFICATION, &Config::default(), &[]);
    let mix = mix(&*known);
    let judge = judge(&known, "all", false);
    let mut server = Server::start(vec![], vec![]).await;
    let template = &mix.sequence(0)[0];
    for crossed in [false, true] {
        let mut exchange = server.exchange(template, 5).await;
        if crossed {
            exchange.request = template.body(6, None).into();
        }
        let sent = SentRequest { template, number: if crossed { 6 } else { 5 }, token: None };
        let assessment = judge.assess(&exchange, sent);
        assert_eq!(assessment.outcome == Outcome::Wrong, crossed);
        assert_eq!(
            assessment.violations.iter().map(|(rule, _)| rule.id).collect::<Vec<_>>(),
            if crossed { vec!["answer.id"] } else { vec![] }
        );
    }
}

#[test]
fn without_an_answer_there_is_nothing_to_judge() {
    let known = profile_of(&SPECIFICATION, &Config::default(), &[]);
    let mix = mix(&*known);
    let judge = judge(&known, "all", false);
    let template = &mix.sequence(0)[0];
    let refused = |status: u16, header: Option<&str>| {
        Ok(Response {
            status,
            headers: header.map(|value| ("retry-after".to_owned(), value.to_owned())).into_iter().collect(),
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
        let shown = format!("{outcome:?}");
        assert_eq!(assess(&judge, template, outcome).outcome, expected, "{shown}");
    }
}

#[test]
fn a_share_is_exact_and_spread() {
    for (text, of_1000) in [("10%", 100), ("all", 1_000), ("none", 0), ("33.3%", 333), ("100%", 1_000)] {
        let share = JudgedShare::parse(text).unwrap();
        let taken = (0..1_000).filter(|number| share.includes(*number)).count();
        assert!(taken.abs_diff(of_1000) <= 1, "{text}: {taken}");
    }
    for text in ["10", "101%", "-1%", "", "NaN%"] {
        assert!(JudgedShare::parse(text).is_err(), "{text}");
    }
}
