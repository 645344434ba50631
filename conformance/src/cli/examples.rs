//! The table of examples for the help of every command, the man pages and `docs/`. A test parses each line.

/// For each command (empty for none): command lines, and what each does.
pub(crate) const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "",
        &[
            ("paymaster-conformance", "judge the embedded reference server"),
            ("paymaster-conformance http://127.0.0.1:3000/rpc", "judge the server at this URL"),
        ],
    ),
    (
        "check",
        &[
            (
                "paymaster-conformance check http://127.0.0.1:3000/rpc --config paymaster.toml",
                "judge a target with a profile",
            ),
            (
                "paymaster-conformance check http://127.0.0.1:3000/rpc --rule 'quote*' --cases 1000",
                "only the rules of quotes, with more requests",
            ),
            (
                "paymaster-conformance check --report junit=junit.xml --report json=report.json --known-failing known-failing.toml",
                "in CI: URL from PAYMASTER_URL, reports, known failures",
            ),
        ],
    ),
    (
        "judge",
        &[
            ("paymaster-conformance judge wallet.har", "judge what a browser recorded"),
            (
                "paymaster-conformance judge - --endpoint 2 --allow-incomplete",
                "lines of JSON from standard input, the second endpoint of them",
            ),
        ],
    ),
    (
        "proxy",
        &[
            (
                "paymaster-conformance proxy --upstream http://127.0.0.1:3000/rpc",
                "forward a wallet's calls and judge them; Ctrl-C ends with the report",
            ),
            (
                "paymaster-conformance proxy --listen 127.0.0.1:0 --report har-all=wallet.har",
                "on a free port, upstream from PAYMASTER_URL, everything recorded",
            ),
        ],
    ),
    (
        "replay",
        &[
            (
                "paymaster-conformance replay paymaster-replays/answer.id-1.json http://127.0.0.1:3000/rpc",
                "send the requests of one finding again",
            ),
            (
                "paymaster-conformance replay paymaster-replays http://127.0.0.1:3000/rpc",
                "what is fixed, and what is still there",
            ),
        ],
    ),
    ("rules", &[("paymaster-conformance rules --json", "every rule, as JSON")]),
    (
        "explain",
        &[(
            "paymaster-conformance explain quote.tokens-quoted",
            "what a rule requires, and how it is judged",
        )],
    ),
    (
        "init",
        &[
            (
                "paymaster-conformance init http://127.0.0.1:3000/rpc",
                "ask the target, and write what it shows into paymaster.toml",
            ),
            ("paymaster-conformance init staging.toml", "a commented configuration file to fill in"),
        ],
    ),
    (
        "selftest",
        &[(
            "paymaster-conformance selftest --only id-zero-refused",
            "check that one fault is caught, and by no unrelated rule",
        )],
    ),
    (
        "compare",
        &[
            (
                "paymaster-conformance compare yesterday.json today.json",
                "what is new, what is fixed, what still fails",
            ),
            (
                "paymaster-conformance compare http://127.0.0.1:3000/rpc http://127.0.0.1:3001/rpc",
                "two targets, judged with the same seed",
            ),
        ],
    ),
    (
        "matrix",
        &[("paymaster-conformance matrix ours.json theirs.json", "implementations side by side on one page")],
    ),
    (
        "completions",
        &[(
            "paymaster-conformance completions bash",
            "a completion script, to be saved where the shell looks for it",
        )],
    ),
];

/// The examples of a command as text.
pub(crate) fn help(command: &str) -> String {
    let rows: Vec<String> = EXAMPLES
        .iter()
        .filter(|(name, _)| *name == command)
        .flat_map(|(_, rows)| rows.iter())
        .map(|(line, meaning)| format!("  {line}\n      {meaning}"))
        .collect();
    format!("Examples:\n{}", rows.join("\n"))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::args::Cli;

    #[test]
    fn every_command_has_examples_and_clap_accepts_them() {
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            assert!(EXAMPLES.iter().any(|(known, _)| *known == name), "{name} has no example");
            let help = command.clone().render_long_help().to_string();
            assert!(help.contains("Examples:\n"), "{name} does not show its examples");
        }
        for (command, rows) in EXAMPLES {
            for (line, _) in *rows {
                let words = line.split(' ').map(|word| word.trim_matches('\''));
                let cli = Cli::try_parse_from(words);
                assert!(cli.is_ok(), "{command}: {line}: {}", cli.unwrap_err());
            }
        }
    }
}
