//! The table of examples for the help of every command, the man pages and `docs/`. A test parses each line.

/// For each command (empty for none): command lines, and what each does.
pub(crate) const EXAMPLES: &[(&str, &str, &str)] = &[
    ("", "", "judge the embedded reference server"),
    ("", "http://127.0.0.1:3000/rpc", "judge the server at this URL"),
    ("check", "http://127.0.0.1:3000/rpc --config paymaster.toml", "judge a target with a profile"),
    (
        "check",
        "http://127.0.0.1:3000/rpc --rule 'quote*' --cases 1000",
        "only the rules of quotes, with more requests",
    ),
    (
        "check",
        "--report junit=junit.xml --report json=report.json --known-failing known-failing.toml",
        "in CI: URL from PAYMASTER_URL, reports, known failures",
    ),
    ("judge", "wallet.har", "judge what a browser recorded"),
    (
        "judge",
        "- --endpoint 2 --allow-incomplete",
        "lines of JSON from standard input, the second endpoint of them",
    ),
    (
        "proxy",
        "--upstream http://127.0.0.1:3000/rpc",
        "forward a wallet's calls and judge them; Ctrl-C ends with the report",
    ),
    (
        "proxy",
        "--listen 127.0.0.1:0 --report har-all=wallet.har",
        "on a free port, upstream from PAYMASTER_URL, everything recorded",
    ),
    (
        "replay",
        "paymaster-replays/answer.id-1.json http://127.0.0.1:3000/rpc",
        "send the requests of one finding again",
    ),
    ("replay", "paymaster-replays http://127.0.0.1:3000/rpc", "what is fixed, and what is still there"),
    ("rules", "--json", "every rule, as JSON"),
    ("explain", "quote.tokens-quoted", "what a rule requires, and how it is judged"),
    ("init", "http://127.0.0.1:3000/rpc", "ask the target, and write what it shows into paymaster.toml"),
    ("init", "staging.toml", "a commented configuration file to fill in"),
    ("selftest", "--only id-zero-refused", "check that one fault is caught, and by no unrelated rule"),
    ("compare", "yesterday.json today.json", "what is new, what is fixed, what still fails"),
    (
        "compare",
        "http://127.0.0.1:3000/rpc http://127.0.0.1:3001/rpc",
        "two targets, judged with the same seed",
    ),
    ("matrix", "ours.json theirs.json", "implementations side by side on one page"),
    ("completions", "bash", "a completion script, to be saved where the shell looks for it"),
];

/// The examples of a command as text.
pub(crate) fn help(command: &str) -> String {
    let own = EXAMPLES.iter().filter(|(name, ..)| *name == command);
    let row = |(name, args, meaning): &(&str, &str, &str)| format!("  {}\n      {meaning}", line(name, args));
    let rows: Vec<String> = own.map(row).collect();
    format!("Examples:\n{}", rows.join("\n"))
}

/// The command line of an example.
fn line(command: &str, args: &str) -> String {
    let words = ["paymaster-conformance", command, args];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
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
            assert!(EXAMPLES.iter().any(|(known, ..)| *known == name), "{name} has no example");
            let help = command.clone().render_long_help().to_string();
            assert!(help.contains("Examples:\n"), "{name} does not show its examples");
        }
        for (command, args, _) in EXAMPLES {
            let line = line(command, args);
            let words = line.split(' ').map(|word| word.trim_matches('\''));
            let cli = Cli::try_parse_from(words);
            assert!(cli.is_ok(), "{command}: {line}: {}", cli.unwrap_err());
        }
    }
}
