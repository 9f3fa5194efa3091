//! Whether the tracer is ready: seen in the memory of the process it traces.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use anyhow::{Context as _, Result};
use dyntrace_folders::process_folder;
use dyntrace_programs::elf::Note;

use super::target::Target;

/// A probe site and the content of its memory before the tracer came.
#[derive(Debug)]
struct Site {
    address: u64,
    /// The first byte of its nop, which a breakpoint changes on every processor. Nothing if another tracer has changed it already.
    nop: Option<u8>,
    /// Its address and its count.
    semaphore: Option<(u64, u16)>,
}

/// The sites of a process that a tracer is about to attach to.
#[derive(Debug)]
pub struct Watch {
    memory: File,
    sites: Vec<Site>,
}

impl Watch {
    /// Records the current state of `sites` in process `pid`, which runs `target`.
    pub fn new(pid: u32, target: &Target, sites: &[Note]) -> Result<Watch> {
        let moved_by = target.moved_by(pid)?;
        let memory = File::open(process_folder(pid).join("mem"))
            .with_context(|| format!("cannot read the memory of process {pid}"))?;
        let site = |note: &Note| -> io::Result<Site> {
            let address = note.location.wrapping_add(moved_by);
            let semaphore = note.semaphore.map(|semaphore| semaphore.wrapping_add(moved_by));
            let semaphore =
                semaphore.map(|address| Ok::<_, io::Error>((address, count(&memory, address)?))).transpose()?;
            Ok(Site { address, nop: Some(byte(&memory, address)?).filter(|&byte| begins_nop(byte)), semaphore })
        };
        let sites = sites.iter().map(site).collect::<io::Result<_>>().with_context(|| {
            format!("the probes of process {pid} are not in memory where its file says; dyntrace doctor tells more")
        })?;
        Ok(Watch { memory, sites })
    }

    /// Whether every site has its breakpoint and every semaphore was counted up. Neither is enough alone: sites share semaphores, and
    /// another tracer may have set the breakpoints before.
    pub fn is_ready(&self) -> io::Result<bool> {
        for site in &self.sites {
            if let Some((address, before)) = site.semaphore
                && count(&self.memory, address)? == before
            {
                return Ok(false);
            }
            if site.nop == Some(byte(&self.memory, site.address)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Whether `byte` begins a probe's nop: one of 1, 5 or 10 bytes on x86_64, or that of aarch64.
fn begins_nop(byte: u8) -> bool {
    matches!(byte, 0x90 | 0x0f | 0x66 | 0x1f)
}

fn byte(memory: &File, address: u64) -> io::Result<u8> {
    let mut byte = [0];
    memory.read_exact_at(&mut byte, address)?;
    Ok(byte[0])
}

fn count(memory: &File, address: u64) -> io::Result<u16> {
    let mut count = [0; 2];
    memory.read_exact_at(&mut count, address)?;
    Ok(u16::from_ne_bytes(count))
}
