//! The arguments of every command.

use std::{path::PathBuf, time::Duration};

use alloy_primitives::Address;
use clap::{Args, Parser, Subcommand};
use paymaster_client::http::Transport;
use paymaster_client::network::Target;
use paymaster_client::redact::Redactor;
use paymaster_engine::rules::Rule;
use paymaster_schemas::Basis;
use paymaster_settings::args::{RunArgs, StrictnessArgs, TrustArgs};
use paymaster_settings::output::{RPC_VARIABLE, shell};
use paymaster_settings::{Setup, duration, shown_url};

use crate::cli::{CommandError, examples};
use crate::report::{Extent, formats};
use crate::run::Chain;

/// Judges a paymaster JSON-RPC service (ERC-4337), clause by clause of its specification.
///
/// Without a URL, an embedded reference server is started on a free loopback port and judged.
#[derive(Debug, Parser)]
#[command(
    name = "paymaster-conformance",
    version,
    long_version = paymaster_version::BUILD,
    args_conflicts_with_subcommands = true
)]
#[command(
    after_help = format!("{}\n\n{}", examples::help(""), paymaster_settings::exit::help(paymaster_settings::exit::TABLE)),
    after_long_help = format!("{}\n\n{}\n\n{}", examples::help(""), paymaster_settings::settings::environment::help(), paymaster_settings::exit::help(paymaster_settings::exit::TABLE)),
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) check: CheckArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Judge the paymaster at a URL (the default command).
    #[command(after_help = examples::help("check"))]
    Check(Box<CheckArgs>),
    /// List the rules.
    #[command(after_help = examples::help("rules"))]
    Rules {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Explain a rule: what it requires, the section of the specification, and how it is judged.
    #[command(after_help = examples::help("explain"))]
    Explain {
        /// The id of a rule or clause, as `rules` lists it.
        rule: String,
    },
    /// Write a paymaster.toml: with a URL, what the target shows; without one, a commented file to fill in.
    ///
    /// With a URL it sends about a hundred requests: which forms and smart accounts are served, which tokens, which sizes. What was found is
    /// written as keys, and what only the vendor can say as comments. Exits with 3, and writes no file, when the target does not answer.
    #[command(after_help = examples::help("init"))]
    Init(Box<InitArgs>),
    /// Send the requests of a finding, or of all findings of a run, again and judge the answers.
    ///
    /// Exits with 1 when a rule is broken again, with 0 when it was judged and held, with 4 when the rule judges none of the answers,
    /// and with 3 when the target could not be tested, for example because of a wrong key. With a folder, 1 comes before 3, and 3 before 4.
    #[command(after_help = examples::help("replay"))]
    Replay(Box<ReplayArgs>),
    /// Judge recorded traffic by the same rules; nothing is sent.
    #[command(after_help = examples::help("judge"))]
    Judge(Box<JudgeArgs>),
    /// Forward a wallet's traffic to the paymaster and judge it at the same time.
    #[command(after_help = examples::help("proxy"))]
    Proxy(Box<ProxyArgs>),
    /// Compare two runs of one target by their reports, or two targets with the same seed.
    ///
    /// Headers, profile and seed are the same for both targets. Exits with 1 when something fails in the second that did not fail in
    /// the first, with 4 when stated rules are no longer judged, with 3 when one of the targets could not be tested.
    #[command(after_help = examples::help("compare"))]
    Compare(Box<CompareArgs>),
    /// Write one page with several reports side by side, and a badge (SVG) for each.
    #[command(after_help = examples::help("matrix"))]
    Matrix(MatrixArgs),
    /// Run against reference servers that break one clause, or use an option that the specification allows, and check the verdicts.
    #[command(after_help = examples::help("selftest"))]
    Selftest(SelftestArgs),
    /// Print a completion script for a shell.
    #[command(after_help = examples::help("completions"))]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write a man page for each command into a folder.
    #[command(hide = true)]
    Man {
        /// The folder; it is created where it is missing.
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The paymaster URL to ask, or the file to write [default: paymaster.toml].
    #[arg(value_name = "URL_OR_FILE")]
    pub(crate) target: Option<String>,
    /// The file to write, beside a URL. An existing file is not overwritten [default: paymaster.toml].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// A JSON report (--report json=FILE) or a paymaster URL: the baseline.
    pub(crate) before: String,
    /// A report or a paymaster URL: what is compared with the baseline.
    pub(crate) after: String,
    /// Write the comparison to this page too; with the ending `.md` in Markdown.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Judge only these rules of a URL, as in a check; repeatable.
    #[arg(long = "rule", value_name = "FILTER")]
    pub(crate) rules: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct MatrixArgs {
    /// JSON reports (--report json=FILE); each is a column named after its file.
    #[arg(required = true, value_name = "REPORT")]
    pub(crate) reports: Vec<PathBuf>,
    /// The page to write; with the ending `.md` in Markdown, without badges, and with the clauses alone in which the reports differ.
    #[arg(short, long, value_name = "FILE", default_value = "paymaster-matrix.html")]
    pub(crate) output: PathBuf,
    /// The folder for the badges [default: the folder of the page].
    #[arg(long, value_name = "DIR")]
    pub(crate) badges: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SelftestArgs {
    /// Run every trial with this many seeds.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) seeds: u64,
    /// The smallest number of requests for each method and mode [default: as in a check; 20 for a fault, and as in a check
    /// when that does not catch it].
    #[arg(long, value_name = "N")]
    pub(crate) cases: Option<u32>,
    /// Only the faults and variants with this name, or of this clause; `*` matches any letters; repeatable.
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Run only the lawful variants, each with an empty profile, with parts of its profile, and with the one that
    /// `init URL` writes: no run may report a violation.
    #[arg(long)]
    pub(crate) sparse_profiles: bool,
    /// With --sparse-profiles: take this many of those profiles for each variant, other ones for the next variant and with another seed.
    #[arg(long, value_name = "N", requires = "sparse_profiles", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) profiles: Option<u64>,
    /// Look for the cause of every finding too, and print how well the causes of the faults are named.
    #[arg(long, conflicts_with = "sparse_profiles")]
    pub(crate) causes: bool,
    /// Run against this many pairs of unrelated faults in one server instead, and check that each fault is a defect with its own cause,
    /// and that a replay without one of them reports its defects alone as fixed.
    #[arg(long, value_name = "N", conflicts_with_all = ["sparse_profiles", "causes", "only", "cases", "rpc_url"])]
    pub(crate) pairs: Option<usize>,
    #[command(flatten)]
    pub(crate) chain: ChainArgs,
    /// With --rpc-url: the configuration of the reference server, with the addresses of its contracts on that chain and the key of their
    /// signer. Only faults that a contract shows are tried then, and the lawful variants of ERC-7677 whose data a contract accepts.
    #[arg(long, value_name = "PATH", requires = "rpc_url")]
    pub(crate) server_config: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The paymaster URL, such as http://127.0.0.1:3000/rpc or https://host/key.
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) chain: ChainArgs,
    /// Judge only these rules, and send only what they need: ids of rules or clauses; `*` matches any letters; repeatable.
    #[arg(long = "rule", value_name = "FILTER")]
    pub(crate) rules: Vec<String>,
    /// A run of about 60 s, a third of it for confirming: every rule first, then as much depth as fits. A run that would take more than two
    /// minutes at the rate of the target is one unless --time-limit or --cases is given.
    #[arg(long, conflicts_with = "cases")]
    pub(crate) quick: bool,
    /// End at the first violation that is seen again when its requests are sent again.
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Print what would be sent, and send nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What is written about a run.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Write a report; repeatable. FORMAT is one of the formats below; PATH may be `-` for standard output.
    #[arg(short = 'o', long, value_name = "[FORMAT=]PATH", help = about_reports())]
    pub(crate) report: Vec<String>,
    #[command(flatten)]
    pub(crate) extent: Extent,
    #[command(flatten)]
    pub(crate) known: KnownArgs,
    /// The folder for replay files; it is created when there is one to write.
    #[arg(long, value_name = "DIR", default_value = "paymaster-replays")]
    pub(crate) replay_dir: PathBuf,
}

/// The arguments that `judge` and `proxy` share: both judge requests that others sent.
#[derive(Debug, Args)]
pub(crate) struct JudgingArgs {
    /// The configuration file [default: paymaster.toml, where it exists].
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The specification that the traffic is judged by [default: the one of the configuration file, else fee-quote].
    #[arg(long, value_name = "NAME")]
    pub(crate) spec: Option<String>,
    /// Judge only these rules: ids of rules or clauses; `*` matches any letters; repeatable.
    #[arg(long = "rule", value_name = "FILTER")]
    pub(crate) rules: Vec<String>,
    #[command(flatten)]
    pub(crate) strictness: StrictnessArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    /// A HAR file, or lines of JSON with one exchange each; `-` for standard input.
    pub(crate) file: PathBuf,
    /// The endpoint to judge where the recording has several: its number in the printed list, or a part of its URL.
    #[arg(long, value_name = "ENDPOINT")]
    pub(crate) endpoint: Option<String>,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ProxyArgs {
    /// The paymaster URL to forward everything to [default: PAYMASTER_URL, or target.url of the configuration file].
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Option<String>,
    /// Address and port to listen on; port 0 means a free port, which is printed.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:4337")]
    pub(crate) listen: String,
    /// Timeout of one exchange with the upstream, such as 500ms or 10s [default: 30s].
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct KnownArgs {
    /// The list of known failures. Its entries are still judged and do not fail the run, until they pass or expire.
    #[arg(long, value_name = "FILE")]
    pub(crate) known_failing: Option<PathBuf>,
    /// Add what failed to the list of known failures, each with the reason why it is accepted for now.
    #[arg(long)]
    pub(crate) update_known_failing: bool,
    /// The reason for the added entries [default: asked for on a terminal].
    #[arg(long, value_name = "TEXT", requires = "update_known_failing")]
    pub(crate) reason: Option<String>,
    /// The owner of the added entries [default: asked for on a terminal].
    #[arg(long, value_name = "NAME", requires = "update_known_failing")]
    pub(crate) owner: Option<String>,
    /// The last day on which the added entries count, such as 2027-01-31 [default: in 90 days].
    #[arg(long, value_name = "DATE", requires = "update_known_failing")]
    pub(crate) expires: Option<chrono::NaiveDate>,
}

fn about_reports() -> String {
    format!(
        "Write a report; repeatable. PATH is a file, or `-` for standard output [default: paymaster-report.*]; missing folders are made. \
         Without FORMAT=, the ending of PATH is the format. Formats: {}",
        formats::help()
    )
}

/// The chain on which returned operations are simulated.
#[derive(Debug, Default, Args)]
pub(crate) struct ChainArgs {
    /// Simulate returned operations on the target's chain: the JSON-RPC URL of a node.
    #[arg(long, value_name = "URL")]
    pub(crate) rpc_url: Option<String>,
    /// The address of EntryPoint 0.6 on that chain, where it is another than the published one. Requests of ERC-7677 name theirs.
    #[arg(long, value_name = "ADDRESS", requires = "rpc_url")]
    pub(crate) entry_point: Option<Address>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The replay file, or the folder of a run with all of them.
    #[arg(value_name = "FILE_OR_FOLDER")]
    pub(crate) file: PathBuf,
    /// The URL to send to [default: the URL in each replay file, where nothing of it was secret].
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) chain: ChainArgs,
}

// `--rpc-url` and `--entry-point`: the chain on which returned operations are simulated.

impl ChainArgs {
    /// A transport to the node, where one is given.
    pub(crate) fn transport(&self, setup: &Setup) -> Result<Option<Transport>, CommandError> {
        let transport = self.rpc_url.as_ref().map(|url| setup.transport_to(url)).transpose();
        Ok(transport.map_err(|cause| format!("--rpc-url: {cause}"))?)
    }

    /// Connects to the chain, where one is given.
    pub(crate) async fn connect(&self, transport: Option<Transport>) -> Result<Option<Chain>, String> {
        match transport {
            Some(transport) => Chain::connect(transport, self.entry_point).await.map(Some),
            None => Ok(None),
        }
    }

    /// Hides the secrets in the URL of the node, which may hold a key. Returns the options that name the same chain, quoted for a shell,
    /// with a variable in place of a secret URL; empty where no chain is given.
    pub(crate) fn hide(&self, redactor: &mut Redactor) -> String {
        let Some(url) = &self.rpc_url else { return String::new() };
        let public = Target::parse(url).is_ok_and(|target| shown_url(&target, redactor, &[]).1);
        let url = if public { shell::word(url) } else { RPC_VARIABLE.to_owned() };
        let entry_point = self.entry_point.map(|address| format!(" --entry-point {address}"));
        format!(" --rpc-url {url}{}", entry_point.unwrap_or_default())
    }

    /// Removes the rules that need a chain where none is given; an error where no other rule is left.
    pub(crate) fn applicable(
        &self,
        mut rules: Vec<&'static Rule>,
    ) -> Result<Vec<&'static Rule>, CommandError> {
        if self.rpc_url.is_none() {
            rules.retain(|rule| rule.basis() != Basis::OnChain);
        }
        if rules.is_empty() {
            return Err("the selected rules need a chain: give --rpc-url".into());
        }
        Ok(rules)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn clap_accepts_the_definitions() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_shows_the_defaults() {
        let run = RunArgs::default();
        let help = Cli::command().render_long_help().to_string();
        for default in [
            run.cases().to_string(),
            run.common.seed().to_string(),
            run.jobs().to_string(),
            run.shrink_requests().to_string(),
            format!("{:?}", run.common.timeout()),
            format!("{}m", run.time_limit().as_secs() / 60),
        ] {
            assert!(help.contains(&format!("[default: {default}]")), "{default}");
        }
    }

    #[test]
    fn a_bare_url_is_checked() {
        for line in
            [&["p", "http://h/"][..], &["p", "check", "http://h/"], &["p", "--report", "json", "http://h/"]]
        {
            let cli = Cli::try_parse_from(line).unwrap();
            let check = if let Some(Command::Check(check)) = cli.command { *check } else { cli.check };
            assert_eq!(check.url.as_deref(), Some("http://h/"), "{line:?}");
        }
    }
}
