use paymaster_service::SenderNonces;
use serde_json::{Value, json};

use super::InjectedService;
use super::samples::{NOW, arrival, bodies, service};
use crate::{faults, variants};

/// Requests in which one member has the wrong type: each member that an injection reads in turn.
fn malformed() -> Vec<Vec<u8>> {
    let mut malformed = Vec::new();
    // One of each pair is enough: the samples of a pair have the same members.
    for body in bodies().iter().take(4) {
        let Ok(request) = serde_json::from_slice::<Value>(body) else { continue };
        for pointer in
            "/method /params /params/0 /params/0/sender /params/0/callData /params/1 /params/1/mode \
            /params/1/tokenInfo /params/1/tokenInfo/tokenList /params/1/tokenInfo/preferredToken \
            /params/1/tokenInfo/feeTokenAddress /params/1/sponsorshipInfo \
            /params/1/sponsorshipInfo/webhookData /params/1/sponsorshipInfo/smartAccountInfo"
                .split(' ')
        {
            for value in [json!(null), json!("x"), json!([[]])] {
                let mut changed = request.clone();
                if let Some(place) = changed.pointer_mut(pointer) {
                    *place = value;
                    malformed.push(changed.to_string().into_bytes());
                }
            }
        }
    }
    malformed
}

#[tokio::test]
async fn no_injection_panics_on_malformed_requests() {
    let bodies = malformed();
    assert!(bodies.len() > 100);
    let alone = faults()
        .map(|fault| (InjectedService::from(service()).with_faults([fault]), &fault.injection))
        .chain(variants().map(|variant| {
            let service = InjectedService::from(service()).with_variants([variant]);
            (service, &variant.injection)
        }));
    for (service, injection) in alone {
        // Each swap waits for another request, so few requests must do.
        let many = match injection.behaviour {
            super::Behaviour::Swap(_) => 20,
            _ => bodies.len(),
        };
        for body in bodies.iter().take(many) {
            service.response(arrival(body), body, NOW, &SenderNonces::default()).await;
        }
    }
    // Together, each injection reads what those before it have changed.
    let all = InjectedService::from(service()).with_faults(faults()).with_variants(variants());
    for body in bodies.iter().step_by(11) {
        all.response(arrival(body), body, NOW, &SenderNonces::default()).await;
    }
}
