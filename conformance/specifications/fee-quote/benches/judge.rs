//! What judging costs: one exchange of each pair, read and brought before every rule.

use std::{hint::black_box, time::Duration};

use bytes::Bytes;
use criterion::{Criterion, criterion_group, criterion_main};
use paymaster_engine::cases::case::{Base, Role};
use paymaster_engine::rules::View;
use paymaster_engine::session::judge::Judge;
use paymaster_exchange::{Exchange, Response};
use paymaster_fee_quote::{SPECIFICATION, base::Tokens, generate::Source, target::context::Context};
use paymaster_reference_server::{Config, Service};
use paymaster_schemas::{Kind, kinds};
use paymaster_settings::embedded::profile_of;

/// A request of that pair and the reference server's answer to it.
fn exchange(service: &Service, context: &Context, pair: Kind) -> Option<Exchange> {
    let base = Tokens::Supported.in_base(Base::accepted(pair));
    let request = Bytes::from(Source::new(1, context).base(&base)?.to_string());
    let reply = service.handle_bytes(&request, 1_800_000_000);
    let response = Response {
        status: reply.status,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: reply.body?.into(),
    };
    Some(Exchange::new(request, Ok(response), Duration::ZERO))
}

fn judging(criterion: &mut Criterion) {
    let config = Config::default();
    let Ok(service) = Service::new(&config) else { return };
    let context = Context::of(&*profile_of(&SPECIFICATION, &config, &[])).clone();
    let judge = Judge::new(SPECIFICATION.rules().collect());
    for pair in kinds::ALL {
        let Some(exchange) = exchange(&service, &context, pair) else { continue };
        let read = || View::new(Role::Call, "", black_box(&exchange), &context);
        let mut group = criterion.benchmark_group(pair.name);
        group.bench_function("read", |bencher| bencher.iter(read));
        let views = [read()];
        assert!(views[0].answer.result().is_some(), "{pair}: {:?}", exchange.outcome);
        group.bench_function("rules", |bencher| {
            bencher.iter(|| judge.views(black_box(&views), None, &context));
        });
        group.bench_function("both", |bencher| {
            bencher.iter(|| judge.views(&[read()], None, &context));
        });
        group.finish();
    }
}

criterion_group! {
    name = judge;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = judging
}
criterion_main!(judge);
