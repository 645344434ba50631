//! What discovery makes of a target that fails at first, and of one that speaks another dialect.

use paymaster_engine::session::discovery::Rounds;

use crate::*;

/// What is known after discovery, and how many requests were sent.
fn discovered(service: &Paymaster<'_>) -> (Dialect, usize) {
    let mut rounds = Rounds::new(Box::new(Discovery::new(Context::new(Profile::default()), 1)));
    let mut answers = Vec::new();
    while let Some(groups) = rounds.next_round(answers) {
        answers = groups
            .into_iter()
            .map(|group| (send(service, &group), group))
            .map(|(sent, group)| (group, sent))
            .collect();
    }
    let (discovery, sent) = rounds.finish(&SPECIFICATION);
    (Context::of(&*discovery.finish().0).dialect.clone(), sent.len())
}

#[test]
fn a_target_that_fails_at_first_keeps_the_default_dialect() {
    let service = Service::new(&Config::default()).unwrap();
    let (expected, fewest) = discovered(&|body| answer(&service, body));
    // Rounds 1 and 2 fail whole or in part.
    for failing in [4, 8, 15, 16, 17, 25, 40] {
        let seen = Cell::new(0);
        let (dialect, sent) = discovered(&|body| {
            seen.set(seen.get() + 1);
            if seen.get() <= failing { (500, b"starting".to_vec()) } else { answer(&service, body) }
        });
        assert_eq!(dialect, expected, "after {failing} failures");
        assert!(failing < 8 || sent > fewest, "{sent} of at least {fewest} are kept to be judged");
    }
}

#[test]
fn a_target_that_refuses_the_default_again_has_another_dialect() {
    let service = Service::new(&Config::default()).unwrap();
    let (dialect, _) = discovered(&|body| {
        let request: Value = serde_json::from_slice(body).unwrap();
        let is_hex = request["params"][0]["nonce"].as_str().is_some_and(|nonce| nonce.starts_with("0x"));
        if is_hex { answer(&service, body) } else { (400, b"hex, please".to_vec()) }
    });
    assert_ne!(dialect.amount_notation, Amounts::Decimal);
}
