//! What the system says of a running process, by Linux's /proc.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::elf::Object;

/// A file that a process runs code from.
#[derive(Debug)]
pub struct Loaded {
    /// Its path as the process sees it.
    pub path: PathBuf,
    /// A path by which this program can read it, though it may be deleted or in another mount namespace.
    pub readable: PathBuf,
    start: u64,
    offset: u64,
}

impl Loaded {
    /// What was added to the addresses of `object` when it was loaded.
    pub fn moved_by(&self, object: &Object) -> Option<u64> {
        let segment = object.segments.iter().find(|segment| {
            // The loader maps whole pages; none are larger than 64 KiB.
            segment.executable
                && segment.offset & !0xffff <= self.offset
                && self.offset < segment.offset.saturating_add(segment.file_size)
        })?;
        Some(self.start.wrapping_sub(self.offset).wrapping_add(segment.offset).wrapping_sub(segment.address))
    }
}

/// The files that process `pid` runs code from, its own program first.
pub fn loaded(pid: u32) -> Result<Vec<Loaded>> {
    let file = format!("/proc/{pid}/maps");
    let maps = fs::read(&file).map_err(|error| explain(pid, &file, error))?;
    let program = fs::read_link(format!("/proc/{pid}/exe")).with_context(|| format!("cannot read /proc/{pid}/exe"))?;
    let mut files: Vec<Loaded> = Vec::new();
    for line in maps.split(|&byte| byte == b'\n') {
        if let Some(file) = mapping(pid, line)
            && !files.iter().any(|known| known.path == file.path)
        {
            files.push(file);
        }
    }
    files.sort_by_key(|file| file.path != program);
    if files.is_empty() {
        bail!("process {pid} runs no program of its own: it is a kernel thread or has ended");
    }
    Ok(files)
}

/// The program that process `pid` runs.
pub fn program(pid: u32) -> Result<Loaded> {
    Ok(loaded(pid)?.swap_remove(0))
}

fn explain(pid: u32, file: &str, error: io::Error) -> anyhow::Error {
    let hint = if !Path::new("/proc/self/maps").exists() {
        "this needs Linux's /proc; give the program's file instead of a process".to_owned()
    } else {
        match error.kind() {
            io::ErrorKind::NotFound => format!("there is no process {pid}"),
            io::ErrorKind::PermissionDenied => format!("run as root or as the user of process {pid}"),
            _ => format!("process {pid} may have ended"),
        }
    };
    anyhow::Error::new(error).context(format!("cannot read {file}: {hint}"))
}

/// A line of the maps file, if it maps code of a file.
fn mapping(pid: u32, line: &[u8]) -> Option<Loaded> {
    let mut fields = line.splitn(6, |&byte| byte == b' ');
    let mut field = || str::from_utf8(fields.next()?).ok();
    let (range, flags, offset, _device, _inode) = (field()?, field()?, field()?, field()?, field()?);
    let path = fields.next()?.trim_ascii_start();
    if !flags.contains('x') || !path.starts_with(b"/") {
        return None;
    }
    // A newline in a path is written as \012, nothing else is.
    let path = PathBuf::from(OsString::from_vec(replace(path, b"\\012", b"\n")));
    let by_range = PathBuf::from(format!("/proc/{pid}/map_files/{range}"));
    let by_root = Path::new(&format!("/proc/{pid}/root")).join(path.strip_prefix("/").ok()?);
    Some(Loaded {
        readable: if by_range.metadata().is_ok() { by_range } else { by_root },
        path,
        start: u64::from_str_radix(range.split_once('-')?.0, 16).ok()?,
        offset: u64::from_str_radix(offset, 16).ok()?,
    })
}

fn replace(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_of_files_is_found_among_the_mappings() {
        let line = b"55d0c5a2c000-55d0c5a31000 r-xp 00004000 08:01 1835  /usr/bin/a \\012b (deleted)";
        let file = mapping(1, line).unwrap();
        assert_eq!(file.path, Path::new("/usr/bin/a \nb (deleted)"));
        assert_eq!((file.start, file.offset), (0x55d0_c5a2_c000, 0x4000));
        for other in [
            "7f00-7f01 r--p 0 08:01 1 /usr/bin/a",
            "7f00-7f01 r-xp 0 00:00 0 [vdso]",
            "7f00-7f01 r-xp 0 00:00 0",
            "",
            "x",
        ] {
            assert!(mapping(1, other.as_bytes()).is_none(), "{other}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_comes_first() {
        let files = loaded(std::process::id()).unwrap();
        assert_eq!(files[0].path, std::env::current_exe().unwrap());
        let object = Object::read(&files[0].readable).unwrap();
        assert!(files[0].moved_by(&object).is_some());
        assert!(files.len() > 1, "the C library is loaded as well");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_does_not_exist() {
        let error = loaded(u32::MAX).unwrap_err();
        assert!(format!("{error:#}").contains("no process"), "{error:#}");
    }
}
