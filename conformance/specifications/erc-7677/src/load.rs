//! What a load test sends.

use paymaster_engine::cases::MALFORMED_PARAMS;
use paymaster_engine::knowledge::Knowledge;
use paymaster_engine::load::{FROM_ANSWER, Handover, LoadTest, Requests, Scenario, ValueForm};
use serde_json::Value;

use crate::kinds::{DATA_06, DATA_07, STUB_07, paymaster_members, version};
use crate::relations::REFUSED;
use crate::target::GAS;

// No scenario names the kinds for other versions than 0.7: those that the target serves take turns.
pub(crate) static LOAD_TEST: LoadTest = LoadTest {
    scenarios: &[
        Scenario::of_calls(&["stub"], "pm_getPaymasterStubData for each EntryPoint served", STUB_07),
        Scenario::of_calls(&["data"], "pm_getPaymasterData for each EntryPoint served", DATA_07),
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
                        // Results for EntryPoint 0.6 have no paymaster of its own.
                        let kind = if result.contains_key("paymaster") { DATA_07 } else { DATA_06 };
                        let members = paymaster_members(version(kind), result);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_journey_takes_the_paymaster_members_of_either_form() {
        let Some(Requests::Journey(_, _, handover)) = LOAD_TEST.scenarios.iter().find_map(|scenario| {
            matches!(scenario.requests, Requests::Journey(..)).then_some(&scenario.requests)
        }) else {
            panic!("a scenario is a journey")
        };
        let of_06 = json!({ "paymasterAndData": "0x01" });
        let of_07 = json!({ "paymaster": "0x02", "paymasterData": "0x03", "paymasterPostOpGasLimit": "0x4" });
        for (result, taken) in [(&of_06, Some(&of_06)), (&of_07, Some(&of_07)), (&json!({}), None)] {
            assert_eq!((handover.taken)(&json!({ "result": result }), 0).as_ref(), taken);
        }
    }
}
