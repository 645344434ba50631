//! The figures of reports: the reached rate, a target that stops answering, the difference from another run.

use std::sync::Mutex;

use serde_json::json;

use crate::*;

fn read(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

/// Whether a request belongs to the load: its id has 13 digits, that of a request of discovery fewer.
fn is_load(id: &str) -> bool {
    id.len() == 13
}

/// Starts a server that takes 10 ms for a request and serves one at a time: at most 100 per second.
fn slow_server() -> String {
    let turn = Mutex::new(());
    serve(move |_, id| {
        let _one_at_a_time = turn.lock().unwrap();
        thread::sleep(Duration::from_millis(10));
        sponsored(id)
    })
}

/// Starts a server that answers this many requests of the load and then closes every connection without an answer.
fn dying_server(served: usize) -> String {
    let left = AtomicUsize::new(served);
    serve(move |_, id| {
        let one_less = |left: usize| left.checked_sub(1);
        let alive = || left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok();
        if !is_load(id) || alive() { sponsored(id) } else { String::new() }
    })
}

#[test]
fn a_rate_that_was_not_reached_is_stated_and_fails_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let url = slow_server();
    let arguments = [url.as_str(), "-s", "sponsor-sponsored", "--rate", "400", "-d", "1s", "-u", "4"];
    let reports = ["-o", "a.json", "-o", "a.html", "-o", "a.md"];
    let (out, _) = ends(1, run(folder.path(), &[&arguments[..], &reports].concat()));
    let stated = "FAILED: 1 threshold missed; asked for 400/s, reached ";
    assert!(out.starts_with(stated), "{out}");

    let report = read(folder.path(), "a.json");
    let arrivals = |name: &str| report["arrivals"][name].as_u64().unwrap();
    assert_eq!(arrivals("due"), 400, "{out}");
    let unanswered = report["derived"]["unanswered-arrivals"].as_u64().unwrap();
    let fates = arrivals("in_time") + arrivals("late") + arrivals("unsent") + unanswered;
    assert_eq!(fates, 400, "{out}");
    // The sixth arrival is due after 12.5 ms, and can begin only after two others were served, after 20 ms.
    assert!(arrivals("in_time") <= 5 && arrivals("late") > 0, "{out}");
    assert!(out.contains("400 arrivals asked for in 1 s, "), "{out}");

    let derived = &report["derived"]["all"];
    let (answers, rate) = (&derived["answers"], derived["answers-per-second"].as_f64().unwrap());
    let seconds = report["seconds"].as_f64().unwrap();
    assert!((rate - answers.as_f64().unwrap() / seconds).abs() < 1e-6, "{derived}");
    assert!(rate <= 100.0, "the server cannot do more: {rate}");
    let shown = format!(": {rate:.1}/s, ");
    assert!(rate > 99.9 || out.contains(&shown), "{shown} in {out}");
    // 100 in a second, and those in progress when the last arrival began.
    let shortfall = &report["derived"]["shortfall"];
    assert!(shortfall["reached-per-second"].as_f64().unwrap() <= 105.0);
    assert_eq!(shortfall["generator-was-slow"], false);

    let slots = report["series"]["slots"].as_array().unwrap();
    assert!(slots[0]["due"].as_u64().unwrap() > 105, "{slots:?}");
    for slot in slots {
        // 100 in a second, and those in progress.
        assert!(slot["counts"]["good"].as_u64().unwrap() <= 105, "{slot}");
    }

    for page in ["a.html", "a.md"] {
        let page = std::fs::read_to_string(folder.path().join(page)).unwrap();
        assert!(page.contains(stated) && page.contains(" served late"), "{page}");
    }
    let page = std::fs::read_to_string(folder.path().join("a.html")).unwrap();
    let plot = page.split("<span class=\"title\">Arrivals and answers a second").nth(1).unwrap();
    let plot = plot.split("</figure>").next().unwrap();
    let marks = plot.split("<text x=\"100%\"").skip(1);
    assert!(marks.clone().count() > 1, "{plot}");
    for mark in marks.map(|mark| mark.split(['>', '<']).nth(1).unwrap()) {
        let rate: f64 = mark.trim_end_matches("/s").replace(' ', "").parse().unwrap();
        assert!(rate <= 400.0 && mark.ends_with("/s"), "{mark} in a plot: {plot}");
    }
    assert!(plot.contains("arrivals asked for") && plot.contains(">answers<"), "{plot}");
    let asked: Vec<u64> = slots.iter().map(|slot| slot["arrivals"].as_u64().unwrap()).collect();
    assert_eq!(asked[0], 400, "the schedule asks for all in the first second: {asked:?}");
    assert_eq!(asked.iter().sum::<u64>(), 400, "{asked:?}");

    // Two generators request twice the rate. A threshold of the user replaces the default.
    for (threshold, expected, begin) in [
        ("rps>=1", 1, "FAILED: 1 threshold missed; asked for 800/s, reached "),
        ("reached-rate>=1%", 0, "PASSED: asked for 800/s, reached "),
    ] {
        let (out, _) = ends(expected, run(folder.path(), &["merge", "a.json", "a.json", "-t", threshold]));
        assert!(out.starts_with(begin), "{out}");
        assert!(out.contains("800 arrivals asked for in 1 s, "), "{out}");
    }
    let Finished { out, err, .. } = run(folder.path(), &["compare", "a.json", "a.json"]);
    let row = out.lines().find(|line| line.contains("not served in time")).unwrap();
    assert!(row.contains("  same  "), "{out}{err}");
}

#[test]
fn a_target_that_stops_answering_ends_the_run_early_with_its_figures() {
    let folder = tempfile::tempdir().unwrap();
    let url = dying_server(200);
    let arguments = [url.as_str(), "-s", "sponsor-sponsored", "-d", "5m", "-u", "4", "-o", "a.json"];
    let (out, _) = ends(3, run(folder.path(), &arguments));
    assert!(
        out.starts_with("COULD NOT TEST") && out.contains("cut short: the target stopped answering: "),
        "{out}"
    );
    let report = read(folder.path(), "a.json");
    // Rates are over the time until the last answer; the outage, of two seconds at least, is stated.
    let seconds = report["seconds"].as_f64().unwrap();
    let outage: Vec<f64> = report["cut_short"]
        .as_str()
        .unwrap()
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    assert!((outage[0] - seconds).abs() < 0.06 && outage[1] >= 2.0, "{seconds}: {outage:?}");
    assert_eq!(count(&report, "good"), 200, "{out}");
    // Refused connections do not count as throughput, and there is a pause between them.
    let derived = &report["derived"]["all"];
    assert_eq!(derived["answers"], 200);
    let rate = derived["answers-per-second"].as_f64().unwrap();
    assert!((rate - 200.0 / seconds).abs() < 1e-6, "{derived}");
    assert!(out.contains("200 answers to "), "{out}");
    let failed = count(&report, "transport");
    assert!((2..400).contains(&failed), "{failed}");
    // The merged run could not test the target either.
    ends(3, run(folder.path(), &["merge", "a.json", "a.json"]));
}

#[test]
fn discovery_is_announced_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let before = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&before);
    let url = serve(move |_, id| {
        counted.fetch_add(usize::from(!is_load(id)), Ordering::SeqCst);
        sponsored(id)
    });
    let arguments = [url.as_str(), "-s", "sponsor-sponsored", "--max-requests", "20"];
    let reports = ["-o", "a.json", "-o", "a.html", "-o", "a.md"];
    let (out, err) = ends(0, run(folder.path(), &[&arguments[..], &reports].concat()));
    assert!(err.starts_with("discovery: "), "{err}");
    let requests = before.load(Ordering::SeqCst);
    assert!(requests > 10, "{requests}");
    assert_eq!(read(folder.path(), "a.json")["discovery"]["requests"], requests);
    let line = format!("{requests} requests of discovery, in ");
    let page = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    for text in [out, page("a.html"), page("a.md")] {
        assert!(text.contains(&line), "{line}: {text}");
    }
}

#[test]
fn a_first_round_of_discovery_that_fails_is_sent_once_more() {
    let folder = tempfile::tempdir().unwrap();
    for (failing, expected) in [(8, 0), (usize::MAX, 3)] {
        let url = serve(move |number, id| {
            if number < failing { http("500 Internal Server Error", "", "starting") } else { sponsored(id) }
        });
        let arguments = [url.as_str(), "-s", "sponsor-sponsored", "--max-requests", "20"];
        let Finished { code, out, err } = run(folder.path(), &arguments);
        assert_eq!(code, expected, "{failing}: {out}{err}");
    }
}

#[test]
fn a_target_that_stops_answering_shortly_before_the_end_could_not_be_tested_either() {
    let folder = tempfile::tempdir().unwrap();
    let url = dying_server(5);
    let arguments = [url.as_str(), "-s", "sponsor-sponsored", "-d", "1s", "-u", "2"];
    // A threshold that allows every failure.
    let thresholds = ["-t", "error-rate<=100%"];
    let (out, _) = ends(3, run(folder.path(), &[&arguments[..], &thresholds].concat()));
    assert!(out.contains("cut short: the target stopped answering: "), "{out}");
}

#[test]
fn requests_without_an_answer_do_not_count_as_throughput() {
    let folder = tempfile::tempdir().unwrap();
    // A gateway refuses half of the requests.
    let url =
        serve(
            |number, id| {
                if number % 2 == 0 && is_load(id) { http("502 Bad Gateway", "", "no") } else { sponsored(id) }
            },
        );
    let limits = ["--max-requests", "200", "-o", "a.json"];
    let (out, _) =
        ends(1, run(folder.path(), &[&[url.as_str(), "-s", "sponsor-sponsored"], &limits[..]].concat()));
    let report = read(folder.path(), "a.json");
    let good = count(&report, "good");
    assert_eq!(good + count(&report, "refused"), 200);
    let derived = &report["derived"]["all"];
    assert_eq!(derived["answers"], good);
    let rate = derived["answers-per-second"].as_f64().unwrap() * report["seconds"].as_f64().unwrap();
    assert!((rate - derived["answers"].as_f64().unwrap()).abs() < 1e-6, "{derived}");
    assert!(out.contains(&format!("{good} answers to 200 requests in ")), "{out}");
}

/// A report of eight seconds with 100 answers each, all with latencies of this class. A class that is higher by 16 is twice as long.
fn steady(report: &Value, class: u16) -> Value {
    let mut counts = report["warm_up"].clone();
    counts["good"] = 100.into();
    let classes = json!({ class.to_string(): 100 });
    let slot = json!({ "due": 100, "arrivals": 0, "user_ms": 0, "counts": counts, "classes": classes });
    let mut report = report.clone();
    report["seconds"] = 8.0.into();
    report["series"] = json!({ "seconds": 1, "slots": vec![slot; 8] });
    report
}

#[test]
fn a_comparison_shows_the_values_that_it_compares() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["-s", "quote-erc20", "--max-requests", "50", "-o", "run.json"];
    ends(0, run(folder.path(), &arguments));
    let report = read(folder.path(), "run.json");
    for (before, after, word, sign) in
        [(122, 138, "worse", "+"), (138, 122, "better", "-"), (122, 121, "same", "-"), (130, 130, "same", "")]
    {
        for (name, class) in [("before.json", before), ("after.json", after)] {
            let text = steady(&report, class).to_string();
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let arguments = ["compare", "before.json", "after.json", "-o", "new/compared.md"];
        let Finished { code, out, err } = run(folder.path(), &arguments);
        assert_eq!(code, i32::from(word == "worse"), "{out}{err}");
        let written = std::fs::read_to_string(folder.path().join("new/compared.md")).unwrap();
        let verdict = if word == "worse" { "WORSE" } else { "NOT WORSE" };
        assert!(written.starts_with(&format!("## Load test comparison: {verdict}\n")), "{written}");
        let row = out.lines().find(|line| line.contains("p95 latency")).unwrap();
        // `p95 latency (median)  200 us  400 us  worse  +100.0 % (noise 0.0 %)`
        let cells: Vec<&str> = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells[3], word, "{out}");
        let [old, new]: [f64; 2] =
            [cells[1], cells[2]].map(|cell| cell.strip_suffix(" us").unwrap().parse().unwrap());
        assert!(cells[4].starts_with(sign), "{row}");
        let change: f64 = cells[4].split(' ').next().unwrap().parse().unwrap();
        assert!(((new / old - 1.0) * 100.0 - change).abs() < 1.0, "{row}");
    }
}

#[test]
fn a_report_has_date_and_command_line_without_secrets_and_users_over_time() {
    let folder = tempfile::tempdir().unwrap();
    let url = serve(|_, id| sponsored(id));
    let with_key = format!("{url}k3y-of-the-path?token=k3y-of-the-query");
    let load = [with_key.as_str(), "-s", "sponsor-sponsored", "--test-plan", "2,1s;4,1s;4,1s;0,0s"];
    let headers = ["-H", "x-api-key: k3y-of-a-header", "-H", "x-short: k3y", "--timeout", "2s"];
    let reports = ["-o", "a.json", "-o", "a.html", "-o", "a.md", "-o", "a.xml"];
    ends(0, run(folder.path(), &[&load[..], &headers, &reports].concat()));
    let shown = format!(
        "paymaster-loadtest '{url}***?token=***' -s sponsor-sponsored --test-plan '2,1s;4,1s;4,1s;0,0s' -H 'x-api-key: ***' -H 'x-short: ***' --timeout 2s -o a.json"
    );
    let report = read(folder.path(), "a.json");
    assert!(report["command"].as_str().unwrap().starts_with(&shown), "{} {shown}", report["command"]);
    let date = report["derived"]["began"].as_str().unwrap();
    assert!(date.len() == "2026-03-01T12:00:00Z".len() && date.ends_with('Z'), "{date}");
    for name in ["a.json", "a.html", "a.md", "a.xml"] {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        // Three letters may be in an encoded histogram by chance.
        for secret in ["k3y-of", "x-short: k3y"] {
            assert!(!text.contains(secret), "{name}: {text}");
        }
        assert!(text.contains("paymaster-loadtest "), "{name}: {text}");
    }
    let page = std::fs::read_to_string(folder.path().join("a.html")).unwrap();
    let day = date.split('T').next().unwrap();
    assert!(page.contains(&format!(", {day} ")), "{page}");

    // Users rise to four.
    let slots = report["series"]["slots"].as_array().unwrap();
    let users: Vec<u64> = slots.iter().map(|slot| slot["user_ms"].as_u64().unwrap()).collect();
    assert!(users.iter().all(|users| *users <= 4_000), "{users:?}");
    assert!(users[0] > 0 && users.iter().max() > users.first(), "{users:?}");

    // A merged report has the command of the merge, those of the runs, and the sums.
    ends(0, run(folder.path(), &["merge", "a.json", "a.json", "-o", "both.json"]));
    let both = read(folder.path(), "both.json");
    assert_eq!(both["command"], "paymaster-loadtest merge a.json a.json -o both.json");
    assert_eq!(both["merged_commands"].as_array().unwrap().len(), 1, "{both}");
    assert_eq!(both["began"], report["began"]);
    let sums: Vec<u64> = both["series"]["slots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|slot| slot["user_ms"].as_u64().unwrap())
        .collect();
    assert_eq!(sums, users.iter().map(|users| users * 2).collect::<Vec<_>>());
}
