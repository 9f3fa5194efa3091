//! One session, as the maintenance thread sees it: its files, and their preparation before threads write to them.

use std::collections::HashMap;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::time::{Duration, Instant};
use std::{io, mem, ptr};

use dyntrace_folders::{Folder, NewFile};
use dyntrace_probes::clock::{self, Calibration};
use dyntrace_probes::rings::cause::Cause;
use dyntrace_probes::rings::closed_in_children::ClosedInChildren;
use dyntrace_probes::rings::descriptor::Descriptor;
use dyntrace_probes::rings::header::RING_STREAM;
use dyntrace_probes::rings::lost::{ABOVE_RATE, LostCounter, RINGLESS};
use dyntrace_probes::rings::mode::Mode;
use dyntrace_probes::rings::os;
use dyntrace_probes::rings::ring::Ring;
use dyntrace_probes::rings::ring_file::RingFile;
use dyntrace_probes::rings::slot::{Condition, FEW, Filters, PREPARED, SLOTS, ThreadRing};
use dyntrace_probes::rings::stream_file;
use dyntrace_probes::thread_progress;

use super::channel::Channel;
use super::error::{Error, Step};
use super::filter::Filter;
use super::flight::Flight;
use super::folder::{self, ProcessFolder};
use super::metadata::{self, Description};
use super::modules;
use super::options::Options;
use super::probes;
use super::ring_checksums::Progress;
use super::snapshot;
use super::status::{Snapshot, Status, Summary};
use crate::glob::Glob;

/// The file of the low-rate channel.
const CHANNEL: &str = "process";

/// The folder of circular files in the folder of the process.
const CIRCULAR: &str = ".rings";

/// How many rings wait for new threads.
const WAITING: usize = 16;
/// At the start, how many wait for the threads that are there, whatever their size,
const AT_START: usize = 32;
/// and the bytes that more of them may take: each of those threads may fire at once, and may never.
const SPACE_AT_START: u64 = 64 << 20;

/// How far ahead of its writer a file is prepared, at least, in bytes.
const AHEAD: u64 = 128 << 10;
/// How far ahead of its writer a file is prepared, at most, in bytes.
const FAR_AHEAD: u64 = 64 << 20;

/// Packets that get a checksum in one round: half a megabyte.
const CHECKSUMS: u64 = 16;

/// How long to wait for threads that are firing.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) struct Recording {
    slot: usize,
    generation: u32,
    options: Options,
    /// Dropped before the folder.
    _closed: ClosedInChildren,
    /// The folder of this process.
    folder: Folder,
    /// The folder of circular files, in overwrite mode: hidden from programs that read the process's folder as a trace.
    circular: Option<Folder>,
    uuid: [u8; 16],
    clock: Calibration,
    channel: Channel,
    /// In the order of their files, from `ring-1`.
    rings: Vec<SessionRing>,
    /// Counters of events of threads without a ring, and of events above the rate. Boxed: threads have the addresses.
    lost: [Box<LostCounter>; 2],
    reported_full: bool,
    /// The number of the last module that the channel has listed.
    last_module: u64,
    next_refinement: (Instant, Duration),
    flight: Flight,
}

/// A ring, and its state in the last round.
struct SessionRing {
    /// Boxed: threads have its address.
    ring: Box<ThreadRing>,
    /// The name of its file.
    name: String,
    position: u64,
    thread: u64,
    checksums: Progress,
}

impl Recording {
    /// Creates the folder and the files, then sets the probes' bits.
    pub fn start(slot: usize, generation: u32, options: Options) -> Result<Recording, Error> {
        let made = folder::make(&options.directory)?;
        Recording::start_in(&made, slot, generation, options).inspect_err(|_| {
            // The bits are not set, so no thread has seen the rings, which are gone now.
            SLOTS[slot].clear();
            made.remove();
        })
    }

    fn start_in(made: &ProcessFolder, slot: usize, generation: u32, options: Options) -> Result<Recording, Error> {
        let path = made.folder.path();
        let folder = made.folder.try_clone().map_err(|error| Error::new(Step::Folder, path, error))?;
        let mapped = stream_file::check_write_back(&folder);
        mapped.map_err(|error| Error::new(Step::Map, path.join(CHANNEL), error))?;
        let uuid = new_uuid(path)?;
        let clock = Calibration::start();
        let channel = Channel::create(&folder, CHANNEL, uuid);
        let channel = channel.map_err(|error| Error::new(Step::File, path.join(CHANNEL), error))?;
        let counter = |name| match LostCounter::create(&folder, name, uuid) {
            Ok(counter) => Ok(Box::new(counter)),
            Err(error) => Err(Error::new(Step::File, path.join(name), error)),
        };
        let lost = [counter(RINGLESS)?, counter(ABOVE_RATE)?];
        let next_refinement = (Instant::now(), Duration::from_millis(100));
        let flight = Flight::new(slot, path, &options);
        let mut recording = Recording {
            slot,
            generation,
            options,
            _closed: ClosedInChildren::new(&folder.as_fd()),
            folder,
            circular: None,
            uuid,
            clock,
            channel,
            rings: Vec::new(),
            lost,
            reported_full: false,
            last_module: 0,
            next_refinement,
            flight,
        };
        recording.write_metadata(&recording.folder, uuid)?;
        if recording.options.mode == Mode::Overwrite {
            recording.circular = Some(folder::make_private(&recording.folder, CIRCULAR)?);
        }
        recording.offer_rings(recording.rings_at_start())?;
        recording.flight.prepare(&recording.options)?;
        recording.set_filter();
        recording.set_slower();
        recording.flight.subscribe(&recording.options);
        recording.report_modules();
        for (pointer, counter) in [&SLOTS[slot].ringless, &SLOTS[slot].above_rate].into_iter().zip(&recording.lost) {
            // Release: with the Acquire of a thread that counts.
            pointer.store(ptr::from_ref(&**counter).cast_mut(), Release);
        }
        // Release: a thread that sees the generation sees the rings.
        SLOTS[slot].generation.store(generation, Release);
        recording.set_probes();
        Ok(recording)
    }

    fn write_metadata(&self, folder: &Folder, uuid: [u8; 16]) -> Result<(), Error> {
        let description = Description {
            uuid,
            hostname: &metadata::hostname(),
            procname: &folder::process_name(),
            pid: std::process::id(),
            mode: self.options.mode,
            format: self.options.format,
            clock: self.clock,
            clock_name: clock::name(),
            events: probes::classes(),
        };
        metadata::write(folder, &description).map_err(|error| Error::new(Step::Metadata, folder.path(), error))
    }

    /// The folder of the rings' files.
    fn files(&self) -> &Folder {
        self.circular.as_ref().unwrap_or(&self.folder)
    }

    fn set_probes(&self) {
        for probe in probes::present() {
            probe.set_session(self.slot, self.options.takes(probe) || self.options.filter.needs(probe));
        }
    }

    /// Applies the filter. Returns the previous one, which threads may still read.
    fn set_filter(&self) -> Option<Box<Filters>> {
        let compile = |probe: &&Descriptor| -> Option<Box<dyn Condition>> {
            Some(Box::new(self.options.filter.compile(probe, self.options.takes(probe))?))
        };
        let filters: Filters = probes::classes().iter().map(compile).collect();
        let filters =
            if filters.iter().any(Option::is_some) { Box::into_raw(Box::new(filters)) } else { ptr::null_mut() };
        // Release: a thread that sees the pointer sees the filters.
        let before = SLOTS[self.slot].filters.swap(filters, Release);
        // SAFETY: null, or made of a box by an earlier call, and removed by the swap.
        (!before.is_null()).then(|| unsafe { Box::from_raw(before) })
    }

    /// Applies the limit for slow operations, in cycles by the present calibration.
    fn set_slower(&self) {
        let slower = self.options.triggers.slower.map_or(0, |slower| self.clock.cycles(slower));
        SLOTS[self.slot].slower.store(slower, Relaxed);
    }

    /// Changes which probes and which of their events are recorded.
    pub fn change(&mut self, probes: Vec<Glob>, filter: Filter) {
        self.options.probes = probes;
        self.options.filter = filter;
        self.apply_options();
    }

    /// Takes note that a module's probes were added, and whether there are new classes of events.
    pub fn add_probes(&mut self, are_new: bool) {
        if are_new && let Err(error) = self.write_metadata(&self.folder, self.uuid) {
            // Without metadata their events could not be read.
            self.channel.lost(&format!("the probes of a module are not recorded: {error}"));
            return;
        }
        self.apply_options();
    }

    /// Applies filter and probes of the options.
    fn apply_options(&mut self) {
        let before = self.set_filter();
        self.set_probes();
        if thread_progress::wait_blocking(PATIENCE).is_err() {
            // A thread may still read it.
            mem::forget(before);
        }
    }

    /// Does a round of maintenance: rings for new threads, space for writing threads, reports in the channel.
    ///
    /// Returns whether files grow fast.
    pub fn maintain(&mut self) -> bool {
        // First: facts about the rings are written once.
        self.channel.keep_room();
        let busy = self.maintain_rings();
        // Rings that cannot be created now are tried again in the next round. Until then events may be lost, and are counted.
        let _ = self.offer_rings(if SLOTS[self.slot].waiting() < FEW { PREPARED } else { WAITING });
        // Threads without a ring look for one again.
        SLOTS[self.slot].round.fetch_add(1, Relaxed);
        self.report_modules();
        self.handle_triggers();
        if self.next_refinement.0 <= Instant::now() {
            self.refine_clock();
        }
        self.make_checksums() || busy
    }

    /// Computes missing checksums. Returns whether more may be missing.
    fn make_checksums(&mut self) -> bool {
        let mut budget = CHECKSUMS;
        self.channel.make_checksums(&mut budget);
        for entry in &mut self.rings {
            entry.checksums.advance(&entry.ring, &mut budget);
        }
        budget == 0
    }

    /// Writes modules loaded since the last report into the low-rate channel.
    pub fn report_modules(&mut self) {
        for (number, module) in modules::after(self.last_module) {
            self.channel.module(&module);
            self.last_module = number;
        }
    }

    fn refine_clock(&mut self) {
        let (at, interval) = &mut self.next_refinement;
        *interval = (*interval * 2).min(Duration::from_secs(60));
        *at = Instant::now() + *interval;
        self.clock.refine();
        self.set_slower();
        self.channel.clock(std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64));
        // If it fails, the previous text still serves.
        let _ = self.write_metadata(&self.folder, self.uuid);
    }

    fn maintain_rings(&mut self) -> bool {
        let slot = &SLOTS[self.slot];
        // A new thread begins a new packet. A ring without room for one is not offered again.
        let offer_again = |ring: &ThreadRing| {
            if !slot.offers(ring) && ring.space().may_hold(ring.position()) {
                slot.offer(ring);
            }
        };
        let mut busy = false;
        for entry in &mut self.rings {
            let ring = &*entry.ring;
            let thread = ring.thread();
            if thread == 0 {
                offer_again(ring);
                continue;
            }
            if thread != entry.thread {
                self.channel.thread(thread, &thread_progress::os::thread_name(thread as u32));
                entry.thread = thread;
                // Threads may keep starting fast, and need rings.
                busy = true;
            }
            let position = ring.position();
            if self.options.mode == Mode::Stream {
                let ahead = (4 * (position - entry.position)).clamp(AHEAD, FAR_AHEAD);
                let wanted = position + ahead;
                let file = ring.space();
                if (file.prepared() < position + ahead / 2 || file.is_full())
                    && let Err(error) = file.prepare_ahead(position, wanted)
                    && !self.reported_full
                {
                    self.reported_full = true;
                    self.channel.lost(&format!("no room for more events: {error}"));
                }
            }
            busy |= position - entry.position > AHEAD / 4;
            entry.position = position;
            // `abandon` fails if a new thread has taken the ring meanwhile.
            if thread_progress::has_ended(thread as u32) && ring.abandon(thread) {
                entry.thread = 0;
                offer_again(ring);
            }
        }
        busy
    }

    fn rings_at_start(&self) -> usize {
        let first_size = RingFile::first_size(self.options.mode, self.options.file_size());
        let most = (SPACE_AT_START / first_size) as usize;
        (WAITING + os::threads()).min(AT_START.max(most)).min(PREPARED)
    }

    /// Creates rings until `wanted` of them wait.
    fn offer_rings(&mut self, wanted: usize) -> Result<(), Error> {
        let slot = &SLOTS[self.slot];
        while slot.waiting() < wanted {
            let number = self.rings.len() + 1;
            let name = format!("ring-{number}");
            let (folder, mode, size) = (self.files(), self.options.mode, self.options.file_size());
            let file = RingFile::create(folder, &name, self.uuid, RING_STREAM, mode, size)
                .map_err(|error| Error::new(Step::File, folder.path().join(&name), error))?;
            let ring = Box::new(Ring::new(file, number as u64));
            slot.chain(&ring);
            slot.offer(&ring);
            self.rings.push(SessionRing { ring, name, position: 0, thread: 0, checksums: Progress::default() });
        }
        Ok(())
    }

    pub fn status(&self) -> Status {
        Status {
            directory: self.options.directory.clone(),
            folder: self.folder.path().to_owned(),
            options: self.options.clone(),
            rings: self.rings.iter().filter(|entry| entry.ring.position() > 0).count(),
            bytes: self.rings.iter().map(|entry| entry.ring.position()).sum(),
            discarded: self.discarded(),
            snapshots: self.flight.snapshots.clone(),
            suppressed: self.flight.suppressed,
            is_removed: self.is_removed(),
        }
    }

    /// Whether files that threads write were removed.
    fn is_removed(&self) -> bool {
        let used = self.rings.iter().filter(|entry| entry.ring.position() > 0).map(|entry| &*entry.name);
        lacks(&self.folder, [CHANNEL]) || lacks(self.files(), used)
    }

    fn discarded(&self) -> u64 {
        let rings: u64 = self.rings.iter().map(|entry| entry.ring.discarded()).sum();
        rings + self.lost.iter().map(|counter| counter.count()).sum::<u64>()
    }

    /// Writes the contents of the circular files into a new folder, as a trace. Threads continue to record meanwhile.
    pub fn snapshot(&mut self, folder: &Path) -> Result<Snapshot, Error> {
        if self.options.mode != Mode::Overwrite {
            let not_circular = format!("the session's mode is {}: its files are a trace already", self.options.mode);
            return Err(Error::new(Step::Snapshot, folder, io::Error::other(not_circular)));
        }
        let made = folder::make(folder)?;
        // Part of a snapshot would read as a whole trace, and fill the disk.
        self.snapshot_into(&made.folder).inspect_err(|_| made.remove())
    }

    fn snapshot_into(&mut self, folder: &Folder) -> Result<Snapshot, Error> {
        self.refine_clock();
        // A new uuid: a reader of several snapshots joins those with the same one.
        let uuid = new_uuid(folder.path())?;
        self.write_metadata(folder, uuid)?;
        let failed = |name: &str| {
            let path = folder.path().join(name);
            |error| Error::new(Step::Snapshot, path, error)
        };
        for name in [CHANNEL, RINGLESS, ABOVE_RATE] {
            let bytes = snapshot::plain(&self.folder, name, uuid)
                .map_err(|error| Error::new(Step::Read, self.folder.path().join(name), error))?;
            let written = folder.create_file(name, NewFile::Plain).and_then(|mut file| file.write_all(&bytes));
            written.map_err(failed(name))?;
        }
        let mut snapshot = Snapshot { folder: folder.path().to_owned(), packets: 0, bytes: 0, overwritten: 0 };
        for entry in self.rings.iter().filter(|entry| entry.ring.position() > 0) {
            let copied = snapshot::copy(entry.ring.space().file(), folder, &entry.name, uuid);
            let copied = copied.map_err(failed(&entry.name))?;
            if copied.packets == 0 {
                // The reader would report a file without packets as cut off.
                folder.remove_file(&entry.name).map_err(failed(&entry.name))?;
            }
            snapshot.packets += copied.packets;
            snapshot.bytes += copied.bytes;
            snapshot.overwritten += copied.overwritten;
        }
        Ok(snapshot)
    }

    /// Takes requested snapshots, as far as the limits allow, and reports the suppressed ones.
    fn handle_triggers(&mut self) {
        for cause in Cause::ALL {
            let requests = self.flight.requests(cause);
            if requests == 0 {
                continue;
            }
            let taken = self.flight.allows(cause) && self.take_snapshot(cause);
            self.flight.mark_handled(cause, requests - u64::from(taken));
        }
        self.report_suppressed(false);
    }

    /// Takes a snapshot. Returns whether it succeeded.
    fn take_snapshot(&mut self, cause: Cause) -> bool {
        let taken = self.flight.create_folder().and_then(|created| {
            let copied = self.snapshot_into(&created.folder);
            let published = copied.and_then(|_| self.flight.publish(&created.holder, cause));
            published.inspect_err(|_| created.remove())
        });
        match &taken {
            Ok(folder) => self.channel.snapshot(cause.name(), folder),
            Err(error) => self.channel.lost(&format!("no snapshot was taken: {error}")),
        }
        self.flight.start_pause(cause);
        taken.is_ok()
    }

    fn report_suppressed(&mut self, at_once: bool) {
        let suppressed = self.flight.take_unreported(at_once);
        if suppressed > 0 {
            self.channel.suppressed(suppressed);
        }
    }

    /// Ends the session: 1. clear the probes' bits; 2. wait for firing threads; 3. from now on no thread uses the rings.
    pub fn stop(mut self) -> Summary {
        // 1.
        for probe in probes::present() {
            probe.set_session(self.slot, false);
        }
        // 2.
        let late = thread_progress::wait_blocking(PATIENCE).err();
        // 3.
        let slot = &SLOTS[self.slot];
        slot.generation.store(0, Relaxed);
        self.channel.keep_room();
        self.maintain_rings();
        self.report_modules();
        self.handle_triggers();
        self.report_suppressed(true);
        self.flight.unsubscribe();
        self.refine_clock();
        let status = self.status();
        self.channel.end(status.discarded);
        slot.clear();
        let filters = slot.filters.swap(ptr::null_mut(), Relaxed);
        if let Some(late) = late {
            // Late threads may still write: the memory and the files stay as they are.
            mem::forget((self.rings, self.lost));
            return Summary { status, errors: vec![Error::late(self.folder.path(), late)] };
        }
        if !filters.is_null() {
            // SAFETY: made of a box by `set_filter`; no thread reads it after the wait.
            drop(unsafe { Box::from_raw(filters) });
        }
        let unused: HashMap<String, bool> =
            self.rings.drain(..).map(|entry| (entry.name, entry.ring.position() == 0)).collect();
        let files = self.circular.as_ref().unwrap_or(&self.folder);
        let finish = |folder: &Folder, name: &str, is_last| {
            folder.open_to_write(name).and_then(|file| stream_file::finish(&file, is_last))
        };
        let failed = |folder: &Folder, name: &str, error| Error::new(Step::Finish, folder.path().join(name), error);
        let (mut errors, mut all_marked) = (Vec::new(), true);
        for (name, unused) in unused {
            let done = match (unused, self.options.mode) {
                (true, _) => files.remove_file(&name),
                (false, Mode::Overwrite) => {
                    files.open_to_write(&name).and_then(|file| stream_file::make_checksums(&file))
                }
                (false, _) => finish(files, &name, true).map(|marked| all_marked &= marked),
            };
            errors.extend(done.err().map(|error| failed(files, &name, error)));
        }
        for counter in self.lost {
            let name = counter.name();
            let done = match counter.count() {
                0 => self.folder.remove_file(name),
                _ => finish(&self.folder, name, true).map(|marked| all_marked &= marked),
            };
            errors.extend(done.err().map(|error| failed(&self.folder, name, error)));
        }
        drop(self.channel);
        let done = finish(&self.folder, CHANNEL, all_marked && errors.is_empty());
        errors.extend(done.err().map(|error| failed(&self.folder, CHANNEL, error)));
        Summary { status, errors }
    }

    pub fn generation(&self) -> u32 {
        self.generation
    }
}

/// Whether a folder lacks one of these files, or was removed itself.
fn lacks<'n>(folder: &Folder, wanted: impl IntoIterator<Item = &'n str>) -> bool {
    match folder.names() {
        Ok(names) => wanted.into_iter().any(|wanted| !names.iter().any(|name| name == wanted)),
        // A process that has changed its user since may not list it.
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn new_uuid(folder: &Path) -> Result<[u8; 16], Error> {
    let mut uuid = [0; 16];
    os::random(&mut uuid).map_err(|error| Error::new(Step::Random, folder, error))?;
    Ok(uuid)
}
