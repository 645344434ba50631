//! Judges the service at a URL, or the reference server when no URL is given, and prints the outcome.
//!
//! ```sh
//! cargo run --example judge_url
//! cargo run --example judge_url -- http://127.0.0.1:3000/rpc paymaster.toml
//! ```
#![expect(clippy::print_stdout, reason = "an example prints its outcome")]

use std::{env, error::Error, process::ExitCode};

use paymaster_conformance::{Check, Event, read_profile};

#[tokio::main]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let mut check = match arguments.next() {
        Some(url) => Check::url(&url)?,
        None => Check::reference_server(),
    };
    if let Some(path) = arguments.next() {
        check = check.profile(read_profile(path)?);
    }
    let outcome = check
        .seed(1)
        .on_event(|event| match event {
            Event::Planned { at_most, .. } => println!("at most {at_most} groups of requests are sent"),
            Event::Broken { rule } => println!("broken: {}", rule.id),
            _ => {}
        })
        .run()
        .await?;
    println!("{outcome}");
    Ok(if outcome.conforms() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
