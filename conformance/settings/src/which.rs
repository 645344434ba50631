//! Which specification a target serves, where neither the command line nor the profile names one. The method of the first kind of calls
//! of a specification decides: another method may be served in other shapes by services of other specifications.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use hyper::body::Bytes;
use paymaster_client::http::{PooledConnection, Transport};
use paymaster_client::throttling::{Retries, ThrottleDecision};
use paymaster_engine::cases::Base;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::message::Answer;
use paymaster_engine::specification::Specification;
use paymaster_exchange::Exchange;
use serde_json::{Value, json};

use crate::args::RunArgs;
use crate::output;
use crate::output::escape_controls;
use crate::settings::{Environment, RunSetup, Setup, SetupError};
use crate::specifications::{self, DEFAULT_SPECIFICATION, SPECIFICATIONS};

/// A method that cannot exist. Its answer is what a target answers to a method that it does not know.
const NO_METHOD: &str = "pm_methodThatDoesNotExist";
/// Each method is asked so often: an answer by chance decides nothing.
const TIMES: usize = 2;

/// Reads the settings of a run. Where a URL is given and nothing names the specification, the target is asked, and a line on standard
/// error says what it serves.
///
/// # Errors
///
/// Those of [`Setup::read`], and one where the target answers no method otherwise than one that does not exist.
pub async fn read(args: &RunArgs, url: Option<&str>, environment: &Environment) -> Result<Setup, SetupError> {
    let mut setup = Setup::read(args, url, environment)?;
    let Some(url) = setup.merged.url.clone().filter(|_| !setup.profile.is_named) else { return Ok(setup) };
    let (served, asked) = served(&setup.transport(&url)?, setup.merged.rate).await;
    setup.asked = asked;
    let served = match served {
        Served::These(served) => served,
        Served::Undecided(answer) => {
            let (answer, names) = (escape_controls(&answer), specifications::names());
            return Err(format!(
                "every call got the same answer, that of a method that cannot exist included: {answer:?}. Check the key, in the URL or in \
                 a --header. If it is right, name the specification that the target serves with --spec ({names})"
            )
            .into());
        }
        // What the target answers instead is for the run to say.
        Served::Nothing => return Ok(setup),
    };
    let Some(chosen) = served.first() else { return Ok(setup) };
    let others: Vec<_> = served.iter().skip(1).map(|other| format!("--spec {}", other.name)).collect();
    if !others.is_empty() {
        let others = others.join(" or ");
        output::eprint(&format!("judged by {}; the target serves more: {others} judges that\n", chosen.name));
    } else if *chosen != DEFAULT_SPECIFICATION {
        let default = DEFAULT_SPECIFICATION.name;
        output::eprint(&format!(
            "judged by {}, which the target serves; where it serves {default} too, --spec {default} judges that\n",
            chosen.name
        ));
    }
    if *chosen == setup.profile.known.specification() { Ok(setup) } else { setup.judged_by(chosen) }
}

/// Reads the settings for a run of another program, as [`read`] does. Where nothing names a URL, `embedded` starts a server, and gives its
/// URL and its profile by that specification. Reports show no URL of it, because it ends with the run.
pub async fn read_run(
    args: &RunArgs,
    url: Option<&str>,
    embedded: impl FnOnce(&Specification) -> Result<(String, Arc<dyn Knowledge>), SetupError>,
) -> Result<RunSetup, SetupError> {
    let setup = read(args, url, &Environment::of_process()).await?;
    if let Some(url) = setup.merged.url.clone() {
        return setup.settings(&url);
    }
    let (url, profile) = embedded(setup.profile.known.specification())?;
    let mut run = setup.for_embedded(&*profile).settings(&url)?;
    run.shown_target.literal = None;
    Ok(run)
}

/// What a target serves.
#[derive(Debug, PartialEq)]
enum Served {
    /// These specifications, in the order of [`SPECIFICATIONS`].
    These(Vec<&'static Specification>),
    /// No answer is one of JSON-RPC, or every method is unknown.
    Nothing,
    /// Every method gets this answer, the one that cannot exist included.
    Undecided(String),
}

/// What a target serves, and how many requests showed it. `rate` is the limit of the user, in requests a second.
async fn served(transport: &Transport, rate: Option<f64>) -> (Served, usize) {
    let mut asker = Asker {
        connection: PooledConnection::default(),
        transport,
        rate,
        waits: Retries::BEFORE_LOAD,
        is_refused: true,
    };
    let (mut unknown, mut asked) = (Vec::new(), Vec::new());
    for round in 0..TIMES {
        let none = request(DEFAULT_SPECIFICATION, NO_METHOD, round);
        unknown.push(asker.reply(&none).await);
        for specification in SPECIFICATIONS {
            let request = request(specification, specification.kinds[0].method, round);
            asked.push((*specification, asker.reply(&request).await));
        }
        // A target that does not answer is not asked again: the run says why.
        if unknown.iter().chain(asked.iter().map(|(_, reply)| reply)).all(Option::is_none) {
            break;
        }
    }
    let served = match decide(&unknown, &asked) {
        Served::Undecided(_) if asker.is_refused => Served::Nothing,
        served => served,
    };
    (served, unknown.len() + asked.len())
}

/// A call of a method with the params of a specification, another one in each round: a target may refuse, or answer from a cache, what it saw.
fn request(specification: &Specification, method: &str, round: usize) -> Value {
    let number = round as u64 + 1;
    let base = Base::accepted(specification.kinds[0]);
    let drawn = (specification.unknown().source(number))(&base);
    let mut request = drawn.unwrap_or_else(|| json!({ "jsonrpc": "2.0", "params": [] }));
    request["id"] = json!(number);
    request["method"] = json!(method);
    request
}

/// Asks a target which methods it serves.
struct Asker<'a> {
    connection: PooledConnection,
    transport: &'a Transport,
    rate: Option<f64>,
    /// A service that starts asks to wait: for some seconds in all, it gets the time.
    waits: Retries,
    /// Whether every answer has a status by which who asks is refused, whatever is asked.
    is_refused: bool,
}

impl Asker<'_> {
    async fn reply(&mut self, request: &Value) -> Option<Reply> {
        loop {
            if let Some(rate) = self.rate {
                tokio::time::sleep(Duration::from_secs_f64(rate.recip())).await;
            }
            let exchange = self.connection.exchange(self.transport, Bytes::from(request.to_string())).await;
            let response = exchange.outcome.as_ref();
            if let Ok(ThrottleDecision::Wait(pause)) =
                response.map(|response| self.waits.decide(response, SystemTime::now))
            {
                tokio::time::sleep(pause).await;
                continue;
            }
            let is_refused = |status| matches!(status, 401 | 402 | 403 | 429);
            self.is_refused &= response.is_ok_and(|response| is_refused(response.status));
            return Reply::of(&exchange, request["method"].as_str().unwrap_or_default());
        }
    }
}

/// What a JSON-RPC answer shows of a method.
#[derive(Clone, Debug, PartialEq)]
enum Reply {
    Result,
    /// An error: code, and message without the name of the method.
    Error(Option<i64>, String),
}

impl Reply {
    /// None where the answer is none of JSON-RPC.
    fn of(exchange: &Exchange, method: &str) -> Option<Self> {
        let answer = Answer::of(exchange);
        if let Some(error) = answer.error() {
            // Some services write the error itself as a text.
            let message = error["message"].as_str().or(error.as_str()).unwrap_or_default();
            return Some(Self::Error(error["code"].as_i64(), message.replace(method, "")));
        }
        answer.result().map(|_| Self::Result)
    }

    fn says_unknown(&self) -> bool {
        matches!(self, Self::Error(Some(-32601), _))
    }
}

fn decide(unknown: &[Option<Reply>], asked: &[(&'static Specification, Option<Reply>)]) -> Served {
    let replies = |specification: &Specification| -> Vec<Option<&Reply>> {
        let own = asked.iter().filter(|(of, _)| *of == specification);
        own.map(|(_, reply)| reply.as_ref()).collect()
    };
    let is_unknown =
        |reply: &Reply| reply.says_unknown() || unknown.iter().flatten().any(|known| known == reply);
    let those = |is_served: &dyn Fn(&Vec<Option<&Reply>>) -> bool| -> Vec<_> {
        let is_asked = |of: &Vec<_>| !of.is_empty() && is_served(of);
        SPECIFICATIONS.iter().copied().filter(|of| is_asked(&replies(of))).collect()
    };
    let differs =
        |of: &Vec<Option<&Reply>>| of.iter().all(|reply| reply.is_some_and(|reply| !is_unknown(reply)));
    // Where none is answered otherwise, a method that gets no JSON-RPC answer where an unknown one does is served, and wrongly.
    let is_unreadable =
        |of: &Vec<Option<&Reply>>| of.iter().all(Option::is_none) && unknown.iter().all(Option::is_some);
    let served = Some(those(&differs)).filter(|served| !served.is_empty());
    let served = served.unwrap_or_else(|| those(&is_unreadable));
    if !served.is_empty() {
        return Served::These(served);
    }
    let mut all = asked.iter().filter_map(|(_, reply)| reply.as_ref());
    match all.find(|reply| !reply.says_unknown()) {
        Some(Reply::Error(_, message)) => Served::Undecided(message.clone()),
        Some(Reply::Result) => Served::Undecided("a result".to_owned()),
        None => Served::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: i64, message: &str) -> Reply {
        Reply::Error(Some(code), message.to_owned())
    }

    /// The decision where both requests of the first specification get one reply, and the method that cannot exist another.
    fn decided(reply: &Reply, unknown: &Reply) -> Served {
        let asked = [0; TIMES].map(|_| (DEFAULT_SPECIFICATION, Some(reply.clone())));
        decide(&[Some(unknown.clone())], &asked)
    }

    #[test]
    fn a_method_is_served_where_it_is_answered_unlike_one_that_cannot_exist() {
        let unknown = error(-32601, "no method");
        let these = Served::These(vec![DEFAULT_SPECIFICATION]);
        assert_eq!(decided(&Reply::Result, &unknown), these);
        assert_eq!(decided(&error(-32000, "AA20"), &unknown), these);
        // Another message under the same code is another answer.
        assert_eq!(decided(&error(-32000, "AA20"), &error(-32000, "what is ?")), these);
    }

    #[test]
    fn errors_that_are_texts_are_compared() {
        let reply = |body: &'static str| {
            let response =
                paymaster_exchange::Response { status: 400, headers: Vec::new(), body: body.into() };
            Reply::of(&Exchange::new(Bytes::new(), Ok(response), Duration::ZERO), NO_METHOD).unwrap()
        };
        let unknown = reply(r#"{"error":"Unsupported method"}"#);
        let served = reply(r#"{"error":"Unsupported network"}"#);
        assert_eq!(decided(&served, &unknown), Served::These(vec![DEFAULT_SPECIFICATION]));
        assert_eq!(decided(&unknown, &unknown), Served::Undecided("Unsupported method".to_owned()));
    }

    #[test]
    fn one_answer_of_two_decides_nothing() {
        let unknown = error(-32601, "no method");
        let asked = [Reply::Result, unknown.clone()].map(|reply| (DEFAULT_SPECIFICATION, Some(reply)));
        assert_eq!(decide(&[Some(unknown)], &asked), Served::Undecided("a result".to_owned()));
    }

    #[test]
    fn a_target_that_answers_all_alike_is_undecided_and_one_that_knows_nothing_serves_nothing() {
        let denied = error(-32001, "unauthorized");
        assert_eq!(decided(&denied, &denied), Served::Undecided("unauthorized".to_owned()));
        let unknown = error(-32601, "no method");
        assert_eq!(decided(&unknown, &unknown), Served::Nothing);
        assert_eq!(decide(&[None], &[(DEFAULT_SPECIFICATION, None)]), Served::Nothing);
    }

    #[test]
    fn a_method_without_a_json_rpc_answer_is_served_where_an_unknown_one_has_such_an_answer() {
        let unknown = Some(error(-32601, "no method"));
        let these = Served::These(vec![DEFAULT_SPECIFICATION]);
        assert_eq!(decide(std::slice::from_ref(&unknown), &[(DEFAULT_SPECIFICATION, None)]), these);
        // One that another one is answered unlike.
        let other = SPECIFICATIONS[1];
        let asked = [(DEFAULT_SPECIFICATION, None), (other, Some(Reply::Result))];
        assert_eq!(decide(&[unknown], &asked), Served::These(vec![other]));
    }

    #[test]
    fn the_requests_are_calls_of_their_method() {
        for specification in SPECIFICATIONS {
            let [request, next] =
                [0, 1].map(|round| request(specification, specification.kinds[0].method, round));
            assert_eq!(request["method"], specification.kinds[0].method);
            assert!(request["params"].is_array());
            assert!(request["id"] != next["id"] && request["method"] == next["method"]);
        }
    }
}
