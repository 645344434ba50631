//! The embedded target: the reference server in a process of its own, so that its CPU time is not counted as ours and its work
//! takes none of our threads. The process is this program again, under a hidden subcommand; it ends when its standard input does,
//! so it does not outlive us however we end.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    process::{Child, Command, Stdio},
    sync::Arc,
};

use paymaster_cli::embedded::profile_of;
use paymaster_judge::target::profile::Profile;
use paymaster_reference_server::{Config, InjectedService, Service, find_fault, find_variant};
use tokio::net::TcpListener;

/// The subcommand that serves.
pub const SUBCOMMAND: &str = "embedded-server";

/// What the server does wrong, or otherwise, on purpose: for tests of this program.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Deviations {
    /// A fault of the reference server; repeatable.
    #[arg(long = "fault", value_name = "NAME", hide = true)]
    pub faults: Vec<String>,
    /// A variant of the reference server; repeatable.
    #[arg(long = "variant", value_name = "NAME", hide = true)]
    pub variants: Vec<String>,
}

impl Deviations {
    /// Whether the server is as it should be.
    pub fn is_empty(&self) -> bool {
        self.faults.is_empty() && self.variants.is_empty()
    }

    fn service(&self, config: &Config) -> Result<InjectedService, String> {
        let faults: Result<Vec<_>, _> = self.faults.iter().map(|name| find_fault(name)).collect();
        let variants: Result<Vec<_>, _> = self.variants.iter().map(|name| find_variant(name)).collect();
        let service = Service::new(config).map_err(|cause| cause.to_string())?;
        Ok(InjectedService::from(service)
            .with_variants(variants.map_err(|cause| cause.to_string())?)
            .with_faults(faults.map_err(|cause| cause.to_string())?))
    }
}

/// A running server; it ends when this is dropped.
#[derive(Debug)]
pub struct Embedded {
    /// Where it listens.
    pub url: String,
    /// What it supports.
    pub profile: Profile,
    child: Child,
}

impl Embedded {
    /// Starts the server and waits until it listens.
    pub fn start(deviations: &Deviations) -> Result<Self, String> {
        let config = Config::default();
        // A wrong name is told here, where it can be read.
        deviations.service(&config)?;
        let program = std::env::current_exe().map_err(|cause| format!("this program: {cause}"))?;
        let mut command = Command::new(program);
        command
            .arg(SUBCOMMAND)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        for fault in &deviations.faults {
            command.args(["--fault", fault]);
        }
        for variant in &deviations.variants {
            command.args(["--variant", variant]);
        }
        // Ctrl-C goes to all processes of the group: the server must outlive the last answers that we wait for.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|cause| cause.to_string())?;
        let mut line = String::new();
        let told = child
            .stdout
            .take()
            .map_or(Ok(0), |out| BufReader::new(out).read_line(&mut line));
        let url = line.trim();
        if told.is_err() || !url.starts_with("http://") {
            let _ = child.kill();
            let _ = child.wait();
            return Err("it did not say where it listens".to_owned());
        }
        Ok(Self {
            url: url.to_owned(),
            profile: profile_of(&config),
            child,
        })
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It ends by itself; whatever keeps it from that is of no use to anyone any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves until standard input ends; says where on standard output.
pub async fn serve(deviations: &Deviations) -> Result<(), String> {
    let service = deviations.service(&Config::default())?;
    let listener = TcpListener::bind(("127.0.0.1", 0))
        .await
        .map_err(|cause| cause.to_string())?;
    let address = listener.local_addr().map_err(|cause| cause.to_string())?;
    let mut out = io::stdout();
    writeln!(out, "http://{address}/")
        .and_then(|()| out.flush())
        .map_err(|cause| cause.to_string())?;
    let (gone, orphaned) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        // Nothing is ever written: this waits for the end.
        let _ = io::stdin().read_to_end(&mut Vec::new());
        let _ = gone.send(());
    });
    let shutdown = async {
        let _ = orphaned.await;
    };
    paymaster_reference_server::run(listener, Arc::new(service), shutdown).await;
    Ok(())
}
