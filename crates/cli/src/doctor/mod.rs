//! `dyntrace doctor`: problems of this machine and of a program with tracing, each with a remedy.

mod binary;
#[cfg(target_os = "linux")]
mod control;
mod finding;
mod hits;
mod kernel;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod polls;
mod recorder;
#[cfg(target_os = "linux")]
mod tasks;
mod tracers;

use std::io::{self, Write};
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use anyhow::Context as _;
use dyntrace_programs::elf::Object;
use dyntrace_programs::process;
use dyntrace_programs::provider::Providers;
#[cfg(target_os = "linux")]
use dyntrace_runs::run::returns;
use dyntrace_runs::tracer::{Search, TracerKind};
#[cfg(target_os = "linux")]
use dyntrace_tasks::preview::Preview;
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::{self, Outcome};

use finding::{Finding, Status};

const HELP: &str = "\
Examples:
  sudo dyntrace doctor
  dyntrace doctor target/release/server --json
  dyntrace doctor -p 4711

Exit status:
   0  programs can be traced here, if only by the recorder; there may be warnings
   1  nothing can trace programs here, a check of the program failed, or it cannot be read
   2  wrong use
   5  no check failed, and one of the program could not be made";

/// Check whether this machine can trace programs, and whether a program can be traced
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// A program to check, too
    binary: Option<PathBuf>,
    /// A running process to check, too
    #[arg(short, long, conflicts_with = "binary")]
    pid: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The definition of a provider, to compare its probes with; can be repeated
    #[arg(long, value_name = "FILE.d")]
    provider: Vec<PathBuf>,
}

/// Prints the findings about this machine, and about a program or a process if one is given.
pub fn doctor(arguments: &Arguments) -> Outcome {
    let Arguments { binary, pid, json, provider } = arguments;
    let providers = &Providers::with(provider)?;
    let found = tracers::find();
    let mut findings = of_machine(&found);
    match (binary, pid) {
        (Some(binary), _) => {
            let program = Program {
                object: Object::read(binary).map_err(anyhow::Error::new)?,
                #[cfg(target_os = "linux")]
                preview: Preview::of(binary),
            };
            findings.extend(of_program(&program, providers, &found));
        }
        (None, Some(pid)) => {
            let binary = process::program(*pid)?.readable;
            let program = Program {
                object: Object::read_mapped(&binary).map_err(anyhow::Error::new)?,
                #[cfg(target_os = "linux")]
                preview: tasks::of_process(*pid, &binary),
            };
            findings.extend(of_program(&program, providers, &found));
            #[cfg(target_os = "linux")]
            findings
                .extend([Some(memory::check(*pid)), Some(control::check(*pid)), returns(*pid)].into_iter().flatten());
        }
        (None, None) => {}
    }
    let mut out = anstream::stdout().lock();
    let written = if *json {
        writeln!(out, "{}", escape::json(serde_json::to_string_pretty(&findings).context("cannot make JSON")?))
    } else {
        findings.iter().try_for_each(|finding| print(&mut out, finding))
    };
    written.map_err(anyhow::Error::new)?;
    Ok(status(&findings).into())
}

/// `None` if the process survives probes at the returns of its functions.
#[cfg(target_os = "linux")]
fn returns(pid: u32) -> Option<Finding> {
    let why = returns::danger(pid)?;
    let text = format!("dyntrace polls, and scripts with probes at returns of functions, may kill the process: {why}");
    Some(Finding::warn("filter", text, returns::REMEDY))
}

/// The exit status.
fn status(findings: &[Finding]) -> u8 {
    match findings.iter().map(|finding| finding.status).max() {
        Some(Status::Fail) => 1,
        Some(Status::Unknown) => exit::UNKNOWN,
        Some(Status::Ok | Status::Warn) | None => 0,
    }
}

fn of_machine(found: &[(TracerKind, Search)]) -> Vec<Finding> {
    let mut findings = kernel::check();
    findings.extend(tracers::check(found));
    let recorder = recorder::check();
    if recorder.status == Status::Ok {
        // Programs can be traced without a tracer.
        for finding in findings.iter_mut().filter(|finding| finding.status == Status::Fail) {
            finding.status = Status::Warn;
        }
    }
    findings.push(recorder);
    findings
}

/// The parts of a program's file that are checked.
struct Program {
    object: Object,
    #[cfg(target_os = "linux")]
    preview: Result<Preview, dyntrace_tasks::error::Error>,
}

fn of_program(program: &Program, providers: &Providers, found: &[(TracerKind, Search)]) -> Vec<Finding> {
    #[cfg(target_os = "linux")]
    let (tasks, has_tasks) = tasks::check(&program.preview);
    #[cfg(not(target_os = "linux"))]
    let has_tasks = false;
    let mut findings = binary::check(&program.object, providers, has_tasks);
    if cfg!(target_os = "linux") {
        findings.extend(hits::check(&program.object, found));
    }
    #[cfg(target_os = "linux")]
    findings.extend(tasks);
    findings
}

fn print(out: &mut impl Write, finding: &Finding) -> io::Result<()> {
    let (word, colour) = match finding.status {
        Status::Ok => ("ok  ", AnsiColor::Green),
        Status::Warn => ("warn", AnsiColor::Yellow),
        Status::Unknown => ("?   ", AnsiColor::Yellow),
        Status::Fail => ("FAIL", AnsiColor::Red),
    };
    let style = Style::new().fg_color(Some(colour.into()));
    writeln!(out, "{style}{word}{style:#} {}: {}", finding.topic, escape::name(&finding.text))?;
    if let Some(remedy) = &finding.remedy {
        writeln!(out, "     -> {}", escape::name(remedy))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_could_not_be_made_is_neither_success_nor_failure() {
        let (ok, warn) = (Finding::ok("a", "b"), Finding::warn("a", "b", "c"));
        let (unknown, fail) = (Finding::unknown("a", "b", "c"), Finding::fail("a", "b", "c"));
        assert_eq!(status(&[ok.clone(), warn.clone()]), 0);
        assert_eq!(status(&[unknown.clone(), ok, warn]), exit::UNKNOWN);
        assert_eq!(status(&[fail, unknown]), 1);
    }
}
