//! Tells a tracer from another program of its name, by its version text.

use std::path::Path;
use std::process::{Command, Stdio};

use dyntrace_terminal::escape;

use super::{TracerKind, Version};

/// Runs the program at `path` for its version. The error says why it is not the tracer `kind`.
pub fn version(kind: TracerKind, path: &Path) -> Result<Version, String> {
    let option = if kind == TracerKind::Dtrace { "-V" } else { "--version" };
    let output = Command::new(path)
        .arg(option)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot be run: {error}"))?;
    let said = format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing");

    let line = match kind {
        // "dtrace: D 2.0.7", elsewhere "dtrace: Sun D 1.13".
        TracerKind::Dtrace => said.lines().find(|line| line.starts_with("dtrace: ") && line.contains("D ")),
        TracerKind::Stap => said.lines().find(|line| line.contains("ystem") && line.contains("version")),
        TracerKind::Bpftrace => said.lines().find(|line| line.starts_with("bpftrace ")),
    };
    match line.and_then(Version::find) {
        Some(version) => Ok(version),
        None if kind == TracerKind::Dtrace && said.contains("[-h | -G]") => {
            Err("this is SystemTap's generator of header files, which only shares the name".to_owned())
        }
        None => Err(format!("{option} does not tell a version of {kind}: {}", escape::name(first))),
    }
}
