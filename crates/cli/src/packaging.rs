//! Files about the command itself, for packages: completions and manual pages.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use dyntrace_terminal::exit::Outcome;
use dyntrace_terminal::{escape, stdout};

/// Print completions for a shell
#[derive(clap::Args)]
#[command(hide = true)]
pub struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

/// Write the manual pages
#[derive(clap::Args)]
#[command(hide = true)]
pub struct Man {
    /// The folder for them
    folder: PathBuf,
}

pub fn completions(&Completions { shell }: &Completions) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut crate::command(), "dyntrace", &mut text);
    stdout::write(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

pub fn man(Man { folder }: &Man) -> Outcome {
    clap_mangen::generate_to(crate::command(), folder)
        .with_context(|| format!("cannot write to {}", escape::path(folder)))?;
    Ok(ExitCode::SUCCESS)
}
