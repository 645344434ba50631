//! Shell completions and man page, generated from the definition of the command line.

use std::{fs, io, path::PathBuf};

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::arguments::Arguments;

/// The pages to write instead of serving.
#[derive(Debug, clap::Args)]
pub(crate) struct Pages {
    /// Print a completion script for a shell and exit
    #[arg(long, value_name = "SHELL")]
    completions: Option<Shell>,

    /// Write the man page into a folder and exit
    #[arg(long, value_name = "DIR", hide = true)]
    man: Option<PathBuf>,
}

impl Pages {
    /// What to print, after the man page is written; `None` if no page is requested.
    pub(crate) fn write(&self) -> io::Result<Option<String>> {
        if let Some(folder) = &self.man {
            let written = fs::create_dir_all(folder)
                .and_then(|()| clap_mangen::generate_to(Arguments::command(), folder));
            return match written {
                Ok(()) => Ok(Some(format!("wrote the man page into {}\n", folder.display()))),
                Err(cause) => Err(io::Error::new(
                    cause.kind(),
                    format!("cannot write the man page into {}: {cause}", folder.display()),
                )),
            };
        }
        let Some(shell) = self.completions else { return Ok(None) };
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "paymaster-reference-server", &mut script);
        Ok(Some(String::from_utf8_lossy(&script).into_owned()))
    }
}
