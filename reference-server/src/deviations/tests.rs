use serde_json::{Value, json};

use super::samples::{NOW, bodies, service};
use super::{Deviations, Kind};
use crate::chain::World;
use crate::{faults, variants};

/// Requests whose parts have the wrong kind, one part after another: every place that a deviation may look at.
fn misshapen() -> Vec<Vec<u8>> {
    let mut misshapen = Vec::new();
    // One of each pair is enough: what differs between samples is not their shape.
    for body in bodies().iter().take(4) {
        let Ok(request) = serde_json::from_slice::<Value>(body) else {
            continue;
        };
        for pointer in [
            "/method",
            "/params",
            "/params/0",
            "/params/0/sender",
            "/params/0/callData",
            "/params/1",
            "/params/1/mode",
            "/params/1/tokenInfo",
            "/params/1/tokenInfo/tokenList",
            "/params/1/tokenInfo/preferredToken",
            "/params/1/tokenInfo/feeTokenAddress",
            "/params/1/sponsorshipInfo",
            "/params/1/sponsorshipInfo/webhookData",
            "/params/1/sponsorshipInfo/smartAccountInfo",
        ] {
            for value in [json!(null), json!("x"), json!([[]])] {
                let mut changed = request.clone();
                if let Some(place) = changed.pointer_mut(pointer) {
                    *place = value;
                    misshapen.push(changed.to_string().into_bytes());
                }
            }
        }
    }
    misshapen
}

#[tokio::test]
async fn no_deviation_panics_on_misshapen_requests() {
    let service = service();
    let bodies = misshapen();
    assert!(bodies.len() > 100);
    let deeds = faults().map(|fault| (&fault.deed, Kind::Fault));
    let deeds = deeds.chain(variants().map(|variant| (&variant.deed, Kind::Variant)));
    let mut all = Deviations::new(Vec::new());
    for (deed, kind) in deeds {
        let mut alone = Deviations::new(Vec::new());
        alone.add(deed, kind);
        all.add(deed, kind);
        // A crossing waits each time: that it does not panic shows soon enough.
        let many = if matches!(deed.act, super::Act::Cross(_)) {
            20
        } else {
            bodies.len()
        };
        for body in bodies.iter().take(many) {
            alone.respond(&service, body, World::at(NOW)).await;
        }
    }
    // One after another, deviations see what others have left.
    for body in bodies.iter().step_by(11) {
        all.respond(&service, body, World::at(NOW)).await;
    }
}
