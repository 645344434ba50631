//! What generating costs: base requests for each pair, strategies for each document, mutations and simpler forms.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use paymaster_engine::cases::case::Base;
use paymaster_engine::generate::{Overrides, mutate, runner, simpler, strategy};
use paymaster_fee_quote::SPECIFICATION;
use paymaster_fee_quote::base::Tokens;
use paymaster_fee_quote::generate::Source;
use paymaster_fee_quote::target::context::Context;
use paymaster_fee_quote::target::profile::{Accepts, Operations, Profile, Token, TokenLists};
use paymaster_schemas::{FEE_QUOTE, Kind, kinds};
use proptest::{prelude::Strategy, strategy::ValueTree};

fn context() -> Context {
    let supported =
        ["a", "b", "c"].map(|digit| Token { address: format!("0x{}", digit.repeat(40)), ..Token::default() });
    Context::new(Profile {
        tokens: TokenLists {
            supported: supported.into(),
            unsupported: vec![format!("0x{}", "e".repeat(40))],
            complete: false,
        },
        operations: Operations { accepts: Accepts::Any, ..Operations::default() },
        ..Profile::default()
    })
}

fn any(pair: Kind) -> Base {
    Tokens::Any.in_base(Base::accepted(pair))
}

fn bases(criterion: &mut Criterion) {
    let context = context();
    let mut group = criterion.benchmark_group("base");
    for pair in kinds::ALL {
        let mut source = Source::new(1, &context);
        group.bench_function(pair.name, |bencher| {
            bencher.iter(|| black_box(source.base(&any(pair))));
        });
    }
    group.bench_function("a-plan-of-3000", |bencher| {
        bencher.iter(|| {
            let mut source = Source::new(1, &context);
            for pair in kinds::ALL.iter().cycle().take(3_000) {
                black_box(source.base(&any(*pair)));
            }
        });
    });
    group.finish();
}

fn strategies(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("strategy");
    for document in FEE_QUOTE.documents() {
        let Ok(strategy) = strategy(document.name, &Overrides::new()) else { continue };
        let mut runner = runner(1);
        group.bench_function(document.name, |bencher| {
            bencher.iter(|| strategy.new_tree(&mut runner).map(|tree| tree.current()));
        });
    }
    group.finish();
}

fn derived(criterion: &mut Criterion) {
    let context = context();
    let pair = kinds::QUOTE_ERC20;
    let name = pair.request_document;
    let Some(base) = Source::new(1, &context).base(&any(pair)) else { return };
    criterion.bench_function("mutations", |bencher| {
        let broken = || mutate::sites(name).iter().filter_map(|site| site.apply(black_box(&base)));
        bencher.iter(|| broken().count());
    });
    criterion.bench_function("simpler", |bencher| {
        bencher.iter(|| simpler(Some(name), black_box(&base), SPECIFICATION.may_change));
    });
}

criterion_group! {
    name = generators;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1));
    targets = bases, strategies, derived
}
criterion_main!(generators);
