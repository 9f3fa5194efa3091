//! `dyntrace status`: processes whose recorder can be controlled, and their sessions.

use std::process::ExitCode;

use dyntrace::recorder::control::protocol::{Record, Request};
use dyntrace::recorder::control::{Connection, ControlError};
use dyntrace_programs::process;
use dyntrace_terminal::exit::{Failure, Outcome};
use dyntrace_terminal::{escape, say, stdout};
use indicatif::HumanBytes;
use serde_json::{Map, Value, json};

use crate::record::process::{PATIENCE, refusal};

const HELP: &str = "\
Examples:
  dyntrace status
  dyntrace status -p 4711 --json

Exit status:
   0  the process answered; without -p always
   1  the process does not answer, or others can write to the folder of sockets
   2  wrong use
  65  there is no such process, or it does not allow control";

/// Show the processes whose recorder can be controlled, and their recordings
#[derive(clap::Args)]
#[command(alias = "sessions", after_long_help = HELP)]
pub struct Arguments {
    /// Only this process, instead of all of this user
    #[arg(short, long)]
    pid: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn status(arguments: &Arguments) -> Outcome {
    let answers = match arguments.pid {
        Some(pid) => vec![(pid, ask(pid).map_err(refusal)?)],
        None => all()?,
    };
    if arguments.json {
        let processes: Vec<Value> = answers.iter().map(|(pid, records)| object(*pid, records)).collect();
        stdout::write_json(&processes, false)?;
    } else if answers.is_empty() {
        stdout::write("no process of this user lets its recorder be controlled: start one with DYNTRACE=control\n")?;
    } else {
        stdout::write(&answers.iter().map(|(pid, records)| lines(*pid, records)).collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The processes that answer. Errors of the others are printed.
fn all() -> Result<Vec<(u32, Vec<Record>)>, Failure> {
    let mut answers = Vec::new();
    let processes = Connection::processes().map_err(refusal)?;
    let hidden = processes.iter().filter(|pid| **pid == 0).count();
    if hidden > 0 {
        say!(
            "dyntrace: control sockets of other containers, which this one does not see: {hidden}; run dyntrace outside of them"
        );
    }
    for pid in processes.into_iter().filter(|pid| *pid != 0) {
        match ask(pid) {
            Ok(records) => answers.push((pid, records)),
            // It has ended.
            Err(ControlError::NoProcess(_) | ControlError::Zombie(_) | ControlError::NoControl(_)) => {}
            Err(error) => say!("dyntrace: {error}"),
        }
    }
    Ok(answers)
}

fn ask(pid: u32) -> Result<Vec<Record>, ControlError> {
    Connection::open(pid)?.request_within(&Request::Status, PATIENCE)
}

fn lines(pid: u32, records: &[Record]) -> String {
    let (process, sessions) = records.split_first().map_or((None, records), |(first, rest)| (Some(first), rest));
    let refused = process.and_then(|process| process.number("refused")).unwrap_or(0);
    let refused = if refused == 0 { String::new() } else { format!(", {refused} connections refused") };
    let count = match sessions.len() {
        0 => "records nothing".to_owned(),
        1 => "1 session".to_owned(),
        count => format!("{count} sessions"),
    };
    let mut text = format!("{pid} {}: {count}{refused}\n", name(pid));
    for session in sessions {
        let get = |name| escape::name(session.get(name).unwrap_or("?"));
        let (number, threads, lost, options) = (get("session"), get("threads"), get("lost"), get("options"));
        let bytes = HumanBytes(session.number("bytes").unwrap_or(0));
        let count = |name| session.number(name).unwrap_or(0);
        let snapshots = match (count("snapshots"), count("suppressed")) {
            (0, 0) => String::new(),
            (taken, suppressed) => format!(", {taken} snapshots and {suppressed} suppressed"),
        };
        text += &format!("  session {number}: {threads} threads, {bytes}, {lost} lost{snapshots}; {options}\n");
        if count("removed") != 0 {
            let folder = get("folder");
            text += &format!(
                "    files were removed from {folder}, so events are lost uncounted: start another recording\n"
            );
        }
    }
    text
}

fn name(pid: u32) -> String {
    let path = process::program(pid).map(|program| program.path).unwrap_or_default();
    escape::path(path.file_name().unwrap_or_default())
}

fn object(pid: u32, records: &[Record]) -> Value {
    let value = |text: &str| text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number));
    let fields =
        |record: &Record| record.iter().map(|(name, text)| (name.to_owned(), value(text))).collect::<Map<_, _>>();
    let mut process = records.first().map(fields).unwrap_or_default();
    process.insert("pid".to_owned(), json!(pid));
    process.insert("name".to_owned(), json!(name(pid)));
    process.insert("sessions".to_owned(), records.iter().skip(1).map(fields).map(Value::Object).collect());
    Value::Object(process)
}
