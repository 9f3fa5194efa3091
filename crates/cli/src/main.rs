//! The `dyntrace` command: its subcommands.
#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(all(test, target_os = "linux"))]
mod book;
#[cfg(target_os = "linux")]
mod code;
mod demo;
mod doctor;
#[cfg(all(feature = "full", target_os = "linux"))]
mod export;
mod external;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(all(test, target_os = "linux"))]
#[path = "../../tasks/src/filtered.rs"]
mod filtered;
mod list;
#[cfg(all(feature = "full", target_os = "linux"))]
mod metrics;
#[cfg(target_os = "linux")]
mod monitor;
mod packaging;
#[cfg(all(test, target_os = "linux"))]
#[path = "../tests/common/page.rs"]
mod page;
mod query;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod records;
#[cfg(target_os = "linux")]
mod recover;
#[cfg(target_os = "linux")]
mod snapshot;
#[cfg(target_os = "linux")]
mod status;
#[cfg(feature = "full")]
mod top;
#[cfg(target_os = "linux")]
mod trace;
mod upload;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use dyntrace_analysis::{diff, report, view};
#[cfg(feature = "full")]
use dyntrace_formats::{clocks, convert};
#[cfg(target_os = "linux")]
use dyntrace_inspect as inspect;
use dyntrace_programs::named;
use dyntrace_runs::run;
use dyntrace_terminal::exit::{Failure, Outcome};
use dyntrace_terminal::{escape, say, stdout};

const HELP: &str = "\
dyntrace COMMAND --help has examples and exit statuses. Each command has --color=auto|always|never.
Completions: dyntrace completions bash, zsh and others. Manual pages: dyntrace man FOLDER.
query and upload are listed where cargo install dyntrace-query has put them.";

/// Tell why a running tokio program is slow or hangs; trace and record Rust programs that use dyntrace
#[derive(Parser)]
#[command(name = "dyntrace", version, max_term_width = 100, after_help = HELP)]
struct Arguments {
    /// Colours in text: auto has them on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value_t, hide_default_value = true, hide = true)]
    color: clap::ColorChoice,
    #[command(subcommand)]
    command: Command,
}

/// Lists the subcommands: the arguments of each, which have its help, and the function that performs it.
macro_rules! commands {
    ($($(#[$cfg:meta])* $name:ident($arguments:ty) => $perform:path,)*) => {
        #[derive(Subcommand)]
        enum Command {
            $($(#[$cfg])* $name($arguments),)*
        }

        fn perform(command: Command) -> Outcome {
            match command {
                $($(#[$cfg])* Command::$name(arguments) => $perform(&arguments),)*
            }
        }
    };
}

commands! {
    #[cfg(target_os = "linux")]
    Diagnose(inspect::diagnose::Arguments) => inspect::diagnose::diagnose,
    #[cfg(target_os = "linux")]
    Why(inspect::Why) => inspect::why,
    #[cfg(target_os = "linux")]
    Ps(inspect::Ps) => inspect::ps,
    #[cfg(target_os = "linux")]
    Tree(inspect::Tree) => inspect::tree,
    #[cfg(target_os = "linux")]
    Threads(inspect::threads::Arguments) => inspect::threads::threads,
    #[cfg(target_os = "linux")]
    Polls(inspect::polls::Arguments) => inspect::polls::polls,
    #[cfg(target_os = "linux")]
    Leaks(inspect::leaks::Arguments) => inspect::leaks::leaks,
    Demo(demo::Arguments) => demo::demo,
    Run(run::Arguments) => run::run,
    List(list::Arguments) => list::list,
    Doctor(doctor::Arguments) => doctor::doctor,
    #[cfg(target_os = "linux")]
    Record(record::Arguments) => record::record,
    #[cfg(target_os = "linux")]
    Snapshot(snapshot::Arguments) => snapshot::snapshot,
    #[cfg(target_os = "linux")]
    Filter(filter::Arguments) => filter::filter,
    #[cfg(target_os = "linux")]
    Recover(recover::Arguments) => recover::recover,
    #[cfg(target_os = "linux")]
    Status(status::Arguments) => status::status,
    #[cfg(all(feature = "full", target_os = "linux"))]
    Metrics(metrics::Arguments) => metrics::metrics,
    #[cfg(target_os = "linux")]
    Monitor(monitor::Arguments) => monitor::monitor,
    #[cfg(all(feature = "full", target_os = "linux"))]
    Export(export::Arguments) => export::export,
    #[cfg(feature = "full")]
    Top(top::Arguments) => top::top,
    Report(report::Arguments) => report::report,
    Diff(diff::Arguments) => diff::diff,
    #[cfg(feature = "full")]
    Convert(convert::Arguments) => convert::convert,
    #[cfg(feature = "full")]
    Clocks(clocks::Arguments) => clocks::clocks,
    Query(query::Arguments) => query::query,
    Upload(upload::Arguments) => upload::upload,
    View(view::Arguments) => view::view,
    #[cfg(target_os = "linux")]
    Trace(trace::Arguments) => trace::trace,
    #[cfg(target_os = "linux")]
    Code(code::Arguments) => code::code,
    Completions(packaging::Completions) => packaging::completions,
    Man(packaging::Man) => packaging::man,
}

/// The command line. Each option `-p` takes a process's name, too.
fn command() -> clap::Command {
    let named = |pid: clap::Arg| pid.value_name("PID|NAME").value_parser(named::pid);
    Arguments::command().mut_subcommands(|command| {
        command.mut_args(|argument| if argument.get_id() == "pid" { named(argument) } else { argument })
    })
}

/// The command line, with programs of their own hidden from the help where they are not installed.
fn offered() -> clap::Command {
    let programs = [("query", "dyntrace-query"), ("upload", "dyntrace-upload")];
    programs.into_iter().fold(command(), |command, (name, program)| {
        command.mut_subcommand(name, |command| command.hide(!external::is_installed(program)))
    })
}

fn main() -> ExitCode {
    let arguments = Arguments::from_arg_matches(&offered().get_matches()).unwrap_or_else(|error| error.exit());
    match arguments.color {
        clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
        clap::ColorChoice::Always => anstream::ColorChoice::Always,
        clap::ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
    let outcome = perform(arguments.command).and_then(|status| Ok(stdout::flush().map(|()| status)?));
    match outcome {
        Ok(status) => status,
        // The reader of the pipe wants no more lines.
        Err(Failure { error, .. }) if stdout::is_unread(&error) => ExitCode::SUCCESS,
        Err(Failure { status, error }) => {
            let style = anstyle::Style::new().fg_color(Some(anstyle::AnsiColor::Red.into())).bold();
            // Errors of libraries have paths as they are.
            say!("{style}dyntrace:{style:#} {}", escape::lines(format!("{error:#}")));
            status.into()
        }
    }
}
