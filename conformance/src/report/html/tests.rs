use crate::report::{document::page, sample};
use paymaster_engine::{rules::Violation, verdict::summary::UnjudgedGroups};

#[test]
fn the_page_shows_what_is_broken_and_how_to_repeat_it() {
    let sample = sample::violations();
    let html = page(&sample.report());
    for part in [
        "VIOLATIONS",
        "id=\"answer.id\"",
        "data-state=\"inconclusive\"",
        "href=\"#quote-result.feeQuotes\"",
        "<mark><span class=\"k\">&quot;feeQuotes&quot;</span>",
        "curl -sS &quot;$PAYMASTER_URL&quot;",
        "paymaster-conformance replay paymaster-replays/quote-result.feeQuotes-1.json",
        "operations.refused-senders",
        "behaviour.<wbr>error-status",
        "feeTokenAddress",
        "docs/specification.md#section-27-token-mode-quote",
        "<dt>profile</dt><dd class=\"profile\">paymaster.toml</dd>",
        "id=\"defect-1\"",
        "href=\"#defect-1\"",
        "The nearest request that does not break it",
        "<mark><span class=\"k\">&quot;sender&quot;</span>",
        "Held 900 times, broken 1.",
        "What the signs and words mean",
    ] {
        assert!(html.contains(part), "{part} is missing");
    }
    assert!(!html.contains("s3cr3t-key") && !html.contains('\u{1b}'));
}

#[test]
fn what_profile_and_target_contradict_stands_below_the_headline() {
    let sample = sample::contradicted();
    let html = page(&sample.report());
    let head = html.split("</header>").next().unwrap();
    for part in [
        "either the profile or the target is wrong about tokens.supported[1], operations.sponsorable[0]",
        "Profile and target contradict each other. ",
        "<li>tokens.supported[1] (paymaster.toml, line 10): the profile states that the target supports the token 0x2791bca1f2de4661ed88a30c99a7a9449aa84174",
        "cause: 12 answers refused it or listed it as unsupported, and none served it (Defect 1 shows it)",
        "&quot;unsupportedTokens&quot;:[&quot;0x2791BCA1",
        "<li>operations.sponsorable[0] (paymaster.toml, line 6): the profile states that",
    ] {
        assert!(head.contains(part), "{part} is missing: {head}");
    }
    assert!(!html.contains("s3cr3t-key"));
    let without = page(&sample::violations().report());
    assert!(!without.contains("contradict each other"));
}

#[test]
fn a_run_without_answers() {
    let sample = sample::unanswered();
    let html = page(&sample.report());
    assert!(html.contains("COULD NOT TEST") && html.contains("no answer from 127.0.0.1:3000"));
    assert!(!html.contains("<h2>What is broken") && !html.contains("<h2>What was observed"));
}

#[test]
fn known_failures_are_shown_apart_from_broken_rules() {
    let sample = sample::known();
    let html = page(&sample.report());
    assert!(!html.contains("<h2>What is broken"));
    for part in [
        "<h2>Known failures",
        "Out of date, which fails the run: ",
        "Known: fails: null until release 7 (quotes team, until 2026-06-30)",
        "update the list of known failures",
        "unexpectedly passing: the rule held every time; delete the entry",
    ] {
        assert!(html.contains(part), "{part} is missing");
    }
}

/// Known failures are shown at their rules, all other findings at their defects.
#[test]
fn ids_are_unique_and_every_finding_is_shown_once() {
    for sample in [sample::violations(), sample::known(), sample::recorded()] {
        let html = page(&sample.report());
        let mut ids: Vec<&str> =
            html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all);
        for number in 0..sample.summary.findings.len() {
            assert!(ids.contains(&format!("curl-{number}").as_str()), "{number}");
        }
    }
}

#[test]
fn what_passed_is_folded() {
    let html = page(&sample::violations().report());
    let fold = html.split("<details class=\"part\">").find(|part| part.contains("id=\"quote-result.MODE\""));
    assert!(fold.is_some_and(|part| !part.contains("<article")));
}

/// The sample's list names a rule that its run did not judge.
#[test]
fn every_link_has_a_target() {
    for sample in [sample::violations(), sample::known(), sample::recorded()] {
        let html = page(&sample.report());
        for link in html.split("href=\"#").skip(1) {
            let id = link.split('"').next().unwrap();
            assert!(html.contains(&format!("id=\"{id}\"")), "{id}");
        }
    }
}

#[test]
fn recorded_traffic_has_no_seed() {
    let sample = sample::recorded();
    let html = page(&sample.report());
    assert!(html.contains("· 250 recorded exchanges") && !html.contains("· seed "));
    assert!(html.contains("left out: "));
}

/// Everything that a target can put into a report.
#[test]
fn markup_from_the_target_stays_text() {
    const EVIL: &str = "</script></style></code>--><img src=x onerror=alert(1)><!-- \" ' & \u{202e}";
    let mut sample = sample::violations();
    let finding = &mut sample.summary.findings[0];
    finding.violation = Violation {
        member: 1,
        pointer: format!("/result/{EVIL}"),
        expected: EVIL.to_owned(),
        actual: EVIL.to_owned(),
    };
    finding.attempts[0].violation = Some(finding.violation.clone());
    finding.group.members[1].label = EVIL.to_owned();
    // The cURL line has to send these very bytes, so nothing in it can be spelled out.
    finding.group.members[1].body = EVIL.replace('\u{202e}', "").into();
    for (number, body) in [(0, EVIL.to_owned()), (1, serde_json::json!({EVIL: [EVIL]}).to_string())] {
        let response = paymaster_exchange::Response {
            status: 200,
            headers: vec![("x".to_owned(), EVIL.to_owned())],
            body: body.into(),
        };
        finding.exchanges[number].outcome = Ok(response);
    }
    sample.summary.cut_short = Some(EVIL.to_owned());
    let unjudged = UnjudgedGroups { groups: 1, request: EVIL.to_owned(), label: EVIL.to_owned() };
    sample.summary.unjudged.insert(EVIL.to_owned(), unjudged);
    let values = sample.summary.observations.get_mut("behaviour.error-status").unwrap();
    values.insert(EVIL.to_owned(), 1);
    sample.summary.dialect.insert("jsonrpc-version".to_owned(), EVIL.into());
    let html = page(&sample.report());
    assert!(!html.contains("<img"), "markup got through");
    assert!(!html.contains('\u{202e}'), "what reorders lines got through");
    assert_eq!(html.matches("</script>").count(), 1);
    assert_eq!(html.matches("</style>").count(), 1);
    assert!(html.contains("&lt;img src=x onerror=alert(1)&gt;"));
}

/// A page loads nothing.
#[test]
fn nothing_is_loaded_from_anywhere() {
    let sample = sample::violations();
    let html = page(&sample.report());
    for word in [" src=", "@import", "url(", "<link", "<iframe", "fetch(", "XMLHttpRequest"] {
        assert!(!html.contains(word), "{word}");
    }
    assert!(html.contains("default-src &#39;none&#39;") || html.contains("default-src 'none'"));
}

/// What only warns and what was observed is a line, until it is opened.
#[test]
fn warnings_have_numbers_of_their_own_and_fold() {
    let html = page(&sample::violations().report());
    assert!(html.contains("<details class=\"defect\" id=\"warning-1\""), "{html}");
    assert!(!html.contains("defect-3"));
    // The request and the answer of each defect alone are unfolded.
    let open: Vec<&str> = html.split("<details class=\"more\" open>").skip(1).collect();
    assert_eq!(open.len(), 3);
    assert!(
        open.iter().all(|rest| rest.starts_with("<summary>Request, answer and how to repeat it<")),
        "{open:?}"
    );
}
