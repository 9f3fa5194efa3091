//! `dyntrace doctor`: problems of this machine and of a program with tracing, each with a remedy.

mod binary;
mod finding;
mod kernel;
#[cfg(target_os = "linux")]
mod polls;
#[cfg(target_os = "linux")]
mod tasks;
mod tracers;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use anyhow::Context as _;

use crate::escape;
use crate::exit::Outcome;
use crate::provider::Providers;
use finding::{Finding, Status};

/// Prints the findings about this machine, and about the program at `binary` if one is given.
pub fn doctor(binary: Option<&Path>, providers: &Providers, json: bool) -> Outcome {
    let mut findings = kernel::check();
    findings.extend(tracers::check());
    if let Some(binary) = binary {
        findings.extend(binary::check(binary, providers)?);
        #[cfg(target_os = "linux")]
        findings.extend(tasks::check(binary));
    }
    let mut out = anstream::stdout().lock();
    let written = if json {
        writeln!(out, "{}", serde_json::to_string_pretty(&findings).context("cannot make JSON")?)
    } else {
        findings.iter().try_for_each(|finding| print(&mut out, finding))
    };
    written.map_err(anyhow::Error::new)?;
    let failed = findings.iter().any(|finding| finding.status == Status::Fail);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn print(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let (word, colour) = match finding.status {
        Status::Ok => ("ok  ", AnsiColor::Green),
        Status::Warn => ("warn", AnsiColor::Yellow),
        Status::Fail => ("FAIL", AnsiColor::Red),
    };
    let style = Style::new().fg_color(Some(colour.into()));
    writeln!(out, "{style}{word}{style:#} {}: {}", finding.topic, escape::name(&finding.text))?;
    if let Some(remedy) = &finding.remedy {
        writeln!(out, "     -> {}", escape::name(remedy))?;
    }
    Ok(())
}
