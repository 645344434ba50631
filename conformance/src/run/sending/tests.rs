//! The sender and a target in this process, which answers as a script says.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::time::Instant;

use super::{liveness::Patience, own_words::PAUSE_OF_A_SENDER, sender::Sender, sponsorships::Sponsorships};
use paymaster_client::http::transport::{Limits, Transport};
use paymaster_client::network::connector::Connector;
use paymaster_client::network::target::Target;
use paymaster_client::pace::Pace;
use paymaster_client::stop::Stop;
use paymaster_engine::cases::case::Group;
use paymaster_engine::cases::plan::Plan;
use paymaster_engine::spending::SpendingLimits;
use paymaster_exchange::Failure;
use paymaster_fee_quote::target::context::Context;
use paymaster_settings::DEFAULT_SPECIFICATION;

/// A target that takes this many connections at a time, and answers its requests with these statuses, then with 200.
#[derive(Clone)]
struct Scripted {
    most: usize,
    statuses: Arc<[u16]>,
    open: Arc<AtomicUsize>,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    fn new(most: usize, statuses: &[u16]) -> Self {
        Self { most, statuses: statuses.into(), open: Arc::default(), bodies: Arc::default() }
    }

    fn sender(&self, jobs: usize) -> Sender {
        let target = Target::parse("http://127.0.0.1:1/").unwrap();
        let scripted = self.clone();
        let connect = move || {
            if scripted.open.fetch_add(1, Ordering::Relaxed) >= scripted.most {
                scripted.open.fetch_sub(1, Ordering::Relaxed);
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            let (client, server) = tokio::io::duplex(64 * 1024);
            tokio::spawn(scripted.clone().serve(server));
            Ok(client)
        };
        let connector = Connector::in_process(&target, Arc::new(connect));
        let transport = Transport::new(target, Limits::default(), &[]).with_connector(connector);
        let pace = Pace::new(None, None, Instant::now() + Duration::from_mins(5));
        let unlimited = Sponsorships::new(DEFAULT_SPECIFICATION, SpendingLimits::default());
        Sender::new(transport, Stop::default(), pace, jobs, unlimited).0
    }

    async fn serve(self, mut stream: DuplexStream) {
        let mut bytes = Vec::new();
        while stream.read_buf(&mut bytes).await.is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&bytes);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let (_, length) = head.split_once("content-length: ").unwrap_or(("", "0"));
            let length = length.split_whitespace().next().unwrap();
            if body.len() < length.parse().unwrap() {
                continue;
            }
            let number = {
                let mut bodies = self.bodies.lock().unwrap();
                bodies.push(body.to_owned());
                bodies.len() - 1
            };
            let status = self.statuses.get(number).copied().unwrap_or(200);
            if status == NO_ANSWER {
                std::future::pending::<()>().await;
            }
            let (status, answer) = match status {
                OWN_WORDS => {
                    (200, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"plan used up"}}"#)
                }
                status => (status, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            };
            let length = answer.len();
            let head = format!("HTTP/1.1 {status} so\r\ncontent-length: {length}\r\n\r\n");
            stream.write_all((head + answer).as_bytes()).await.unwrap();
            bytes.clear();
        }
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// In place of a status: the request is never answered.
const NO_ANSWER: u16 = 0;

/// In place of a status: an error whose words name no limit.
const OWN_WORDS: u16 = 1;

#[tokio::test(start_paused = true)]
async fn after_many_timeouts_an_answer_is_waited_for_a_second_unless_it_is_to_be_reported() {
    let mut statuses = [NO_ANSWER; 19];
    statuses[0] = 200;
    let target = Scripted::new(usize::MAX, &statuses);
    let (sender, groups) = (target.sender(1), groups());
    let waited = async |patience| {
        let (group, mut share) = (&groups[0], sender.share());
        let exchanges =
            sender.deliver_within(group, group.relation.order, patience, &mut share).await.unwrap();
        match exchanges[0].outcome {
            Err(Failure::Timeout { after, .. }) => Some(after),
            _ => None,
        }
    };
    assert_eq!(waited(Patience::Usual).await, None);
    for _ in 0..16 {
        assert_eq!(waited(Patience::Usual).await, Some(Limits::default().timeout));
    }
    assert_eq!(waited(Patience::Usual).await, Some(Duration::from_secs(1)));
    assert_eq!(waited(Patience::Whole).await, Some(Limits::default().timeout));
}

/// Groups of one request each.
fn groups() -> Vec<Group> {
    Plan::new(&Context::default(), 1, 9).filter(|group| group.members.len() == 1).collect()
}

/// The statuses of the answers to two groups that are sent one after the other, and the places of the bodies that were sent.
async fn two_groups(statuses: &[u16]) -> ([u16; 2], String) {
    let target = Scripted::new(usize::MAX, statuses);
    let (sender, groups) = (target.sender(1), groups());
    let mut answered = [0; 2];
    for (status, group) in answered.iter_mut().zip(&groups) {
        let exchanges = sender.deliver(group).await.unwrap();
        *status = exchanges[0].outcome.as_ref().unwrap().status;
    }
    let bodies = target.bodies.lock().unwrap();
    let place = |body: &String| {
        if body.as_bytes() == &*groups[0].members[0].body { "0" } else { "1" }
    };
    (answered, bodies.iter().map(place).collect())
}

#[tokio::test]
async fn an_error_of_a_gateway_is_an_answer_only_where_a_request_that_was_served_before_still_is() {
    for (statuses, answers, bodies) in [
        // The probe is served, and the request again: the outage has just ended.
        (&[200, 503][..], [200, 200], "0101"),
        // There is no outage.
        (&[200, 503, 200, 503], [200, 503], "01010"),
        // It is not: the second probe shows the end, and the request is sent again.
        (&[200, 502, 502], [200, 200], "01001"),
        // A service that starts: the request is the probe.
        (&[503, 503], [200, 200], "00001"),
    ] {
        assert_eq!(two_groups(statuses).await, (answers, bodies.to_owned()), "{statuses:?}");
    }
}

#[tokio::test]
async fn a_target_that_takes_few_connections_lowers_the_jobs_to_their_number() {
    let target = Scripted::new(3, &[]);
    let (sender, groups) = (target.sender(8), groups());
    let delivered = join_all(groups[..8].iter().map(|group| sender.deliver(group))).await;
    for exchanges in delivered {
        assert_eq!(exchanges.unwrap()[0].outcome.as_ref().unwrap().status, 200);
    }
    assert_eq!(sender.target.lock().overload.as_ref().unwrap().jobs, 3);
}

#[tokio::test(start_paused = true)]
async fn own_words_state_a_limit_unless_the_run_ends_before_that_is_known() {
    // A request is served; the next one gets the error twice, and so do a first probe and the copies. An error that does not come again, or
    // not to the request alone, or to a first probe and no copy, may state one, and one that stays states none.
    for (refused, budget, is_limit) in [
        (27, None, true),
        (27, Some(10), false),
        (1, None, true),
        (2, None, true),
        (3, None, true),
        (500, None, false),
    ] {
        let statuses: Vec<u16> = [200].into_iter().chain([OWN_WORDS].repeat(refused)).collect();
        let target = Scripted::new(usize::MAX, &statuses);
        let (mut sender, groups) = (target.sender(4), groups());
        sender.pace = Pace::new(None, budget, Instant::now() + Duration::from_mins(5));
        sender.deliver(&groups[0]).await.unwrap();
        let exchanges = sender.deliver(&groups[1]).await.unwrap();
        assert_eq!(sender.states_limit(&groups[1], &exchanges).await, is_limit, "{refused} {budget:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn copies_are_sent_of_what_got_a_result() {
    // The second request gets the error, then this status, and at least one of the copies gets the error too.
    for (status, copied) in [(200, 1), (404, 0)] {
        let statuses = [200, OWN_WORDS, status, OWN_WORDS];
        let target = Scripted::new(usize::MAX, &statuses);
        let (sender, groups) = (target.sender(4), groups());
        sender.deliver(&groups[0]).await.unwrap();
        let exchanges = sender.deliver(&groups[1]).await.unwrap();
        sender.states_limit(&groups[1], &exchanges).await;
        let bodies = target.bodies.lock().unwrap();
        assert_ne!(bodies[0], bodies[1]);
        assert!(bodies.len() > 20 && bodies[3..].iter().all(|body| *body == bodies[copied]), "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_that_does_not_come_again_is_judged_from_the_ninth_time_on() {
    let target = Scripted::new(usize::MAX, &[200, OWN_WORDS]);
    let (sender, groups) = (target.sender(4), groups());
    sender.deliver(&groups[0]).await.unwrap();
    let mut exchanges = sender.deliver(&groups[1]).await.unwrap();
    let mut judged = Vec::new();
    for _ in 0..10 {
        // Those that came before the check ended came with the first.
        for _ in 0..2 {
            judged.push(!sender.states_limit(&groups[1], &exchanges).await);
        }
        exchanges[0].received = Some(SystemTime::now());
    }
    assert_eq!(judged, [[false; 16].as_slice(), &[true; 4]].concat());
}

#[tokio::test(start_paused = true)]
async fn a_group_whose_error_did_not_come_again_is_sent_after_a_pause() {
    let target = Scripted::new(usize::MAX, &[OWN_WORDS]);
    let (sender, mut groups) = (target.sender(4), groups());
    let (before, round) = (Instant::now(), groups.split_off(groups.len() - 1));
    let delivered = sender.deliver_round(round).await.unwrap();
    assert_eq!(delivered[0].1[0].outcome.as_ref().unwrap().status, 200);
    assert!(before.elapsed() >= PAUSE_OF_A_SENDER, "{:?}", before.elapsed());
}
