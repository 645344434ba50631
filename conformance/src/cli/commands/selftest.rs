//! `selftest`: checks the verdicts on the user's machine, against reference servers with known faults.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cli::{CommandError, SelftestArgs, block_on, filter, stop_at_interrupt};
use crate::report::progress;
use crate::report::words::count;
use crate::selftest::{
    self, Cases, Causes, Deviation, Matrix, NamedDefect, OnChain, PairTrial, ProfilePart, Row, Trials,
    deviations_on_chain, every_deviation, fault_pairs, run_pairs,
};
use paymaster_client::http::{Limits, Transport};
use paymaster_client::network::Target;
use paymaster_client::stop::Stop;
use paymaster_engine::cases::DEFAULT_CASES;
use paymaster_engine::specification::Specification;
use paymaster_reference_server::Config;
use paymaster_settings::{DEFAULT_SPECIFICATION, SPECIFICATIONS, exit, output};

/// Runs the command; returns the exit code.
pub(crate) fn run(args: &SelftestArgs) -> Result<u8, CommandError> {
    if let Some(number) = args.pairs {
        return pairs(number, args.seeds);
    }
    let on_chain = block_on(chain_of(args))?;
    let (tried, others) = match on_chain {
        Some(_) => (deviations_on_chain(), every_deviation()),
        None => (every_deviation(), deviations_on_chain()),
    };
    let mut deviations = select(&args.only, tried).map_err(|cause| match select(&args.only, others) {
        Ok(_) => format!(
            "{} can be tried {} only",
            args.only.join(", "),
            if on_chain.is_some() { "without --rpc-url" } else { "with --rpc-url and --server-config" }
        )
        .into(),
        Err(_) => cause,
    })?;
    // A sparse profile promises too little for faults to be caught.
    deviations.retain(|deviation| !args.sparse_profiles || deviation.fault().is_none());
    let seeds: Vec<u64> = (1..=args.seeds).collect();
    let trials = Trials {
        deviations: &deviations,
        seeds: &seeds,
        profile_parts: if args.sparse_profiles { ProfilePart::sparse } else { ProfilePart::whole },
        most_parts: args.profiles.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX)),
        cases: match args.cases {
            Some(cases) => Cases::Fixed(cases),
            None if args.causes => Cases::Fixed(DEFAULT_CASES),
            None => Cases::ShortFirst,
        },
        causes: args.causes,
        chain: on_chain.as_ref(),
    };
    // Each trial has a runtime of its own. This one waits for Ctrl-C meanwhile.
    let matrix = block_on(async {
        let stop = stop_at_interrupt();
        tokio::task::block_in_place(|| run_trials(&trials, &stop))
    })?;
    let is_whole = args.only.is_empty() && !args.sparse_profiles;
    let (mut text, mut code) = about_matrix(&matrix, trials.count(), is_whole);
    let causes = Causes::of(&matrix);
    if args.causes {
        if !causes.untrue.is_empty() {
            text.insert_str(0, "THE CAUSES DO NOT HOLD  the part CAUSES, below the table, says why\n");
        }
        text += &about_causes(&causes);
    }
    output::print(&text).map_err(|cause| format!("the matrix could not be written: {cause}"))?;
    if !causes.untrue.is_empty() {
        code = exit::VIOLATIONS;
    }
    Ok(code)
}

/// The chain of the trials, where one is given.
async fn chain_of(args: &SelftestArgs) -> Result<Option<OnChain>, CommandError> {
    let Some(url) = &args.chain.rpc_url else { return Ok(None) };
    let path = args.server_config.as_ref().ok_or(
        "--rpc-url wants --server-config PATH: which contracts of the reference server are on that chain",
    )?;
    let config = Config::load(path).map_err(|cause| format!("--server-config: {cause}"))?;
    let target = Target::parse(url).map_err(|cause| format!("--rpc-url: {cause}"))?;
    let transport = Transport::new(target, Limits::default(), &[]);
    let connected = args.chain.connect(Some(transport)).await;
    let chain = connected
        .map_err(|cause| CommandError::could_not_test(format!("could not ask the chain: {cause}")))?;
    Ok(chain.map(|chain| OnChain { chain, config }))
}

/// Runs the trials and shows the progress on a terminal.
fn run_trials(trials: &Trials<'_>, stop: &Stop) -> Result<Matrix, String> {
    let (done, wrong) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let all = trials.count();
    let matrix = selftest::run(trials, stop, &|trial| {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        let is_wrong = usize::from(trial.problem().is_some());
        let wrong = wrong.fetch_add(is_wrong, Ordering::Relaxed) + is_wrong;
        progress::show(&format!("{done} of {all} trials, {wrong} not as they must be"));
    });
    progress::show("");
    matrix
}

/// The deviations whose name or clause matches a filter; all of them where there is no filter. A filter that matches nothing is an
/// error.
fn select(filters: &[String], all: Vec<Deviation>) -> Result<Vec<Deviation>, CommandError> {
    let names = |deviation: &Deviation| match deviation {
        Deviation::Fault(_, fault) => vec![fault.name, fault.clause],
        Deviation::Variant(_, variant) => vec![variant.name],
    };
    filter::select(filters, all, names).map_err(|unmatched| {
        format!(
            "no fault, variant or clause matches {unmatched}; the reference server's --list-faults and --list-variants name them"
        )
        .into()
    })
}

/// The text about a matrix, and the exit code. `asked` is the number of requested trials. `is_whole` says that every fault and variant is
/// among them: only then is a rule that no fault breaks a problem.
fn about_matrix(matrix: &Matrix, asked: usize, is_whole: bool) -> (String, u8) {
    let missing = asked.saturating_sub(matrix.trials.len());
    let wrong = matrix.problems().into_iter().map(|(trial, problem)| {
        let name = named(trial.deviation.specification(), trial.deviation.name());
        match trial.profile_part {
            ProfilePart::Whole => format!("  {name} (seed {}) {problem}", trial.seed),
            part => format!("  {name} (seed {}, {}) {problem}", trial.seed, part.name()),
        }
    });
    let unproven = if is_whole && missing == 0 { matrix.unproven() } else { Vec::new() };
    let unproven = unproven
        .into_iter()
        .map(|(specification, rule)| format!("  no fault proves the rule {}", named(specification, rule.id)));
    let problems: Vec<String> = wrong.chain(unproven).collect();
    let (word, code) = match (problems.is_empty(), missing) {
        (false, _) => ("THE VERDICTS DO NOT HOLD", exit::VIOLATIONS),
        (true, 0) => ("THE VERDICTS HOLD", exit::CONFORMS),
        (true, _) => ("INCOMPLETE", exit::INCOMPLETE),
    };
    let (faults, variants) = matrix.counts();
    let runs = count(faults as u64, "run");
    let mut lines = vec![format!("{word}  {runs} with a fault, {variants} with a lawful variant")];
    if missing > 0 {
        lines.push(format!("  interrupted: {} left out", count(missing as u64, "run")));
    }
    lines.extend(problems);
    lines.push(String::new());
    lines.extend(matrix.rows().iter().map(text_of));
    (lines.join("\n") + "\n", code)
}

/// A name, with the specification where it is not the default one.
fn named(specification: &Specification, name: &str) -> String {
    if specification == DEFAULT_SPECIFICATION {
        name.to_owned()
    } else {
        format!("{}: {name}", specification.name)
    }
}

fn text_of(row: &Row) -> String {
    let rules = row.rules.iter().map(|(rule, &times)| match row.trials {
        all if all == times => (*rule).to_owned(),
        all => format!("{rule} ({times} of {all} seeds)"),
    });
    let rules = rules.collect::<Vec<_>>().join(", ");
    let rules = if rules.is_empty() { "-" } else { &rules };
    let (kind, verb) = match row.deviation {
        Deviation::Fault(..) => ("fault", "caught by"),
        Deviation::Variant(..) => ("variant", "breaks"),
    };
    let name = named(row.deviation.specification(), row.deviation.name());
    format!("{kind:<8} {name:<42} {verb:<9} {rules}")
}

/// How many causes are right, how many defects one fault gives, and every fault for which one of the two is not as it should be.
fn about_causes(causes: &Causes<'_>) -> String {
    let right = causes.named.iter().filter(|(_, right)| *right).count();
    let faults = count(causes.named.len() as u64, "fault");
    let median = count(causes.defects_at(0.5) as u64, "defect");
    let (high, most) = (causes.defects_at(0.95), causes.defects_at(1.0));
    let untrue = match causes.untrue.len() {
        1 => "1 cause contradicts".to_owned(),
        untrue => format!("{untrue} causes contradict"),
    };
    let mut lines = vec![
        String::new(),
        format!("CAUSES  the first defect names the member for {right} of the {faults} that depend on one"),
        format!("  one fault gives {median} in the median, {high} at the 95th percentile, {most} at most"),
        format!("  {untrue} what the fault depends on"),
    ];
    for (trial, defect) in &causes.untrue {
        lines.push(format!("\n  {} has an untrue cause", trial.deviation.name()));
        lines.extend(defects([*defect]));
    }
    for (trial, _) in causes.named.iter().filter(|(_, right)| !right) {
        let member = trial.deviation.fault().and_then(|fault| fault.member).unwrap_or_default();
        lines.push(format!("\n  {} depends on {member}", trial.deviation.name()));
        lines.extend(defects(&trial.defects));
    }
    for trial in causes.by_defects.iter().filter(|trial| trial.defects.len() > 1) {
        let number = count(trial.defects.len() as u64, "defect");
        lines.push(format!("\n  {} gives {number}", trial.deviation.name()));
        lines.extend(defects(&trial.defects));
    }
    lines.join("\n") + "\n"
}

/// The headline and cause of each defect.
fn defects<'a>(defects: impl IntoIterator<Item = &'a NamedDefect>) -> impl Iterator<Item = String> {
    defects.into_iter().map(|NamedDefect { headline, cause, rules, .. }| {
        let cause = if cause.is_empty() { "no cause found" } else { cause };
        format!("    {headline}\n      cause: {cause}; {}", count(*rules as u64, "rule"))
    })
}

/// `--pairs`: of how many of 100 pairs the two faults must be two defects, and of how many both causes must be named. A replay must be
/// right for every pair of which both causes are named.
const TWO_DEFECTS: usize = 95;
const BOTH_NAMED: usize = 90;

/// Runs so many pairs of faults of each specification with each seed; returns the exit code.
fn pairs(number: usize, seeds: u64) -> Result<u8, CommandError> {
    let draws =
        SPECIFICATIONS.iter().flat_map(|specification| (1..=seeds).map(move |seed| (*specification, seed)));
    let draws: Vec<_> = draws.map(|(own, seed)| (fault_pairs(own, number, seed), seed)).collect();
    // Of a specification with few faults, fewer pairs can be drawn.
    let asked = draws.iter().map(|(pairs, _)| pairs.len()).sum();
    let trials = block_on(async {
        let stop = stop_at_interrupt();
        let done = AtomicUsize::new(0);
        let on_trial = |_: &PairTrial| {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            progress::show(&format!("{done} of {asked} pairs"));
        };
        let trials = tokio::task::block_in_place(|| {
            draws
                .iter()
                .map(|(pairs, seed)| run_pairs(pairs, *seed, &stop, &on_trial))
                .collect::<Result<Vec<_>, _>>()
        });
        progress::show("");
        trials
    })?;
    let (text, code) = about_pairs(&trials.concat(), asked);
    output::print(&text).map_err(|cause| format!("the pairs could not be written: {cause}"))?;
    Ok(code)
}

/// The text about pairs of faults, of which `asked` were requested, and the exit code.
fn about_pairs(trials: &[PairTrial], asked: usize) -> (String, u8) {
    let (hidden, seen): (Vec<&PairTrial>, Vec<&PairTrial>) = trials.iter().partition(|trial| trial.is_hidden);
    let number = |is_right: fn(&PairTrial) -> bool| seen.iter().filter(|trial| is_right(trial)).count();
    let (two_defects, named) = (number(PairTrial::has_two_defects), number(PairTrial::names_both));
    let replayed = number(|trial| trial.names_both() && trial.is_replayed());
    let done = seen.len();
    let is_enough = |number: usize, of_100: usize| number * 100 >= of_100 * done;
    let holds = is_enough(two_defects, TWO_DEFECTS) && is_enough(named, BOTH_NAMED) && replayed == named;
    let (word, code) = match (holds, trials.len() < asked) {
        (false, _) => ("THE PAIRS DO NOT HOLD", exit::VIOLATIONS),
        (true, true) => ("INCOMPLETE", exit::INCOMPLETE),
        (true, false) => ("THE PAIRS HOLD", exit::CONFORMS),
    };
    let pairs = count(done as u128, "pair");
    let of_one_rule = number(|trial| trial.pair.is_of_one_rule);
    let mut lines = vec![
        format!("{word}  {pairs} of {asked} drawn, {of_one_rule} of one rule"),
        format!("  at least two defects: {two_defects}"),
        format!("  both causes named: {named}"),
        format!("  of these, replays right: {replayed}"),
    ];
    let faults = |trial: &PairTrial| trial.pair.faults.map(|fault| fault.name).join(" and ");
    lines.extend(
        hidden.into_iter().map(|trial| format!("  left out, one hides the other: {}", faults(trial))),
    );
    for trial in seen.into_iter().filter(|trial| !trial.is_as_wanted()) {
        lines.push(String::new());
        for (place, fault) in trial.pair.faults.iter().enumerate() {
            let (name, member) = (fault.name, fault.member.unwrap_or_default());
            let named = if trial.is_named[place] { "" } else { ", not named" };
            let replayed = if trial.is_fixed[place] { "" } else { ", replay not right" };
            lines.push(format!("  {name} depends on {member}{named}{replayed}"));
        }
        lines.extend(defects(&trial.defects));
    }
    (lines.join("\n") + "\n", code)
}

#[cfg(test)]
mod tests {
    use super::ProfilePart;
    use super::{
        Deviation, Matrix, NamedDefect, PairTrial, about_matrix, about_pairs, every_deviation, exit,
        fault_pairs, select,
    };
    use crate::selftest::Trial;
    use paymaster_engine::verdict::conclusion::Conclusion;
    use paymaster_settings::DEFAULT_SPECIFICATION;

    fn trial(name: &str, seed: u64, broken: &[&str]) -> Trial {
        let named = |deviation: &Deviation| deviation.name() == name;
        let is_broken = !broken.is_empty();
        Trial {
            deviation: every_deviation().into_iter().find(named).expect("it is there"),
            seed,
            profile_part: ProfilePart::Whole,
            broken: broken
                .iter()
                .map(|id| DEFAULT_SPECIFICATION.find_rule(id).expect("it is there"))
                .collect(),
            conclusion: if is_broken { Conclusion::Violations } else { Conclusion::Conforms },
            cut_short: None,
            defects: Vec::new(),
        }
    }

    #[test]
    fn the_matrix_as_it_is_read() {
        let matrix = Matrix {
            is_on_chain: false,
            trials: vec![
                trial("id-null", 1, &["answer.id"]),
                trial("quote-mode-missing", 1, &["quote-result.MODE", "answer.id"]),
                trial("token-errors-positive", 1, &[]),
                trial("id-null", 2, &[]),
                trial("quote-mode-missing", 2, &["quote-result.MODE"]),
                trial("token-errors-positive", 2, &[]),
            ],
        };
        insta::assert_snapshot!(about_matrix(&matrix, 7, false).0);
    }

    #[test]
    fn a_filter_that_matches_nothing_is_an_error_with_a_hint() {
        let known = every_deviation()[0].name();
        let typo = format!("{known}x");
        let error = select(&[known.to_owned(), typo], every_deviation()).expect_err("the second is unknown");
        let message = error.message;
        assert!(message.contains(&format!("did you mean `{known}`?")), "{message}");
        let by_clause = select(&["quote-result.*".to_owned()], every_deviation());
        assert!(by_clause.is_ok_and(|chosen| !chosen.is_empty()));
    }

    #[test]
    fn missing_trials_make_it_incomplete() {
        let (text, code) = about_matrix(&Matrix::default(), 3, true);
        assert_eq!(code, exit::INCOMPLETE);
        assert!(text.starts_with("INCOMPLETE"));
    }

    #[test]
    fn a_rule_that_no_fault_breaks_is_a_problem() {
        assert_eq!(about_matrix(&Matrix::default(), 0, true).1, exit::VIOLATIONS);
    }

    /// The trials of 100 pairs: so many of them have two defects, so many have both causes named, and so many of these are replayed rightly.
    fn of_100(two_defects: usize, named: usize, replayed: usize) -> Vec<PairTrial> {
        let pair = fault_pairs(DEFAULT_SPECIFICATION, 1, 1)[0];
        let defect = NamedDefect {
            headline: "a headline".to_owned(),
            cause: String::new(),
            kind: None,
            members: Vec::new(),
            rules: 1,
        };
        let one = |number: usize| PairTrial {
            pair,
            defects: vec![defect.clone(); if number < two_defects { 2 } else { 1 }],
            is_named: [true, number < named],
            is_fixed: [number < replayed, true],
            is_hidden: false,
        };
        (0..100).map(one).collect()
    }

    #[test]
    fn pairs_hold_where_enough_are_two_defects_with_causes_and_every_replay_is_right() {
        for (trials, code) in [
            (of_100(95, 90, 90), exit::CONFORMS),
            (of_100(94, 90, 90), exit::VIOLATIONS),
            (of_100(95, 89, 89), exit::VIOLATIONS),
            (of_100(95, 90, 89), exit::VIOLATIONS),
        ] {
            let (text, got) = about_pairs(&trials, 100);
            assert_eq!(got, code, "{text}");
        }
        let (text, code) = about_pairs(&of_100(95, 90, 90), 101);
        assert!(code == exit::INCOMPLETE && text.starts_with("INCOMPLETE  100 pairs of 101 drawn"), "{text}");
    }

    #[test]
    fn a_pair_of_which_one_fault_hides_the_other_is_left_out_of_the_numbers() {
        let mut trials = of_100(95, 90, 90);
        let hidden =
            PairTrial { is_hidden: true, defects: Vec::new(), is_named: [false; 2], ..trials[0].clone() };
        trials.extend(vec![hidden; 20]);
        let (text, code) = about_pairs(&trials, 120);
        assert_eq!(code, exit::CONFORMS, "{text}");
        for line in [
            "100 pairs of 120 drawn",
            "at least two defects: 95",
            "both causes named: 90",
            "replays right: 90",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert_eq!(text.matches("left out, one hides the other: ").count(), 20, "{text}");
    }
}
