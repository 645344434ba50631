//! Merges runs of several machines into one.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use super::{RunSummary, Threshold, WorkerShare, summary::LoadModel};
use crate::text::count;

/// Most reasons for an early end that are listed.
const REASONS: usize = 10;
/// Most command lines of merged runs that are kept.
const COMMANDS: usize = 20;

/// The load of all runs together.
fn model_of(first: &RunSummary, runs: &[&RunSummary]) -> LoadModel {
    let mut model = first.model.clone();
    // Users that moved from one worker of a master to another are in the sum twice.
    let sum: usize =
        of_workers(runs).filter(|worker| worker.all_users.is_some()).map(|worker| worker.users).sum();
    let most = of_workers(runs).filter_map(|worker| worker.all_users).max();
    model.users =
        runs.iter().map(|run| run.model.users).sum::<usize>() - sum.saturating_sub(most.unwrap_or(sum));
    model.arrivals_asked = runs.iter().map(|run| run.model.arrivals_asked).sum();
    let rates: Vec<&str> = runs.iter().filter_map(|run| run.model.rate.as_deref()).collect();
    // Each worker of a distributed run names the rate of the whole run.
    let is_whole =
        runs.iter().all(|run| !run.workers.is_empty()) && rates.windows(2).all(|pair| pair[0] == pair[1]);
    let shown_rates = if is_whole { &rates[..rates.len().min(1)] } else { &rates };
    model.rate = (!rates.is_empty()).then(|| total_rate(shown_rates));
    model
}

fn of_workers<'r>(runs: &[&'r RunSummary]) -> impl Iterator<Item = &'r WorkerShare> {
    runs.iter().flat_map(|run| &run.workers)
}

/// Merges runs that took place at the same time and judges the result. Histograms and counts are added, so percentiles and rates
/// are those of all requests. The thresholds are `thresholds`, or those of the runs if that is empty. `missing` names workers that
/// took part and sent no figures. Of the workers of a distributed run, those are left out whose setup differs from that of most
/// others; the report names them.
pub fn merge(
    runs: &[RunSummary],
    thresholds: &[Threshold],
    missing: &[String],
) -> Result<RunSummary, String> {
    let usual = usual_setup(runs);
    let (left_out, runs): (Vec<_>, Vec<_>) =
        runs.iter().partition(|run| setup_of(run).is_some() && setup_of(run) != usual);
    let runs = &runs[..];
    let Some((first, others)) = runs.split_first() else {
        return Err("there is nothing to merge".to_owned());
    };
    let mut figures = first.figures.clone();
    for other in others {
        if other.target != first.target {
            let (one, another) = (&first.target, &other.target);
            return Err(format!("the runs loaded different targets: {one} and {another}"));
        }
        if other.model.name != first.model.name {
            return Err("runs of a closed and of an open model cannot be merged".to_owned());
        }
        figures.merge(&other.figures);
    }
    // Runs of different lengths overlap for the longest at most. A shorter time would give a rate that is too high.
    let length = runs.iter().map(|run| run.length()).max().unwrap_or_default();
    let of_runs = thresholds_of(runs);
    let unique = |of: fn(&RunSummary) -> &[String]| {
        let names: BTreeSet<&String> = runs.iter().flat_map(|run| of(run)).collect();
        names.into_iter().cloned()
    };
    let without_figures = left_out.iter().flat_map(|run| &run.workers);
    let workers = of_workers(runs)
        .cloned()
        .chain(without_figures.filter_map(|worker| Some(worker.left_out(usual?))))
        .chain(missing.iter().map(|name| WorkerShare::missing(name)));
    // A thousand times the same setup would make the report twice as large.
    let setup = |place| usual.filter(|_| place == 0).cloned().unwrap_or_default();
    let workers: Vec<WorkerShare> = workers
        .enumerate()
        .map(|(place, worker)| WorkerShare { all_users: None, setup: setup(place), ..worker })
        .collect();
    let cut_short = cut_short(runs, &workers);
    let commands = unique(|run| slice::from_ref(&run.command)).filter(|command| !command.is_empty());
    let merged = RunSummary {
        began: runs.iter().map(|run| run.began).min().unwrap_or_default(),
        merged_commands: commands.take(COMMANDS).collect(),
        target: first.target.clone(),
        curl: first.curl.clone(),
        embedded: runs.iter().any(|run| run.embedded),
        scenarios: if others.iter().all(|other| other.scenarios == first.scenarios) {
            first.scenarios.clone()
        } else {
            unique(|run| &run.scenarios).collect()
        },
        left_out: unique(|run| &run.left_out).collect(),
        seed: first.seed,
        model: model_of(first, runs),
        judge_share: runs.iter().map(|run| run.judge_share).fold(1.0, f64::min),
        cut_short,
        stopped_answering: runs.iter().any(|run| run.stopped_answering),
        generators: runs.iter().flat_map(|run| run.generators.clone()).collect(),
        workers,
        ..RunSummary::new(figures, length)
    };
    Ok(merged.judged_by(if thresholds.is_empty() { &of_runs } else { thresholds }))
}

/// The setup of the workers of a run; none if it is unknown.
fn setup_of(run: &RunSummary) -> Option<&BTreeMap<String, String>> {
    let first = run.workers.first().map(|worker| &worker.setup);
    first.filter(|setup| !setup.is_empty())
}

/// The setup that most of the workers have; none if all are unknown.
fn usual_setup(runs: &[RunSummary]) -> Option<&BTreeMap<String, String>> {
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for setup in runs.iter().filter_map(setup_of) {
        *counts.entry(setup).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(setup, _)| setup)
}

/// Why runs ended early, and which workers were lost; none if all is complete.
fn cut_short(runs: &[&RunSummary], workers: &[WorkerShare]) -> Option<String> {
    let mut reasons: BTreeSet<String> = runs.iter().filter_map(|run| run.cut_short.clone()).collect();
    reasons.extend(workers.iter().filter_map(WorkerShare::problem));
    let more = reasons.len().saturating_sub(REASONS) as u64;
    let mut shown: Vec<String> = reasons.into_iter().take(REASONS).collect();
    shown.extend((more > 0).then(|| format!("{} more", count(more, "reason"))));
    (!shown.is_empty()).then(|| shown.join("; "))
}

/// The thresholds of all runs without duplicates and without defaults.
fn thresholds_of(runs: &[&RunSummary]) -> Vec<Threshold> {
    let mut thresholds: Vec<Threshold> = Vec::new();
    for result in runs.iter().flat_map(|run| &run.thresholds) {
        if !result.by_default && !thresholds.contains(&result.threshold) {
            thresholds.push(result.threshold.clone());
        }
    }
    thresholds
}

/// The sum of constant rates. Rates in steps are listed.
fn total_rate(rates: &[&str]) -> String {
    let numbers: Option<Vec<f64>> = rates.iter().map(|rate| rate.parse().ok()).collect();
    numbers.map_or_else(|| rates.join(" + "), |numbers| numbers.iter().sum::<f64>().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::ModelName;
    use crate::{report::fixtures, results::RunVerdict};

    #[test]
    fn shards_are_judged_as_one_run() {
        let merged = merge(&[fixtures::passed(), fixtures::failed()], &[], &[]).unwrap();
        assert_eq!(merged.figures.total(None).counts.all(), 2_000);
        assert_eq!(merged.model.users, 20);
        assert_eq!(merged.verdict, RunVerdict::Failed);
        // Ten of the requests timed out.
        assert!((merged.rate() - 199.0).abs() < 1e-9);
        // 4 % wrong in one shard is 2 % in both.
        let own = |text: &str| vec![text.parse().unwrap(), "error-rate<5%".parse().unwrap()];
        let judged =
            |text| merge(&[fixtures::passed(), fixtures::failed()], &own(text), &[]).unwrap().verdict;
        assert_eq!(judged("wrong-rate<2.1%"), RunVerdict::Passed);
        assert_eq!(judged("wrong-rate<1.9%"), RunVerdict::Failed);
    }

    #[test]
    fn percentiles_are_those_of_all_requests() {
        let (left, right) = (fixtures::passed(), fixtures::failed());
        let merged = merge(&[left.clone(), right.clone()], &[], &[]).unwrap();
        let mut expected = left.figures.total(None);
        expected.merge(&right.figures.total(None));
        assert_eq!(merged.figures.total(None).latency, expected.latency);
        assert_eq!(merged.figures.series.slots.len(), left.figures.series.slots.len());
    }

    #[test]
    fn runs_that_differ_are_not_merged() {
        assert!(merge(&[], &[], &[]).is_err());
        let mut other = fixtures::passed();
        other.target = "http://elsewhere/".to_owned();
        assert!(merge(&[fixtures::passed(), other], &[], &[]).is_err());
        let mut open = fixtures::passed();
        open.model.name = ModelName::Open;
        assert!(merge(&[fixtures::passed(), open], &[], &[]).is_err());
    }

    /// The run of one worker with this target and this many users, of so many users of all workers.
    fn of_worker(index: u64, target: &str, users: usize, all_users: Option<usize>) -> RunSummary {
        let mut run = fixtures::passed();
        target.clone_into(&mut run.target);
        run.model.users = users;
        run.workers = vec![WorkerShare {
            index: Some(index),
            users,
            all_users,
            requests: 1_000,
            complete: true,
            setup: [("profile", "0"), ("target", target)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            ..WorkerShare::missing(&format!("host_{index}"))
        }];
        run
    }

    #[test]
    fn a_worker_with_another_setup_is_left_out_and_named() {
        let of = |index, target| of_worker(index, target, 5, None);
        let merged = merge(&[of(0, "http://b/"), of(1, "http://a/"), of(2, "http://a/")], &[], &[]).unwrap();
        assert_eq!(merged.verdict, RunVerdict::Incomplete);
        assert_eq!((merged.target.as_str(), merged.model.users), ("http://a/", 10));
        assert_eq!(merged.figures.total(None).counts.all(), 2_000);
        assert_eq!(
            merged.cut_short.as_deref(),
            Some(
                "worker host_0 (index 0) was left out: its setup is different: target http://b/ instead of http://a/"
            )
        );
        let requests: Vec<u64> = merged.workers.iter().map(|worker| worker.requests).collect();
        assert_eq!(requests, [1_000, 1_000, 0]);
        // The merged report can be merged again, with a run of one machine too.
        let mut alone = fixtures::passed();
        "http://a/".clone_into(&mut alone.target);
        let again = merge(&[merged, alone], &[], &[]).unwrap();
        assert_eq!(again.figures.total(None).counts.all(), 3_000);
        assert_eq!(again.workers.len(), 3);
    }

    #[test]
    fn users_that_moved_between_workers_count_once() {
        let users = |all_users| {
            let runs = [3, 4, 5]
                .map(|users| of_worker(users, "http://a/", usize::try_from(users).unwrap(), all_users));
            merge(&runs, &[], &[]).unwrap().model.users
        };
        assert_eq!(users(Some(9)), 9);
        // A run of another master, which is merged already, and one of one machine are not limited.
        let nine = [4, 5].map(|users| of_worker(users, "http://a/", 9, Some(9)));
        let mut nine = merge(&nine, &[], &[]).unwrap();
        let mut alone = fixtures::passed();
        for run in [&mut nine, &mut alone] {
            "http://a/".clone_into(&mut run.target);
        }
        let all = [nine.clone(), nine, alone, of_worker(7, "http://a/", 3, Some(3))];
        assert_eq!(merge(&all, &[], &[]).unwrap().model.users, 9 + 9 + 10 + 3);
        // A worker refused its users.
        assert_eq!(users(Some(20)), 12);
        assert_eq!(users(None), 12);
    }

    #[test]
    fn a_lost_worker_makes_a_run_incomplete_and_the_rate_is_that_of_the_whole() {
        let worker = |name: &str, complete: bool| {
            let mut run = fixtures::passed();
            run.model.rate = Some("500".to_owned());
            run.workers = vec![WorkerShare { index: Some(1), complete, ..WorkerShare::missing(name) }];
            run
        };
        let whole = merge(&[worker("a", true), worker("b", true)], &[], &[]).unwrap();
        assert_eq!((whole.verdict, whole.workers.len()), (RunVerdict::Passed, 2));
        assert_eq!(whole.model.rate.as_deref(), Some("500"));
        let lost = merge(&[worker("a", true), worker("b", false)], &[], &[]).unwrap();
        assert_eq!(lost.verdict, RunVerdict::Incomplete);
        assert!(lost.cut_short.unwrap().contains("worker b (index 1) was lost"));
        let silent = merge(&[worker("a", true)], &[], &["p".to_owned()]).unwrap();
        assert_eq!((silent.verdict, silent.workers.len()), (RunVerdict::Incomplete, 2));
        // A missed threshold fails the run all the same.
        let missed = ["p50<1us".parse().unwrap()];
        let failed = merge(&[worker("a", true), worker("b", false)], &missed, &[]).unwrap();
        assert_eq!(failed.verdict, RunVerdict::Failed);
        let many: Vec<String> = (0..50).map(|n| format!("p{n}")).collect();
        let many = merge(&[worker("a", true)], &[], &many).unwrap();
        assert!(many.cut_short.unwrap().ends_with("40 reasons more"));
    }

    #[test]
    fn a_merged_report_has_the_first_start_and_the_command_lines_of_the_runs() {
        let run = |began: u64, command: &str| RunSummary {
            began,
            command: command.to_owned(),
            ..fixtures::passed()
        };
        let merged = merge(&[run(20, "p -u 5"), run(10, "p -u 6"), run(30, "p -u 5")], &[], &[]).unwrap();
        assert_eq!(merged.began, 10);
        assert_eq!(merged.merged_commands, ["p -u 5", "p -u 6"]);
        let slots = |summary: &RunSummary| -> Vec<(u64, u64)> {
            let slots = summary.figures.series.slots.iter();
            slots.map(|slot| (slot.user_ms, slot.arrivals)).collect()
        };
        let of_one = slots(&fixtures::passed());
        assert!(of_one.iter().all(|(users, _)| *users > 0), "{of_one:?}");
        let of_three: Vec<_> = of_one.iter().map(|(users, arrivals)| (users * 3, arrivals * 3)).collect();
        assert_eq!(slots(&merged), of_three);
    }

    #[test]
    fn rates_add_up() {
        assert_eq!(total_rate(&["500", "250.5"]), "750.5");
        assert_eq!(total_rate(&["500", "0..100"]), "500 + 0..100");
    }
}
