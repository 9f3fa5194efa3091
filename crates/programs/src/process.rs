//! The files that a running process has loaded, by Linux's /proc.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::{thread, time::Duration};

use anyhow::{Context as _, Result, bail};
use dyntrace_folders::living_thread;

use crate::elf::Object;

/// A file with code of a process.
#[derive(Debug)]
pub struct Loaded {
    /// Its path in the process.
    pub path: PathBuf,
    /// A path by which this command can read it, even if it is deleted or in another mount namespace.
    pub readable: PathBuf,
    start: u64,
    offset: u64,
}

impl Loaded {
    /// The difference between addresses in memory and those in `object`.
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

/// The files with code of process `pid`, its program first.
pub fn loaded(pid: u32) -> Result<Vec<Loaded>> {
    let thread = living_thread(pid)
        .with_context(|| format!("process {pid} has ended, and its parent has not yet waited for it (a zombie)"))?;
    let file = format!("/proc/{thread}/maps");
    let maps = fs::read(&file).map_err(|error| explain(pid, &file, error))?;
    let link = format!("/proc/{thread}/exe");
    let program = fs::read_link(&link).with_context(|| format!("cannot read {link}"))?;
    let mut files = first_of_each(thread, &maps);
    // Readable for its user, too, when it was rebuilt or removed.
    for file in files.iter_mut().filter(|file| file.path == program) {
        file.readable = PathBuf::from(&link);
    }
    files.sort_by_key(|file| file.path != program);
    if files.is_empty() {
        bail!("process {pid} has no program: it is a kernel thread or has ended");
    }
    Ok(files)
}

pub fn program(pid: u32) -> Result<Loaded> {
    Ok(loaded(pid)?.swap_remove(0))
}

fn explain(pid: u32, file: &str, error: io::Error) -> anyhow::Error {
    let hint = if !Path::new("/proc/self/maps").exists() {
        "there is no Linux /proc; name the program's file instead of a process".to_owned()
    } else {
        match error.kind() {
            #[cfg(target_os = "linux")]
            io::ErrorKind::NotFound if dyntrace_tasks::permission::exists(pid) => {
                format!(
                    "/proc hides process {pid} from this user (mount option hidepid); {}",
                    dyntrace_tasks::permission::way()
                )
            }
            io::ErrorKind::NotFound => format!("there is no process {pid}"),
            #[cfg(target_os = "linux")]
            io::ErrorKind::PermissionDenied => dyntrace_tasks::permission::way(),
            _ => format!("process {pid} may have ended"),
        }
    };
    anyhow::Error::new(error).context(format!("cannot read {file}: {hint}"))
}

/// Returns the first mapping with code of each file. A process may have a million mappings.
fn first_of_each(pid: u32, maps: &[u8]) -> Vec<Loaded> {
    let mut known = HashSet::new();
    let lines = maps.split(|&byte| byte == b'\n');
    let files = lines.filter_map(|line| mapping(pid, line)).filter(|file| known.insert(file.path.clone()));
    let readable = |mut file: Loaded| {
        if !leads_to_a_file(&file.readable) {
            file.readable =
                Path::new(&format!("/proc/{pid}/root")).join(file.path.strip_prefix("/").unwrap_or(&file.path));
        }
        file
    };
    files.map(readable).collect()
}

/// Whether the kernel lets this command follow a link of /proc. Does not ask the file's server, which may never answer.
#[cfg(target_os = "linux")]
fn leads_to_a_file(link: &Path) -> bool {
    use std::os::unix::fs::OpenOptionsExt as _;

    use nix::fcntl::OFlag;

    fs::File::options().read(true).custom_flags(OFlag::O_PATH.bits()).open(link).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn leads_to_a_file(link: &Path) -> bool {
    link.exists()
}

/// Parses a line of the maps file. `None` if it maps no code of a file. It is readable by a link that the kernel may refuse.
fn mapping(pid: u32, line: &[u8]) -> Option<Loaded> {
    let mut fields = line.splitn(6, |&byte| byte == b' ');
    let mut field = || str::from_utf8(fields.next()?).ok();
    let (range, flags, offset, _device, _inode) = (field()?, field()?, field()?, field()?, field()?);
    let path = fields.next()?.trim_ascii_start();
    if !flags.contains('x') || !path.starts_with(b"/") {
        return None;
    }
    // The kernel escapes newlines in paths, and nothing else.
    let path = PathBuf::from(OsString::from_vec(with_newlines(path)));
    let by_range = PathBuf::from(format!("/proc/{pid}/map_files/{range}"));
    Some(Loaded {
        readable: by_range,
        path,
        start: u64::from_str_radix(range.split_once('-')?.0, 16).ok()?,
        offset: u64::from_str_radix(offset, 16).ok()?,
    })
}

fn with_newlines(mut path: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some((first, rest)) = path.split_first() {
        let escaped = path.strip_prefix(b"\\012");
        out.push(if escaped.is_some() { b'\n' } else { *first });
        path = escaped.unwrap_or(rest);
    }
    out
}

/// Calls `then` when process `pid` has ended, in a thread of its own.
#[cfg(target_os = "linux")]
pub fn when_ended(pid: u32, then: impl FnOnce() + Send + 'static) -> io::Result<()> {
    use dyntrace_tasks::memory::live::Process;
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    /// Between two looks at a process without a descriptor.
    const PAUSE: Duration = Duration::from_millis(100);

    let number = pid.try_into().ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    let wait: Box<dyn FnOnce() + Send> = match pidfd_open(number, PidfdFlags::empty()) {
        Ok(process) => {
            Box::new(move || while let Err(Errno::INTR) = poll(&mut [PollFd::new(&process, PollFlags::IN)], None) {})
        }
        // Linux before 5.3, or a filter.
        Err(Errno::NOSYS | Errno::PERM) => {
            let process = Process::open(pid);
            Box::new(move || {
                while process.as_ref().is_ok_and(|process| process.check().is_ok()) {
                    thread::sleep(PAUSE);
                }
            })
        }
        Err(Errno::SRCH) => Box::new(|| ()),
        Err(error) => return Err(error.into()),
    };
    thread::spawn(|| {
        wait();
        then();
    });
    Ok(())
}

/// The number of process `pid` in its own pid namespace.
pub fn own_number(pid: u32) -> io::Result<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let number = status.lines().find_map(|line| line.strip_prefix("NSpid:")?.split_whitespace().next_back());
    Ok(number.and_then(|number| number.parse().ok()).unwrap_or(pid))
}

#[cfg(test)]
mod tests {
    use dyntrace_terminal::say;

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
    fn each_of_many_files_is_listed_once() {
        const FILES: usize = 50_000;
        // A search that looked through the files for each mapping would take hours.
        let lines = (0..4 * FILES)
            .map(|number| format!("{number:x}000-{number:x}fff r-xp 0 08:01 1 /lib/{}\n", number % FILES));
        let files = first_of_each(0, lines.collect::<String>().as_bytes());
        assert_eq!(files.len(), FILES);
        let last = files.last().unwrap();
        assert_eq!((&*last.path, last.start), (Path::new("/lib/49999"), 49_999 << 12));
        assert_eq!(last.readable, Path::new("/proc/0/root/lib/49999"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_comes_first() {
        let files = loaded(std::process::id()).unwrap();
        assert_eq!(files[0].path, std::env::current_exe().unwrap());
        let object = Object::read_mapped(&files[0].readable).unwrap();
        assert!(files[0].moved_by(&object).is_some());
        assert!(files.len() > 1, "the C library is loaded as well");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_end_of_a_process_is_told_without_a_descriptor_of_it() {
        let ends = || {
            let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
            let (sender, ended) = std::sync::mpsc::channel();
            when_ended(child.id(), move || sender.send(()).unwrap()).unwrap();
            assert!(ended.try_recv().is_err());
            child.kill().unwrap();
            ended.recv().unwrap();
            child.wait().unwrap();
        };
        ends();
        let refused = move || match crate::filtered::refuse(&[nix::libc::SYS_pidfd_open], nix::libc::ENOSYS) {
            Ok(()) => ends(),
            Err(error) => say!("left out: calls cannot be filtered here: {error}"),
        };
        thread::spawn(refused).join().unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_library_whose_server_never_answers_holds_up_nobody() {
        let Some(server) = crate::silent::Server::start() else {
            say!("left out: FUSE cannot be mounted here");
            return;
        };
        let path = server.file();
        let file = fs::File::open(&path).unwrap();
        // SAFETY: the test reads none of its bytes.
        let _mapped = unsafe { memmap2::MmapOptions::new().len(4096).map_exec(&file).unwrap() };
        drop(file);
        server.fall_silent();
        let files = loaded(std::process::id()).unwrap();
        let file = files.iter().find(|file| file.path == path).unwrap();
        let error = Object::read_mapped(&file.readable).unwrap_err();
        let crate::elf::Error::Open { source, .. } = &error else { panic!("{error}") };
        assert_eq!(source.kind(), io::ErrorKind::TimedOut, "{source}");
        assert!(Object::read_mapped(&files[0].readable).is_ok());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_zombie_is_named_as_one() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        while living_thread(child.id()).is_some() {
            thread::yield_now();
        }
        let error = loaded(child.id()).unwrap_err().to_string();
        assert!(error.contains("zombie"), "{error}");
        child.wait().unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_does_not_exist() {
        let error = loaded(u32::MAX).unwrap_err();
        assert!(format!("{error:#}").contains("no process"), "{error:#}");
    }
}
