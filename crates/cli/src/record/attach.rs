//! Asks a process that has no control socket to open one, see `recorder::control::request` in the library.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use dyntrace::__traced::SITE_MARK;
use dyntrace::recorder::CONTROL_REQUESTED;
use dyntrace::recorder::control::{Connection, ControlError};
use dyntrace_folders::process_folder;
use dyntrace_programs::elf::{self, Note, Object};
use dyntrace_programs::process;
use dyntrace_tasks::memory::live::Process;
use dyntrace_tasks::permission::way;
use dyntrace_terminal::exit::{self, Failure};

/// The probes by whose words a process takes the request. They fire wherever a program uses the library: I/O threads, messages, polls of
/// its tasks, and `p!`.
const PROBES: [&str; 4] = ["efile_drv__int_entry", "message__send", "process__scheduled", "user_trace__i4s4"];

/// How long the process may take until it finds the request.
const PATIENCE: Duration = Duration::from_secs(2);

const PAUSE: Duration = Duration::from_millis(20);

/// The number of sites that are read at once.
const SITES_AT_ONCE: usize = 4096;

/// Asks process `pid` for its control socket, and connects to that.
pub fn attach(pid: u32) -> Result<Connection, Failure> {
    let words = RequestWords::find(pid)?;
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        words.request().with_context(|| format!("cannot write the memory of process {pid}"))?;
        thread::sleep(PAUSE);
        match Connection::open(pid) {
            Err(ControlError::NoControl(_)) => {}
            other => return other.map_err(super::process::refusal),
        }
    }
    let error = anyhow!(
        "process {pid} has no control socket, and {} within {} s, at which it opens one: try again when it does, or start it with \
         DYNTRACE=control in its environment",
        words.missed(),
        PATIENCE.as_secs()
    );
    Err(Failure::new(exit::NO_PROBES, error))
}

/// The places in a process where it can be asked.
pub struct RequestWords {
    memory: File,
    /// The number of the process in its own pid namespace.
    own_number: u32,
    places: Places,
}

/// Addresses in the memory of a process.
#[derive(Default)]
struct Places {
    /// The words that say which process is asked.
    asked: Vec<u64>,
    /// The recorder's halves of the probes' words.
    halves: Vec<u64>,
    /// The sites of the traced functions in the program's own file: a library might be unmapped meanwhile.
    sites: Range<u64>,
    /// The first file whose server does not answer.
    unread: Option<elf::Error>,
}

impl RequestWords {
    /// Finds the places. Fails if the process has none, or this user may not write there.
    pub fn find(pid: u32) -> Result<RequestWords, Failure> {
        // First: if the process executes another program meanwhile, this remains the memory of the one before.
        let memory = OpenOptions::new().read(true).write(true).open(process_folder(pid).join("mem"));
        let places = Places::find(pid)?;
        if places.asked.is_empty() || (places.halves.is_empty() && places.sites.is_empty()) {
            return Err(match places.unread {
                Some(unread) => {
                    let unread = anyhow::Error::new(unread);
                    let told = format!(
                        "process {pid} has no control socket, and is not asked for one: start it with DYNTRACE=control in its environment"
                    );
                    Failure::new(exit::NO_PROBES, unread.context(told))
                }
                None => Failure::new(exit::NO_PROBES, ControlError::NoControl(pid)),
            });
        }
        let memory = memory.map_err(|error| explain(pid, error))?;
        places.need_no_server(pid)?;
        let own_number = process::own_number(pid).with_context(|| format!("cannot read /proc/{pid}/status"))?;
        Ok(RequestWords { memory, own_number, places })
    }

    /// When the process takes a request.
    pub fn when(&self) -> &'static str {
        match self.places.has_functions() {
            true => "at its next file operation, message or call of a traced function",
            false => "at its next file operation or message",
        }
    }

    fn missed(&self) -> &'static str {
        match self.places.has_functions() {
            true => "ran no file operation of dyntrace, sent no message and called no traced function",
            false => "ran no file operation of dyntrace and sent no message",
        }
    }

    fn request(&self) -> io::Result<()> {
        let Places { asked, halves, .. } = &self.places;
        asked.iter().try_for_each(|asked| self.memory.write_all_at(&self.own_number.to_le_bytes(), *asked))?;
        halves.iter().try_for_each(|half| self.memory.write_all_at(&CONTROL_REQUESTED.to_le_bytes(), *half))?;
        self.mark_sites()
    }

    /// Writes one byte into the word of each site, see `breakpoint::site::asked` in the library.
    fn mark_sites(&self) -> io::Result<()> {
        let mut read = vec![0; SITES_AT_ONCE * SITE_MARK.stride];
        let Range { mut start, end } = self.places.sites;
        while start < end {
            let length = usize::try_from(end - start).map_or(read.len(), |left| left.min(read.len()));
            self.memory.read_exact_at(&mut read[..length], start)?;
            for (site, at) in read[..length].chunks_exact(SITE_MARK.stride).zip((start..).step_by(SITE_MARK.stride)) {
                if site[SITE_MARK.at] == 0 {
                    self.memory.write_all_at(&[SITE_MARK.byte], at + SITE_MARK.at as u64)?;
                }
            }
            start += length as u64;
        }
        Ok(())
    }
}

impl Places {
    fn find(pid: u32) -> anyhow::Result<Places> {
        let mut places = Places::default();
        for (number, file) in process::loaded(pid)?.into_iter().enumerate() {
            let object = match Object::read_mapped(&file.readable) {
                Ok(object) => object,
                Err(elf::Error::Open { source, path }) if source.kind() == io::ErrorKind::TimedOut => {
                    places.unread.get_or_insert(elf::Error::Open { source, path });
                    continue;
                }
                // A file that is no ELF file, or is gone, has no probes.
                Err(_) => continue,
            };
            let Some(moved_by) = file.moved_by(&object) else { continue };
            let is_program = number == 0;
            places.add(&object, moved_by, is_program);
        }
        places.halves.sort_unstable();
        places.halves.dedup();
        Ok(places)
    }

    /// Fails if a place is in a page that is not in memory, and that only a server delivers: it may never answer.
    fn need_no_server(&self, pid: u32) -> anyhow::Result<()> {
        let process = Process::open(pid)?;
        process.mappings()?;
        let words = self.asked.iter().chain(&self.halves).map(|word| (*word, size_of::<u32>()));
        let sites = (self.sites.start, (self.sites.end - self.sites.start) as usize);
        if words.chain([sites]).all(|(address, length)| process.needs_no_server(address, length)) {
            return Ok(());
        }
        bail!(
            "process {pid} has no control socket, and it is not asked for one: a server that may never answer (FUSE, NFS and the like) has \
             the pages of its program where it would be asked; start it with DYNTRACE=control in its environment"
        )
    }

    /// The library itself adds a site that belongs to no function.
    fn has_functions(&self) -> bool {
        self.sites.end - self.sites.start > SITE_MARK.stride as u64
    }

    fn add(&mut self, object: &Object, moved_by: u64, is_program: bool) {
        let is_asked = |note: &&Note| note.provider == "dyntrace" && PROBES.contains(&&*note.name);
        let is_writable = |address: &u64| object.segment(*address).is_some_and(|segment| segment.writable);
        self.asked.extend(object.asked.filter(is_writable).map(|asked| asked.wrapping_add(moved_by)));
        let words = object.notes.iter().filter(is_asked).filter_map(|note| note.semaphore).filter(is_writable);
        // The half at the higher address, on the little-endian systems that have control sockets.
        self.halves.extend(words.map(|word| word.wrapping_add(moved_by).wrapping_add(2)));
        let Range { start, end } = object.sites;
        let last = end.saturating_sub(1);
        let segment = object.segment(start).filter(|segment| segment.writable && segment.holds(last));
        if is_program && object.is_64_bit && start < end && segment.is_some() {
            self.sites = start.wrapping_add(moved_by)..end.wrapping_add(moved_by);
        }
    }
}

fn explain(pid: u32, error: io::Error) -> Failure {
    let why = way();
    let error = anyhow::Error::new(error).context(format!(
        "process {pid} has no control socket, and this user may not ask it for one: {why}, or start the process with \
         DYNTRACE=control in its environment"
    ));
    Failure::new(exit::NO_PROBES, error)
}
