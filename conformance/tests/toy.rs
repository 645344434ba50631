//! A specification of one method, which plugs into the engine as the others do: it is judged, a defect of a server gets its cause and its
//! replay, and the report is written. CONTRIBUTING uses it as the example of how to add a specification.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use http_body_util::Full;
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use paymaster_client::http::transport::{Limits, Transport};
use paymaster_client::network::target::Target;
use paymaster_client::stop::Stop;
use paymaster_conformance::run::{self, ReplayOutcome};
use paymaster_conformance::{Bytes, Check, Conclusion};
use paymaster_engine::cases::case::{Base, Bases, BuildInput, Group, Ids, Member, Relation, Role, Rounds};
use paymaster_engine::cases::edit::member;
use paymaster_engine::diagnosis::cause::Cause;
use paymaster_engine::first_profile::{FirstProfile, Survey};
use paymaster_engine::generate::shrink::Change;
use paymaster_engine::generate::{Overrides, runner, strategy};
use paymaster_engine::knowledge::{
    BaseSource, Discover, Expectation, Knowledge, Learn, Requirement, Statement,
};
use paymaster_engine::load::LoadTest;
use paymaster_engine::message::request::{Call, Called};
use paymaster_engine::rules::{Advice, MissingLine, Report, Rule, View, answer_form};
use paymaster_engine::session::access::Access;
use paymaster_engine::session::recheck::Original;
use paymaster_engine::specification::{Page, Places, Specification};
use paymaster_engine::spending::SpendingLimits;
use paymaster_exchange::Exchange;
use paymaster_schemas::{Basis, Clause, Definition, Document, Kind, KindOfCall, Section, shared};
use paymaster_settings::Settings;
use paymaster_settings::args::{CommonArgs, RunArgs};
use proptest::strategy::{Strategy, ValueTree};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

// What would be a folder of schemas: the documents and the clauses.

static DEFINITION: Definition = Definition {
    documents: &[
        Document {
            name: "toy-request",
            id: "https://paymaster.example/schemas/toy-request.schema.json",
            section: "1",
            folder: "toy",
            text: r#"{
                "type": "object",
                "required": ["jsonrpc", "id", "method", "params"],
                "properties": {
                    "jsonrpc": { "const": "2.0" },
                    "id": { "type": "integer", "minimum": 1 },
                    "method": { "const": "toy_total" },
                    "params": {
                        "type": "array",
                        "prefixItems": [{ "$ref": "toy-order.schema.json" }],
                        "minItems": 1,
                        "maxItems": 1
                    }
                }
            }"#,
        },
        Document {
            name: "toy-order",
            id: "https://paymaster.example/schemas/toy-order.schema.json",
            section: "1",
            folder: "toy",
            text: r#"{
                "type": "object",
                "required": ["price", "pieces"],
                "properties": {
                    "price": { "type": "integer", "minimum": 1, "maximum": 900 },
                    "pieces": { "type": "integer", "minimum": 1, "maximum": 90 },
                    "gift": { "type": "boolean" }
                }
            }"#,
        },
        Document {
            name: "toy-result",
            id: "https://paymaster.example/schemas/toy-result.schema.json",
            section: "1",
            folder: "toy",
            text: r#"{
                "type": "object",
                "required": ["total", "pieces"],
                "properties": { "total": { "type": "integer" }, "pieces": { "type": "integer" } }
            }"#,
        },
    ],
    sections: &[Section { number: "1", title: "Orders", summary: "What an order costs." }],
    readings: &[],
    openrpc: "{}",
    clauses: &[shared::RESPONSES, CLAUSES],
};

const CLAUSES: &[Clause] = &[
    Clause {
        id: "toy.total",
        section: "1",
        basis: Basis::Stated,
        text: "The total of an order is the price of a piece times the number of pieces.",
        unjudged: None,
    },
    Clause {
        id: "toy.pieces",
        section: "1",
        basis: Basis::Stated,
        text: "The answer repeats the number of pieces of the order.",
        unjudged: None,
    },
];

static TOTAL: KindOfCall = KindOfCall {
    number: 0,
    name: "toy-total",
    method: "toy_total",
    selector: None,
    request_document: "toy-request",
    result_document: "toy-result",
};

// What would be a crate in conformance/specifications: the table, the rules, the relation and what is known of a target.

static TOY: Specification = Specification {
    name: "toy",
    title: "Toy Specification",
    version: "1",
    published: "conformance/tests/toy.rs",
    definition: &DEFINITION,
    kinds: &[Kind::new(&TOTAL)],
    rules: &[answer_form::RULES, RULES],
    relations: &[&CALLS],
    observers: &[],
    calls: &CALLS,
    places: Places {
        params: &["the order"],
        subject: "/params/0",
        party: "/params/0/price",
        once: "/params/0/pieces",
        bytes: "",
        kind: "",
        terms: "/params",
        kept_under: &[],
        parts: &[],
    },
    plain_bases: &[Base::accepted(Kind::new(&TOTAL))],
    read_profile: |_| Ok(Arc::new(Nothing)),
    template: "",
    survey: |_, _| Box::new(Nothing),
    profile_parts: &[],
    page: Page {
        introduction: "# The toy specification\n\n",
        required: |_, _| "no".to_owned(),
        ordinary_sizes: Vec::new,
    },
    restore: |_| Ok(Arc::new(Nothing)),
    first_results: None,
    called: |envelope| {
        if envelope["method"] == TOTAL.method { Called::Kind(Kind::new(&TOTAL)) } else { Called::Unknown }
    },
    shows_answer: |_| false,
    any_code: |_| false,
    grants: |_| true,
    refuses_repeats: false,
    asks_for: |_| None,
    excluding_line: |_| None,
    line_asked_for: |_| None,
    sort_of_kind: |_| "a total",
    sort_of_result: |result| result["total"].is_number().then_some("a total"),
    settled: |result| Some(result.clone()),
    sibling: |_| None,
    refused: |_| None,
    deciding: |call| vec![("price", call.envelope["params"][0]["price"].to_string().into())],
    right_answer: |call, _| json!({ "jsonrpc": "2.0", "id": call.id, "result": right(&call.envelope) }),
    may_change: |pointer| if pointer.starts_with("/params/0/") { Change::Free } else { Change::Stays },
    check_row: |_, _, _, _| (),
    is_amount: |name| ["price", "pieces"].contains(&name),
    free_form: "/params/0/note",
    counts: |_, _| Vec::new(),
    load: &LoadTest { scenarios: &[], varying: &[], rules_of_times: &[] },
};

const TOO_FEW: Advice = Advice::Look("the target answered too few orders");

const RULES: &[Rule] = &[
    Rule::exchange("toy.total", 5, TOO_FEW, |view, _, report| {
        repeats("total", view, report);
    })
    .hint("multiply the price by the pieces"),
    Rule::exchange("toy.pieces", 5, TOO_FEW, |view, _, report| {
        repeats("pieces", view, report);
    }),
];

fn repeats(name: &str, view: &View<'_>, report: &mut Report) {
    if let (Some(call), Some(result)) = (view.valid_call(), view.answer.result()) {
        let expected = &right(&call.envelope)[name];
        let holds = result.get(name) == Some(expected);
        report.expect(holds, format_args!("/result/{name}"), expected, || result[name].to_string());
    }
}

fn right(request: &Value) -> Value {
    let order = &request["params"][0];
    let total = order["price"].as_u64().zip(order["pieces"].as_u64()).map(|(price, pieces)| price * pieces);
    json!({ "total": total, "pieces": order["pieces"] })
}

static CALLS: Relation = Relation::new("calls", "one order").of(Bases::EveryKind, Rounds::Share(100), calls);

fn calls(input: &BuildInput<'_>, ids: &mut Ids) -> Vec<Member> {
    vec![member(Role::Call, "", input.base, ids)]
}

/// What is known of a target: nothing, because every order gets a total.
#[derive(Debug)]
struct Nothing;

impl Knowledge for Nothing {
    fn specification(&self) -> &'static Specification {
        &TOY
    }

    fn requirement(&self, call: &Call) -> Requirement {
        Requirement { within_tables: call.valid, beyond: None, expectation: Expectation::Accepted }
    }

    fn lists_as_refused(&self, _: &Value) -> bool {
        false
    }

    fn source(&self, seed: u64) -> BaseSource {
        let requests = strategy("toy-request", &Overrides::new()).expect("the document is understood");
        let mut runner = runner(seed);
        Box::new(move |_| Some(requests.new_tree(&mut runner).ok()?.current()))
    }

    fn refused_clients(&self) -> &BTreeSet<&'static str> {
        static NONE: LazyLock<BTreeSet<&str>> = LazyLock::new(BTreeSet::new);
        &NONE
    }

    fn excludes(&self, _: Kind) -> bool {
        false
    }

    fn may_serve(&self, _: Kind) -> bool {
        true
    }

    fn may_vary_operations(&self) -> bool {
        false
    }

    fn knows(&self, _: &MissingLine) -> bool {
        false
    }

    fn dialect(&self) -> Map<String, Value> {
        Map::new()
    }

    fn kept_lines(&self, _: &View<'_>, _: &mut dyn FnMut(&'static str, usize, bool)) {}

    fn stated(&self, _: &str, _: usize) -> Option<Statement> {
        None
    }

    fn with_chain(&self, _: bool) -> Arc<dyn Knowledge> {
        Arc::new(Self)
    }

    fn with_pins_of(&self, _: &dyn Knowledge) -> Arc<dyn Knowledge> {
        Arc::new(Self)
    }

    fn spending_limits(&self) -> SpendingLimits {
        SpendingLimits::default()
    }

    fn with_spending_limits(&self, _: SpendingLimits) -> Arc<dyn Knowledge> {
        Arc::new(Self)
    }

    fn expected(&self) -> Arc<dyn Knowledge> {
        Arc::new(Self)
    }

    fn with_refused_clients(&self, _: BTreeSet<&'static str>) -> Arc<dyn Knowledge> {
        Arc::new(Self)
    }

    fn discovery(&self, _: u64) -> Box<dyn Discover> {
        Box::new(Self)
    }

    fn learner(&self) -> Box<dyn Learn> {
        Box::new(Self)
    }

    fn saved(&self) -> Value {
        Value::Null
    }

    fn is_same(&self, other: &dyn Knowledge) -> bool {
        let other: &dyn Any = other;
        other.is::<Self>()
    }
}

impl Discover for Nothing {
    fn next_round(&mut self, _: &[(Group, Vec<Exchange>)]) -> Option<Vec<Group>> {
        None
    }

    fn finish(self: Box<Self>) -> (Arc<dyn Knowledge>, Access) {
        (Arc::new(Self), Access::default())
    }
}

impl Survey for Nothing {
    fn next_round(&mut self, _: &[(Group, Vec<Exchange>)]) -> Option<Vec<Group>> {
        None
    }

    fn finish(self: Box<Self>, _: &dyn Fn(&str) -> bool) -> FirstProfile {
        FirstProfile { access: Access::default(), findings: Vec::new(), tables: String::new(), needs: None }
    }
}

impl Learn for Nothing {
    fn see(&mut self, _: &Exchange) {}

    fn learned(&self) -> Arc<dyn Knowledge> {
        Arc::new(Self)
    }
}

// What would be a method of the reference server, and its fault.

/// Serves orders at a free port, and gives its URL. The fault adds one to the total of gifts.
async fn served(has_the_fault: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service_fn(move |request| answer(request, has_the_fault));
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    url
}

async fn answer(
    request: Request<Incoming>,
    has_the_fault: bool,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    use http_body_util::BodyExt;
    let body = request.into_body().collect().await?.to_bytes();
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut result = right(&request);
    if has_the_fault && request["params"][0]["gift"] == true {
        result["total"] = json!(result["total"].as_u64().unwrap_or_default() + 1);
    }
    let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
    let response = Response::builder().header("content-type", "application/json");
    Ok(response.body(Full::from(answer.to_string())).expect("its headers are sound"))
}

fn settings(url: &str) -> Settings {
    let args = RunArgs {
        common: CommonArgs { seed: Some(1), ..CommonArgs::default() },
        cases: Some(40),
        jobs: Some(4),
        time_limit: Some(Duration::from_mins(1)),
        shrink_requests: Some(0),
        ..RunArgs::default()
    };
    Settings {
        closer_look: false,
        ..Settings::new(
            Transport::new(Target::parse(url).expect("its own URL"), Limits::default(), &[]),
            url.to_owned(),
            Arc::new(Nothing),
            args,
        )
    }
}

#[tokio::test]
async fn another_specification_plugs_into_the_engine() {
    paymaster_schemas::add(&DEFINITION);
    let known: Arc<dyn Knowledge> = Arc::new(Nothing);
    let (sound, wrong) = (served(false).await, served(true).await);
    let check = async |url: &str| {
        let check = Check::url(url).expect("its own URL").profile(Arc::clone(&known)).cases(40);
        check.run().await.expect("it starts")
    };

    let outcome = check(&sound).await;
    assert_eq!(outcome.conclusion(), Conclusion::Conforms, "{outcome}");

    let outcome = check(&wrong).await;
    let [finding] = outcome.findings() else { panic!("{outcome}") };
    assert_eq!((finding.rule.id, finding.violation.pointer.as_str()), ("toy.total", "/result/total"));
    let Some(Cause::Members(members)) = &finding.cause else { panic!("{:?}", finding.cause) };
    assert_eq!(members.iter().map(|member| member.pointer.as_str()).collect::<Vec<_>>(), ["/params/0/gift"]);

    let original = Original::of(finding, outcome.summary(), &TOY);
    let replayed = async |url: &str| {
        let (settings, stop) = (settings(url), Stop::default());
        run::replay(&settings, None, finding.rule, &finding.group, &original, &Nothing, &stop).await
    };
    assert!(matches!(replayed(&wrong).await, ReplayOutcome::StillThere(_)));
    assert!(matches!(replayed(&sound).await, ReplayOutcome::Fixed(_)));

    let page = outcome.to_html();
    for part in
        ["toy: Toy Specification, 1, conformance/tests/toy.rs", "toy.total", "toy-total", "price of a piece"]
    {
        assert!(page.contains(part), "{part}");
    }
}
