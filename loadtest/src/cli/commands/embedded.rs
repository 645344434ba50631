//! The embedded target: the reference server in another process, so that it shares neither CPU time nor threads with the load
//! generator. The process is this program with a hidden subcommand. It ends when its standard input is closed, and therefore with
//! the load generator.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use paymaster_reference_server::{Config, InjectedService, Service, find_fault, find_variant};

use paymaster_settings::process::CommandError;

/// The name of the hidden subcommand.
pub(crate) const SUBCOMMAND: &str = "embedded-server";

/// The flag of Windows for a process in a group of its own.
#[cfg(windows)]
const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;

/// Faults and variants of the embedded server, for tests of this program.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct DeviationArgs {
    /// A fault of the reference server; repeatable.
    #[arg(long = "fault", value_name = "NAME", hide = true)]
    pub(crate) faults: Vec<String>,
    /// A variant of the reference server; repeatable.
    #[arg(long = "variant", value_name = "NAME", hide = true)]
    pub(crate) variants: Vec<String>,
}

impl DeviationArgs {
    /// Whether the server has neither faults nor variants.
    pub(crate) fn is_empty(&self) -> bool {
        self.faults.is_empty() && self.variants.is_empty()
    }

    fn service(&self, config: &Config) -> Result<InjectedService, CommandError> {
        let faults: Result<Vec<_>, _> = self.faults.iter().map(|name| find_fault(name)).collect();
        let variants: Result<Vec<_>, _> = self.variants.iter().map(|name| find_variant(name)).collect();
        Ok(InjectedService::from(Service::new(config)?).with_variants(variants?).with_faults(faults?))
    }
}

/// A running server. It ends when this is dropped.
pub(crate) struct Embedded {
    /// Its URL.
    pub(crate) url: String,
    child: Child,
}

impl Embedded {
    /// Starts the server and waits until it listens.
    pub(crate) fn start(deviations: &DeviationArgs) -> Result<Self, CommandError> {
        let config = Config::default();
        // Unknown names are an error here, because the error output of the process is not read.
        deviations.service(&config)?;
        let program = std::env::current_exe()?;
        let mut command = Command::new(program);
        command.arg(SUBCOMMAND).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.args(deviations.faults.iter().flat_map(|name| ["--fault", name]));
        command.args(deviations.variants.iter().flat_map(|name| ["--variant", name]));
        // Ctrl-C goes to all processes of the group, and the server must still send the last answers.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        #[cfg(windows)]
        std::os::windows::process::CommandExt::creation_flags(&mut command, CREATE_NEW_PROCESS_GROUP);
        let mut server = Self { url: String::new(), child: command.spawn()? };
        let out = server.child.stdout.take();
        let read = out.map_or(Ok(0), |out| BufReader::new(out).read_line(&mut server.url));
        server.url.truncate(server.url.trim_end().len());
        if read.is_err() || !server.url.starts_with("http://") {
            return Err("it did not print its URL".into());
        }
        Ok(server)
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It ends by itself; killing it makes sure.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Prints the URL to standard output and serves until standard input is closed.
pub(crate) async fn serve(deviations: &DeviationArgs) -> Result<(), CommandError> {
    let config = Config::default();
    let embedded = paymaster_settings::Embedded::serve(&config, deviations.service(&config)?).await?;
    let mut out = io::stdout();
    writeln!(out, "{}", embedded.url)?;
    out.flush()?;
    // The parent writes nothing: this returns when it closes the pipe or ends.
    let _ = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink())).await;
    embedded.stop().await;
    Ok(())
}
