//! Writes a core file of a process as the kernel does: with the notes that the reader takes, and without pages that are
//! as their files have them.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use dyntrace_tasks::memory::maps::{self, Mapping};
use rustix::process::{Pid, Signal, kill_process};

const PAGE: u64 = 4096;

/// Writes the core file of process `pid` to `path`. The process stops meanwhile.
pub fn write(pid: u32, path: &Path) {
    write_without(pid, path, |_| false);
}

/// Writes it without these mappings, as if the filter of the process left them out.
pub fn write_without(pid: u32, path: &Path, left_out: impl Fn(&Mapping) -> bool) {
    let process = Pid::from_raw(pid as i32).unwrap();
    kill_process(process, Signal::STOP).unwrap();
    // Each thread stops by itself.
    while !threads(pid).all(|thread| {
        fs::read_to_string(format!("/proc/{pid}/task/{thread}/stat")).is_ok_and(|stat| stat.contains(") T "))
    }) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    stopped(pid, path, left_out);
    kill_process(process, Signal::CONT).unwrap();
}

fn stopped(pid: u32, path: &Path, left_out: impl Fn(&Mapping) -> bool) {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let mut maps = maps::parse(maps.as_bytes());
    // The kernel's own pages.
    maps.retain(|map| map.range.start < 1 << 47);
    let dirty = dirty(pid);
    let notes = notes(pid, &maps);
    let mut offset = (64 + 56 * (maps.len() as u64 + 1) + notes.len() as u64).next_multiple_of(PAGE);
    let mut headers = header(pid, maps.len() as u16 + 1);
    headers.extend(program_header(4, 0, 64 + 56 * (maps.len() as u64 + 1), 0, notes.len() as u64, 0));
    let mut loads = Vec::new();
    for map in &maps {
        let size = map.range.end - map.range.start;
        let dumped = match () {
            () if !map.readable || map.path.starts_with("[v") || left_out(map) => 0,
            () if map.inode == 0 || dirty.contains(&map.range.start) => size,
            () if map.offset == 0 => PAGE,
            () => 0,
        };
        let flags = u32::from(map.readable) << 2 | u32::from(map.writable) << 1 | u32::from(map.executable);
        headers.extend(program_header(1, flags, offset, map.range.start, dumped, size));
        loads.push((map.range.start, offset, dumped));
        offset += dumped;
    }
    headers.extend(notes);
    let mut file = File::create(path).unwrap();
    file.write_all(&headers).unwrap();
    let memory = File::open(format!("/proc/{pid}/mem")).unwrap();
    let mut page = [0; PAGE as usize];
    for (address, offset, dumped) in loads {
        for at in (0..dumped).step_by(PAGE as usize) {
            memory.read_exact_at(&mut page, address + at).unwrap();
            // Zeros become holes.
            if page != [0; PAGE as usize] {
                file.seek(SeekFrom::Start(offset + at)).unwrap();
                file.write_all(&page).unwrap();
            }
        }
    }
    file.set_len(offset).unwrap();
}

/// The mappings of files that the process has written to.
fn dirty(pid: u32) -> Vec<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps")).unwrap();
    let mut start = 0;
    let mut dirty = Vec::new();
    for line in text.lines() {
        if let Some(map) = maps::parse(line.as_bytes()).first() {
            start = map.range.start;
        } else if line.strip_prefix("Anonymous:").is_some_and(|size| size.trim() != "0 kB") {
            dirty.push(start);
        }
    }
    dirty
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn header(pid: u32, segments: u16) -> Vec<u8> {
    let mut exe = [0; 64];
    File::open(format!("/proc/{pid}/exe")).unwrap().read_exact_at(&mut exe, 0).unwrap();
    let mut header = vec![0; 64];
    // The kind of the file, and its machine.
    header[..20].copy_from_slice(&exe[..20]);
    header[16..18].copy_from_slice(&4_u16.to_le_bytes());
    header[20] = 1;
    header[32..40].copy_from_slice(&64_u64.to_le_bytes());
    for (at, half) in [(52, 64), (54, 56), (56, segments)] {
        header[at..at + 2].copy_from_slice(&half.to_le_bytes());
    }
    header
}

fn program_header(kind: u32, flags: u32, offset: u64, address: u64, in_file: u64, in_memory: u64) -> Vec<u8> {
    let mut header = [kind.to_le_bytes(), flags.to_le_bytes()].concat();
    header.extend(bytes(&[offset, address, 0, in_file, in_memory, PAGE]));
    header
}

fn note(kind: u32, desc: &[u8]) -> Vec<u8> {
    let mut note: Vec<u8> = [5, desc.len() as u32, kind].iter().flat_map(|word| word.to_le_bytes()).collect();
    note.extend(b"CORE\0\0\0\0");
    note.extend(desc);
    note.resize(note.len().next_multiple_of(4), 0);
    note
}

/// The stack pointer of a thread, 0 while it runs.
fn pointer(pid: u32, thread: u64) -> u64 {
    let call = fs::read_to_string(format!("/proc/{pid}/task/{thread}/syscall")).unwrap();
    let pointer = call.trim().rsplit(' ').nth(1).and_then(|word| word.strip_prefix("0x")).unwrap_or("0");
    u64::from_str_radix(pointer, 16).unwrap()
}

/// Whether it is a stack of the stopped process.
pub fn is_stack(pid: u32, map: &Mapping) -> bool {
    threads(pid).any(|thread| map.range.contains(&pointer(pid, thread)))
}

/// The ids of the threads.
fn threads(pid: u32) -> impl Iterator<Item = u64> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    threads.map(|thread| thread.unwrap().file_name().to_str().unwrap().parse().unwrap())
}

fn notes(pid: u32, maps: &[Mapping]) -> Vec<u8> {
    let mut notes = Vec::new();
    for id in threads(pid) {
        let mut status = vec![0; 42];
        status[4] = id;
        // Of x86-64, then of aarch64.
        let register = if cfg!(target_arch = "aarch64") { 31 } else { 19 };
        status.resize(14 + 34, 0);
        status[14 + register] = pointer(pid, id);
        notes.extend(note(1, &bytes(&status)));
    }
    let mut process = vec![0; 17];
    process[3] = u64::from(pid);
    notes.extend(note(3, &bytes(&process)));
    notes.extend(note(6, &fs::read(format!("/proc/{pid}/auxv")).unwrap()));
    let files: Vec<&Mapping> = maps.iter().filter(|map| map.path.starts_with('/')).collect();
    let mut desc = bytes(&[files.len() as u64, PAGE]);
    for map in &files {
        desc.extend(bytes(&[map.range.start, map.range.end, map.offset / PAGE]));
    }
    for map in &files {
        desc.extend(map.path.bytes().chain([0]));
    }
    notes.extend(note(0x4649_4c45, &desc));
    notes
}
