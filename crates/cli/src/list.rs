//! `dyntrace list`: the probes in the notes of a program.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use dyntrace_programs::elf::{self, Note, Object, Operand};
use dyntrace_programs::process;
use dyntrace_programs::provider::Providers;
use dyntrace_terminal::exit::{self, Outcome};
use dyntrace_terminal::{escape, say};
use serde::Serialize;

const HELP: &str = "\
Examples:
  dyntrace list target/release/server
  dyntrace list -p 4711 --json
  dyntrace list --provider shop.d target/release/shop

Exit status:
   0  probes were listed
   1  the file or process cannot be read
   2  wrong use
  65  there are no probes";

/// List the probes of a program or a process
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The program, or a shared object
    #[arg(required_unless_present = "pid")]
    binary: Option<PathBuf>,
    /// A running process: its program and the shared objects that it has loaded
    #[arg(short, long, conflicts_with = "binary")]
    pid: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The definition of a provider, for the names and types of arguments; can be repeated
    #[arg(long, value_name = "FILE.d")]
    provider: Vec<PathBuf>,
}

/// A file with probes.
#[derive(Serialize)]
struct Listed {
    /// Its path, escaped.
    object: String,
    /// Added to an address, it gives that in the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_by: Option<u64>,
    probes: Vec<Probe>,
    /// The errors in notes that cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    broken: Vec<String>,
}

#[derive(Serialize)]
struct Probe {
    provider: String,
    name: String,
    arguments: Vec<Argument>,
    semaphore: Option<u64>,
    sites: Vec<Site>,
}

#[derive(Serialize)]
struct Argument {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(rename = "type")]
    c_type: String,
}

#[derive(Serialize)]
struct Site {
    address: u64,
    operands: Vec<String>,
}

pub fn list(arguments: &Arguments) -> Outcome {
    let Arguments { binary, pid, json, provider } = arguments;
    let providers = &Providers::with(provider)?;
    let (listed, subject) = match (binary, pid) {
        (Some(path), _) => {
            let object = Object::read(path).map_err(anyhow::Error::new)?;
            (vec![of_object(path, &object, None, providers)], escape::path(path))
        }
        (None, pid) => {
            // One of both is required.
            let pid = pid.unwrap_or_default();
            (of_process(pid, providers)?, format!("process {pid} and the shared objects it has loaded"))
        }
    };
    let mut out = anstream::stdout().lock();
    let written = if *json {
        writeln!(out, "{}", escape::json(serde_json::to_string_pretty(&listed).context("cannot make JSON")?))
    } else {
        listed.iter().try_for_each(|object| print(&mut out, object))
    };
    written.map_err(anyhow::Error::new)?;
    if listed.iter().all(|object| object.probes.is_empty()) {
        say!("dyntrace: no probes in {subject}");
        return Ok(exit::NO_PROBES.into());
    }
    Ok(ExitCode::SUCCESS)
}

fn of_process(pid: u32, providers: &Providers) -> Result<Vec<Listed>> {
    let mut listed = Vec::new();
    for (number, file) in process::loaded(pid)?.into_iter().enumerate() {
        let object = match Object::read_mapped(&file.readable) {
            Ok(object) => object,
            // Code that the process has made itself.
            Err(elf::Error::NotElf(_) | elf::Error::NotRegular(_)) if number > 0 => continue,
            Err(error) if number > 0 => {
                say!("dyntrace: left out {}: {:#}", escape::path(&file.path), anyhow::Error::new(error));
                continue;
            }
            Err(error) => {
                let program = escape::path(&file.path);
                return Err(error).with_context(|| format!("cannot list {program}, the program of process {pid}"));
            }
        };
        if object.notes.is_empty() && object.broken.is_empty() {
            tell_loss(&file.path, &object);
        } else {
            listed.push(of_object(&file.path, &object, file.moved_by(&object), providers));
        }
    }
    Ok(listed)
}

fn of_object(path: &Path, object: &Object, moved_by: Option<u64>, providers: &Providers) -> Listed {
    tell_loss(path, object);
    let mut probes: BTreeMap<(&str, &str), Probe> = BTreeMap::new();
    for note in &object.notes {
        let probe = probes.entry((&note.provider, &note.name)).or_insert_with(|| Probe {
            provider: note.provider.clone(),
            name: note.name.clone(),
            arguments: arguments(note, providers),
            semaphore: note.semaphore,
            sites: Vec::new(),
        });
        let operands = note.operands.iter().map(|operand| operand.text.clone()).collect();
        probe.sites.push(Site { address: note.location, operands });
    }
    Listed {
        object: escape::path(path),
        moved_by,
        probes: probes.into_values().collect(),
        broken: object.broken.clone(),
    }
}

fn tell_loss(path: &Path, object: &Object) {
    if let Some(loss) = object.loss_of_notes() {
        say!("dyntrace: {}: {loss}", escape::path(path));
    }
}

/// With names and C types if the definition is known and fits, else those of the note.
fn arguments(note: &Note, providers: &Providers) -> Vec<Argument> {
    match providers.probe(note) {
        Some(probe) if probe.arguments.len() == note.operands.len() => probe
            .arguments
            .iter()
            .map(|argument| Argument { name: Some(argument.name.clone()), c_type: argument.ty.c.clone() })
            .collect(),
        _ => note.operands.iter().map(|operand: &Operand| Argument { name: None, c_type: operand.c_type() }).collect(),
    }
}

fn print(out: &mut impl Write, listed: &Listed) -> io::Result<()> {
    let bold = anstyle::Style::new().bold();
    writeln!(out, "{}:", listed.object)?;
    let moved_by = listed.moved_by.unwrap_or(0);
    for probe in &listed.probes {
        let arguments: Vec<String> = probe.arguments.iter().map(declaration).collect();
        let (provider, name) = (escape::name(&probe.provider), escape::name(probe.name.replace("__", "-")));
        writeln!(out, "  {bold}{provider}:{name}{bold:#}({})", arguments.join(", "))?;
        for site in &probe.sites {
            let site = site.address.wrapping_add(moved_by);
            match probe.semaphore {
                Some(semaphore) => {
                    writeln!(out, "    site {site:#x}, semaphore {:#x}", semaphore.wrapping_add(moved_by))
                }
                None => writeln!(out, "    site {site:#x}, no semaphore"),
            }?;
        }
    }
    for broken in &listed.broken {
        writeln!(out, "  damaged: {}", escape::name(broken))?;
    }
    Ok(())
}

/// An argument as C declares it.
fn declaration(argument: &Argument) -> String {
    match &argument.name {
        None => argument.c_type.clone(),
        Some(name) if argument.c_type.ends_with('*') => format!("{}{name}", argument.c_type),
        Some(name) => format!("{} {name}", argument.c_type),
    }
}
