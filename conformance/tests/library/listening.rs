//! Exchanges are told to who asks for them, every one, and to nobody else.

use paymaster_conformance::run::{Reporters, check};

use crate::*;

/// Counts what it is told.
#[derive(Default)]
struct Listener {
    wants: bool,
    exchanges: usize,
    ended: bool,
}

impl Reporter for Listener {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Exchanged(_) => {
                assert!(!self.ended, "nothing comes behind the end");
                self.exchanges += 1;
            }
            Event::Finished(_) => self.ended = true,
            _ => {}
        }
    }

    fn wants_exchanges(&self) -> bool {
        self.wants
    }
}

#[tokio::test]
async fn every_exchange_is_told_to_who_asks() {
    let server = Embedded::start().await.unwrap();
    let args = RunArgs {
        common: CommonArgs { seed: Some(1), ..CommonArgs::default() },
        cases: Some(8),
        jobs: Some(20),
        time_limit: Some(Duration::from_mins(2)),
        shrink_requests: Some(10),
        ..RunArgs::default()
    };
    let settings = Settings::new(
        Transport::new(Target::parse(&server.url).unwrap(), Limits::default(), &[]),
        server.url.clone(),
        server.profile(DEFAULT_SPECIFICATION),
        args,
    );
    for wants in [false, true] {
        let (mut deaf, mut listener) = (Listener::default(), Listener { wants, ..Listener::default() });
        let mut both = Reporters(vec![&mut deaf, &mut listener]);
        let outcome = check(&settings, &Suite::of(DEFAULT_SPECIFICATION), &Stop::default(), &mut both).await;
        let expected = if wants { outcome.summary.requests } else { 0 };
        assert_eq!(listener.exchanges, expected);
        assert!(outcome.summary.requests > 100 && listener.ended);
    }
    server.stop().await;
}
