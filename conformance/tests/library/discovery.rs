//! What the first calls of a run learn of a target: its dialect, its tokens, and what it says of them.

use paymaster_conformance::run;
use paymaster_fee_quote::target::context::Support;
use paymaster_fee_quote::target::dialect::{Amounts, QuotedTokens};

use crate::*;

struct Silent;

impl Reporter for Silent {
    fn event(&mut self, _: &Event<'_>) {}
}

/// What is known after discovery alone of a server that deviates so, when the profile says that.
async fn learned(deviation: Option<&str>, profile: impl FnOnce(Profile) -> Profile) -> Arc<Context> {
    let config = Config::default();
    let service = InjectedService::from(Service::new(&config).expect("the default configuration is sound"));
    let service = match deviation {
        None => service,
        Some(name) => match find_variant(name) {
            Ok(variant) => service.with_variants([variant]),
            Err(_) => service.with_faults([find_fault(name).expect("it is a fault then")]),
        },
    };
    let server = Embedded::serve(&config, service).await.expect("a free port");
    let target = Target::parse(&server.url).expect("its own URL");
    let args = RunArgs {
        common: CommonArgs { seed: Some(3), ..CommonArgs::default() },
        cases: Some(1),
        jobs: Some(4),
        time_limit: Some(Duration::from_mins(1)),
        shrink_requests: Some(0),
        ..RunArgs::default()
    };
    let settings = Settings {
        closer_look: false,
        ..Settings::new(
            Transport::new(target, Limits::default(), &[]),
            server.url.clone(),
            Arc::new(Context::new(profile(Context::of(&*server.profile(&SPECIFICATION)).profile.clone()))),
            args,
        )
    };
    let suite = Suite {
        plan: |context, seed, cases| Plan::of(&[], context, seed, cases),
        ..Suite::of(DEFAULT_SPECIFICATION)
    };
    let outcome = run::check(&settings, &suite, &Stop::default(), &mut Silent).await;
    server.stop().await;
    Arc::new(Context::of(&*outcome.context).clone())
}

/// The profile says nothing.
fn silent(_: Profile) -> Profile {
    Profile::default()
}

#[tokio::test]
async fn each_reading_of_the_specification_is_learned_from_what_is_served() {
    let plain = learned(None, silent).await.dialect.clone();
    assert_eq!((plain.jsonrpc_version.as_str(), plain.sponsored_name.as_str()), ("2.0", "SPONSORED"));
    assert_eq!(plain.fee_token_member, "feeTokenAddress");
    assert_eq!(plain.quoted_tokens, QuotedTokens::Union);
    let of = async |variant| learned(Some(variant), silent).await.dialect.clone();
    assert_eq!(of("version-2-0-refused").await.jsonrpc_version, "2.0.0");
    assert_eq!(of("sponsored-refused").await.sponsored_name, "SPONSORSHIP");
    assert_eq!(of("fee-token-address-refused").await.fee_token_member, "tokenAddress");
    assert_eq!(of("decimal-amounts-refused").await.amount_notation, Amounts::Hex);
}

#[tokio::test]
async fn which_tokens_are_quoted_is_learned_beside_two_listed_ones() {
    let reading = async |deviation| learned(Some(deviation), |known| known).await.dialect.quoted_tokens;
    assert_eq!(reading("quotes-list-alone").await, QuotedTokens::List);
    assert_eq!(reading("quotes-preferred-alone").await, QuotedTokens::Preferred);
    // A target that leaves out the first of two listed tokens speaks no reading, and is not excused by one.
    assert_eq!(reading("quotes-without-first-listed").await, QuotedTokens::Union);
}

#[tokio::test]
async fn the_pinned_reading_stands() {
    let pinned = |known: Profile| Profile {
        dialect: paymaster_fee_quote::target::dialect::Pins {
            quoted_tokens: Some(QuotedTokens::List),
            ..Default::default()
        },
        ..known
    };
    let context = learned(Some("quotes-preferred-alone"), pinned).await;
    assert_eq!(context.dialect.quoted_tokens, QuotedTokens::List);
}

#[tokio::test]
async fn tokens_and_what_they_are_called_are_learned_from_quotes() {
    let config = Config::default();
    let context = learned(None, silent).await;
    let [first, ..] = config.tokens.as_slice() else {
        panic!("the default configuration has tokens");
    };
    assert_eq!(context.support(&first.address), Support::Supported);
    assert_eq!(
        context.support("0x9999999999999999999999999999999999999999"),
        Support::Unsupported,
        "what nobody has is not quoted"
    );
    // Those of the profile are asked for one by one, so that nothing is said of one in the place of another.
    let wrong_in_lists = learned(Some("fee-symbol-of-another"), |known| known).await;
    for token in &config.tokens {
        for context in [&wrong_in_lists, &learned(None, |known| known).await] {
            let told = context.facts.of(&token.address).expect("it was quoted");
            assert_eq!(told.symbol.as_deref(), Some(token.symbol.as_str()));
            assert_eq!(told.decimals.map(u32::from), Some(token.decimals));
        }
    }
}
