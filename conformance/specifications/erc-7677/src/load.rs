//! What a load test sends.

use paymaster_engine::cases::MALFORMED_PARAMS;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::load::{FROM_ANSWER, Handover, LoadTest, Requests, Scenario, ValueForm};
use serde_json::Value;

use crate::kinds::{DATA_07, STUB_07, paymaster_members, version};
use crate::relations::REFUSED;
use crate::target::GAS;

pub(crate) static LOAD_TEST: LoadTest = LoadTest {
    scenarios: &[
        Scenario::of_calls(&["stub"], "pm_getPaymasterStubData for EntryPoint 0.7", STUB_07),
        Scenario::of_calls(&["data"], "pm_getPaymasterData for EntryPoint 0.7", DATA_07),
        Scenario {
            id: "journey",
            about: "what a wallet does: the stub, then data with what the stub brought",
            weight: 3,
            labels: &["journey/stub", "journey/data"],
            requests: Requests::Journey(
                STUB_07,
                DATA_07,
                Handover {
                    join,
                    taken: |answer: &Value, _| {
                        let result = answer["result"].as_object()?;
                        let members = paymaster_members(version(DATA_07), result);
                        (!members.is_empty()).then_some(Value::Object(members))
                    },
                },
            ),
        },
        Scenario {
            id: "errors",
            about: "requests that must be refused: operations that the profile lists as refused, malformed calls",
            weight: 1,
            labels: &["errors"],
            requests: Requests::Refused(&[&REFUSED, &MALFORMED_PARAMS]),
        },
    ],
    varying: &[("paymasterData", ValueForm::Bytes), ("paymasterAndData", ValueForm::Bytes)],
    rules_of_times: &["data.window"],
};

/// Gives the call for data the operation of the stub call, with limits that were estimated since and the paymaster members of the answer.
fn join(_: &dyn Knowledge, stub: &Value, data: &mut Value) {
    let drawn = data["params"][0].take();
    let operation = &mut data["params"][0];
    *operation = stub["params"][0].clone();
    let Some(members) = operation.as_object_mut() else { return };
    members.retain(|name, _| !name.starts_with("paymaster"));
    for name in GAS {
        members.extend(drawn.get(name).map(|limit| (name.to_owned(), limit.clone())));
    }
    members.insert(FROM_ANSWER.to_owned(), Value::Null);
}
