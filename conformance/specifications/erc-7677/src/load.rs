//! What a load test sends.

use paymaster_engine::{
    cases::protocol::MALFORMED_PARAMS,
    load::{FROM_ANSWER, Handover, LoadTest, Requests, Scenario, ValueForm},
};
use serde_json::Value;

use crate::{
    kinds::{DATA_07, STUB_07, paymaster_members, version},
    relations::REFUSED,
};

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
                    join: |_, stub, data| {
                        for name in ["sender", "nonce", "callData"] {
                            data["params"][0][name] = stub["params"][0][name].clone();
                        }
                        data["params"][0][FROM_ANSWER] = Value::Null;
                    },
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
