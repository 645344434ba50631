//! Runs of several machines, judged as one.

use std::collections::BTreeSet;

use crate::{
    summary::Summary,
    threshold::{Threshold, judge_all},
};

/// Adds up runs that went at the same time and judges them as one: histograms and counts are added, so percentiles and rates are
/// those of all requests together. Thresholds are `own`, or else those of the runs.
pub fn merge(parts: &[Summary], own: &[Threshold]) -> Result<Summary, String> {
    let Some((first, others)) = parts.split_first() else {
        return Err("there is nothing to merge".to_owned());
    };
    for other in others {
        if other.target != first.target {
            return Err(format!(
                "the runs went against different targets: {} and {}",
                first.target, other.target
            ));
        }
        if other.model.name != first.model.name {
            return Err("a closed and an open model cannot be judged as one".to_owned());
        }
    }
    let mut figures = first.figures();
    for other in others {
        figures.merge(&other.figures());
    }
    // Shards that ran for different times overlap for the longest at most: a rate must not come out too high.
    let length = parts.iter().map(Summary::length).max().unwrap_or_default();
    let thresholds = if own.is_empty() {
        thresholds(parts)
    } else {
        own.to_vec()
    };
    let judged = judge_all(&thresholds, &figures, length);
    let names = |of: fn(&Summary) -> &Vec<String>| -> Vec<String> {
        let unique: BTreeSet<&String> = parts.iter().flat_map(of).collect();
        unique.into_iter().cloned().collect()
    };
    let mut model = first.model.clone();
    model.users = parts.iter().map(|part| part.model.users).sum();
    model.arrivals_asked = parts.iter().map(|part| part.model.arrivals_asked).sum();
    let rates: Vec<&str> = parts
        .iter()
        .filter_map(|part| part.model.rate.as_deref())
        .collect();
    model.rate = (!rates.is_empty()).then(|| total_rate(&rates));
    let cut_short: BTreeSet<&str> = parts
        .iter()
        .filter_map(|part| part.cut_short.as_deref())
        .collect();
    let merged = Summary {
        began: parts.iter().map(|part| part.began).min().unwrap_or_default(),
        target: first.target.clone(),
        scenarios: if others.iter().all(|other| other.scenarios == first.scenarios) {
            first.scenarios.clone()
        } else {
            names(|part| &part.scenarios)
        },
        left_out: names(|part| &part.left_out),
        seed: first.seed,
        model,
        judge_share: parts.iter().map(|part| part.judge_share).fold(1.0, f64::min),
        cut_short: (!cut_short.is_empty()).then(|| cut_short.into_iter().collect::<Vec<_>>().join("; ")),
        stopped_answering: parts.iter().any(|part| part.stopped_answering),
        generators: parts.iter().flat_map(|part| part.generators.clone()).collect(),
        ..Summary::of(figures, length)
    };
    Ok(merged.judged(judged))
}

/// The thresholds that any of the runs had, each once; defaults come by themselves.
fn thresholds(parts: &[Summary]) -> Vec<Threshold> {
    let mut thresholds: Vec<Threshold> = Vec::new();
    for judged in parts.iter().flat_map(|part| &part.thresholds) {
        if !judged.by_default && !thresholds.contains(&judged.threshold) {
            thresholds.push(judged.threshold.clone());
        }
    }
    thresholds
}

/// Constant rates add up; changing ones are named one after the other.
fn total_rate(rates: &[&str]) -> String {
    let numbers: Option<Vec<f64>> = rates.iter().map(|rate| rate.parse().ok()).collect();
    numbers.map_or_else(
        || rates.join(" + "),
        |numbers| numbers.iter().sum::<f64>().to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{report::sample, summary::Verdict};

    #[test]
    fn shards_are_judged_as_one_run() {
        let merged = merge(&[sample::passed(), sample::failed()], &[]).unwrap();
        assert_eq!(merged.total().counts.all(), 2_000);
        assert_eq!(merged.model.users, 20);
        assert_eq!(merged.verdict, Verdict::Failed);
        // Ten of the requests timed out.
        assert!((merged.rate() - 199.0).abs() < 1e-9);
        // 4 % wrong in one shard is 2 % in both.
        let own = |text: &str| vec![text.parse().unwrap(), "error-rate<5%".parse().unwrap()];
        let judged = |text| {
            merge(&[sample::passed(), sample::failed()], &own(text))
                .unwrap()
                .verdict
        };
        assert_eq!(judged("wrong-rate<2.1%"), Verdict::Passed);
        assert_eq!(judged("wrong-rate<1.9%"), Verdict::Failed);
    }

    #[test]
    fn percentiles_are_those_of_all_requests() {
        let (left, right) = (sample::passed(), sample::failed());
        let merged = merge(&[left.clone(), right.clone()], &[]).unwrap();
        let mut expected = left.total();
        expected.merge(&right.total());
        assert_eq!(merged.total().latency, expected.latency);
        assert_eq!(merged.series.slots.len(), left.series.slots.len());
    }

    #[test]
    fn what_cannot_be_one_run_is_refused() {
        assert!(merge(&[], &[]).is_err());
        let mut other = sample::passed();
        other.target = "http://elsewhere/".to_owned();
        assert!(merge(&[sample::passed(), other], &[]).is_err());
        let mut open = sample::passed();
        open.model.name = "open".to_owned();
        assert!(merge(&[sample::passed(), open], &[]).is_err());
    }

    #[test]
    fn rates_add_up() {
        assert_eq!(total_rate(&["500", "250.5"]), "750.5");
        assert_eq!(total_rate(&["500", "0..100"]), "500 + 0..100");
    }
}
