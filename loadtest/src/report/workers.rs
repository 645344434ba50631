//! The workers of a distributed run, for every report that people read.

use crate::{
    figures::cpu::GeneratorUsage,
    number::float,
    results::summary::RunSummary,
    text::{count, number, share},
};

/// Most workers that are shown. The JSON report has all of them.
const SHOWN: usize = 20;
/// With more load generators than this, their CPU use is one line.
const GENERATORS: usize = 4;

/// One line for each worker: its name, and its share of users and requests. Empty for a run of one machine.
pub(super) fn lines(summary: &RunSummary) -> Vec<String> {
    let all = summary.figures.total(None).counts.all();
    // Lost ones first: they are what a reader must see.
    let workers = summary.workers.iter();
    let (complete, lost): (Vec<_>, Vec<_>) = workers.partition(|worker| worker.state().is_none());
    let mut lines: Vec<String> = lost
        .into_iter()
        .chain(complete)
        .take(SHOWN)
        .map(|worker| {
            let index = worker.index.map_or_else(String::new, |index| format!(" (index {index})"));
            let state = worker.state().map(|state| format!(", {state}"));
            format!(
                "{}{index}: {}, {} ({}){}",
                worker.name,
                count(worker.users as u64, "user"),
                count(worker.requests, "request"),
                share(worker.requests, all),
                state.unwrap_or_default()
            )
        })
        .collect();
    let more = summary.workers.len().saturating_sub(SHOWN) as u64;
    if more > 0 {
        lines.push(format!("{} more: see the JSON report", number(more)));
    }
    lines
}

/// The CPU use of the load generators, which sent so many requests: a line each, or one for many.
pub(super) fn generators(all: &[GeneratorUsage], requests: u64) -> Vec<String> {
    let shares = || all.iter().filter_map(|generator| generator.cpu_share);
    if all.len() > GENERATORS {
        let (least, most) =
            shares().fold((1.0_f64, 0.0_f64), |(least, most), share| (least.min(share), most.max(share)));
        let (count, least, most) = (number(all.len() as u64), least * 100.0, most * 100.0);
        return vec![format!("{count} load generators used {least:.0} to {most:.0} % of their cores")];
    }
    let known = all
        .iter()
        .filter_map(|generator| Some((generator.cpu_share?, generator.cpu_seconds?, generator.cores)));
    let lines = known.map(|(share, cpu, cores)| {
        let each = cpu * 1e6 / float(requests.max(1));
        format!("the generator used {:.0} % of {cores} cores, {each:.1} us a request", share * 100.0)
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{report::fixtures, results::workers::WorkerShare};

    #[test]
    fn every_worker_is_named_with_its_share_and_lost_ones_come_first() {
        let mut summary = fixtures::passed();
        assert!(lines(&summary).is_empty());
        let worker = |index: u64, complete: bool| WorkerShare {
            index: Some(index),
            users: 5,
            requests: 250,
            complete,
            ..WorkerShare::missing(&format!("host_{index}"))
        };
        summary.workers = (0..30).map(|index| worker(index, index != 25)).collect();
        let shown = lines(&summary);
        assert_eq!(shown.len(), SHOWN + 1);
        assert!(
            shown[0].starts_with("host_25 (index 25): 5 users, 250 requests (25")
                && shown[0].ends_with(", lost"),
            "{shown:?}"
        );
        assert!(shown[SHOWN].starts_with("10 more"), "{shown:?}");
    }

    #[test]
    fn many_generators_are_one_line() {
        let generator = |share: f64| GeneratorUsage { cpu_share: Some(share), ..GeneratorUsage::default() };
        let one = GeneratorUsage { cpu_seconds: Some(2.0), cores: 4, ..generator(0.5) };
        assert_eq!(generators(&[one], 1_000), ["the generator used 50 % of 4 cores, 2000.0 us a request"]);
        let many: Vec<_> = [0.1, 0.2, 0.3, 0.4, 0.5].into_iter().map(generator).collect();
        assert_eq!(generators(&many, 1), ["5 load generators used 10 to 50 % of their cores"]);
    }
}
