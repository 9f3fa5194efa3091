//! One session, as the maintenance thread sees it: its files, and what they need ahead of the threads that write them.

use std::collections::HashMap;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::time::{Duration, Instant};
use std::{io, mem, ptr};

use dyntrace_folders::Folder;

use super::cause::Cause;
use super::channel::Channel;
use super::closed_in_children::ClosedInChildren;
use super::descriptor::Descriptor;
use super::error::{Error, Step};
use super::filter::Filter;
use super::flight::Flight;
use super::folder::{self, Made};
use super::lost::{ABOVE_RATE, LostCounter, RINGLESS};
use super::metadata::{self, Description, RING_STREAM};
use super::modules;
use super::options::{Mode, Options};
use super::os;
use super::probes;
use super::ring::Ring;
use super::ring_checksums::Progress;
use super::ring_file::RingFile;
use super::slot::{FEW, Filters, PREPARED, SLOTS, ThreadRing};
use super::snapshot;
use super::status::{Snapshot, Status, Summary};
use super::stream_file;
use crate::clock::{self, Calibration};
use crate::glob::Glob;
use crate::thread_progress;

/// The file of the low-rate channel.
const CHANNEL: &str = "process";

/// The folder of circles in the folder of the process.
const CIRCLES: &str = ".rings";

/// How many rings wait for threads that are to come.
const WAITING: usize = 16;

/// How far the files of threads that write are prepared ahead, in bytes, and at most.
const AHEAD: u64 = 128 << 10;
const FAR_AHEAD: u64 = 64 << 20;

/// How many packets get their checksums in one round: half a megabyte.
const CHECKSUMS: u64 = 16;

/// How long threads may take that are in the middle of a firing.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) struct Recording {
    slot: usize,
    generation: u32,
    options: Options,
    /// Dropped before the folder.
    _closed: ClosedInChildren,
    /// The folder of this process.
    folder: Folder,
    /// Where the files of circles are, in the mode that has them: hidden from programs that read the folder as a trace.
    circles: Option<Folder>,
    uuid: [u8; 16],
    clock: Calibration,
    channel: Channel,
    /// In the order of their files, from `ring-1`.
    rings: Vec<Tended>,
    /// Events of threads that found no ring, and those above the rate that was asked for. Boxed: threads have the addresses.
    counted: [Box<LostCounter>; 2],
    told_of_full: bool,
    /// The last module that the channel has told of.
    told_module: u64,
    next_refinement: (Instant, Duration),
    flight: Flight,
}

/// A ring with what was seen of it last.
struct Tended {
    /// Boxed: threads have its address.
    ring: Box<ThreadRing>,
    /// Its file's.
    name: String,
    position: u64,
    thread: u64,
    checksums: Progress,
}

impl Recording {
    /// Makes the folder and the files, then sets the probes' bits.
    pub fn start(slot: usize, generation: u32, options: Options) -> Result<Recording, Error> {
        let made = folder::make(&options.directory)?;
        Recording::start_in(&made, slot, generation, options).inspect_err(|_| {
            // The bits are not set, so nobody has seen the rings that were offered and are gone now.
            SLOTS[slot].clear();
            made.remove();
        })
    }

    fn start_in(made: &Made, slot: usize, generation: u32, options: Options) -> Result<Recording, Error> {
        let path = made.folder.path();
        let folder = made.folder.try_clone().map_err(|error| Error::new(Step::Folder, path, error))?;
        let uuid = new_uuid(path)?;
        let clock = Calibration::start();
        let channel = Channel::create(&folder, CHANNEL, uuid);
        let channel = channel.map_err(|error| Error::new(Step::File, path.join(CHANNEL), error))?;
        let counted = |name| match LostCounter::create(&folder, name, uuid) {
            Ok(counted) => Ok(Box::new(counted)),
            Err(error) => Err(Error::new(Step::File, path.join(name), error)),
        };
        let counted = [counted(RINGLESS)?, counted(ABOVE_RATE)?];
        let next_refinement = (Instant::now(), Duration::from_millis(100));
        let flight = Flight::new(slot, path, &options);
        let mut recording = Recording {
            slot,
            generation,
            options,
            _closed: ClosedInChildren::new(&folder.as_fd()),
            folder,
            circles: None,
            uuid,
            clock,
            channel,
            rings: Vec::new(),
            counted,
            told_of_full: false,
            told_module: 0,
            next_refinement,
            flight,
        };
        recording.write_metadata(&recording.folder, uuid)?;
        if recording.options.mode == Mode::Overwrite {
            recording.circles = Some(folder::make_private(&recording.folder, CIRCLES)?);
        }
        recording.offer_rings((WAITING + os::threads()).min(PREPARED))?;
        recording.flight.equip(&recording.options)?;
        recording.set_filter();
        recording.set_slower();
        recording.flight.begin(&recording.options);
        recording.tell_of_modules();
        for (place, counted) in [&SLOTS[slot].ringless, &SLOTS[slot].above_rate].into_iter().zip(&recording.counted) {
            // Release: with the Acquire of a thread that counts.
            place.store(ptr::from_ref(&**counted).cast_mut(), Release);
        }
        // Release: who sees the generation sees the rings.
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

    /// Where the files of rings are.
    fn files(&self) -> &Folder {
        self.circles.as_ref().unwrap_or(&self.folder)
    }

    fn set_probes(&self) {
        for probe in probes::present() {
            probe.set_session(self.slot, self.options.takes(probe) || self.options.filter.needs(probe));
        }
    }

    /// Puts the filter in force; gives back the one before, which threads may still read.
    fn set_filter(&self) -> Option<Box<Filters>> {
        let compile = |probe: &&Descriptor| self.options.filter.compile(probe, self.options.takes(probe));
        let filters: Filters = probes::classes().iter().map(compile).collect();
        let filters =
            if filters.iter().any(Option::is_some) { Box::into_raw(Box::new(filters)) } else { ptr::null_mut() };
        // Release: who sees the pointer sees the filters.
        let before = SLOTS[self.slot].filters.swap(filters, Release);
        // SAFETY: null, or what an earlier call has made of a box; the swap has taken it out.
        (!before.is_null()).then(|| unsafe { Box::from_raw(before) })
    }

    /// Puts the time in force that is too long for an operation: cycles are known better from time to time.
    fn set_slower(&self) {
        let slower = self.options.triggers.slower.map_or(0, |slower| self.clock.cycles(slower));
        SLOTS[self.slot].slower.store(slower, Relaxed);
    }

    /// Changes which probes and which of their events are recorded.
    pub fn change(&mut self, probes: Vec<Glob>, filter: Filter) {
        self.options.probes = probes;
        self.options.filter = filter;
        self.heed_options();
    }

    /// The probes of a module have come; whether there are new classes of events.
    pub fn take_in(&mut self, are_new: bool) {
        if are_new && let Err(error) = self.write_metadata(&self.folder, self.uuid) {
            // Nobody could read their events.
            self.channel.lost(&format!("the probes of a module are not recorded: {error}"));
            return;
        }
        self.heed_options();
    }

    /// Sets the filters and the probes' bits anew.
    fn heed_options(&mut self) {
        let before = self.set_filter();
        self.set_probes();
        if thread_progress::wait_blocking(PATIENCE).is_err() {
            // Somebody may still read it.
            mem::forget(before);
        }
    }

    /// Does what waits: rings for threads to come, room for threads that write, and what the channel is to tell.
    ///
    /// Answers whether files grow fast.
    pub fn tend(&mut self) -> bool {
        let busy = self.tend_rings();
        // What cannot be done now is tried again next time; until then events may be lost, and are counted.
        let _ = self.offer_rings(if SLOTS[self.slot].waiting() < FEW { PREPARED } else { WAITING });
        self.tell_of_modules();
        self.tend_triggers();
        if self.next_refinement.0 <= Instant::now() {
            self.refine_clock();
        }
        self.make_checksums() || busy
    }

    /// Makes some of the checksums that are missing. Answers whether there are more to make.
    fn make_checksums(&mut self) -> bool {
        let mut budget = CHECKSUMS;
        self.channel.make_checksums(&mut budget);
        for tended in &mut self.rings {
            tended.checksums.advance(&tended.ring, &mut budget);
        }
        budget == 0
    }

    /// Writes modules that arrived since the last time into the low-rate channel.
    pub fn tell_of_modules(&mut self) {
        for (number, module) in modules::after(self.told_module) {
            self.channel.module(&module);
            self.told_module = number;
        }
    }

    fn refine_clock(&mut self) {
        let (at, interval) = &mut self.next_refinement;
        *interval = (*interval * 2).min(Duration::from_secs(60));
        *at = Instant::now() + *interval;
        self.clock.refine();
        self.set_slower();
        self.channel.clock(std::time::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos() as u64));
        // The text that is there still serves.
        let _ = self.write_metadata(&self.folder, self.uuid);
    }

    fn tend_rings(&mut self) -> bool {
        let slot = &SLOTS[self.slot];
        // A new thread begins a new packet. Where there is no room for one, it gets another ring.
        let offer_again = |ring: &ThreadRing| {
            if !slot.offers(ring) && ring.space().may_hold(ring.position()) {
                slot.offer(ring);
            }
        };
        let mut busy = false;
        for tended in &mut self.rings {
            let ring = &*tended.ring;
            let thread = ring.thread();
            if thread == 0 {
                offer_again(ring);
                continue;
            }
            if thread != tended.thread {
                self.channel.thread(thread, &thread_progress::os::thread_name(thread as u32));
                tended.thread = thread;
                // Where threads come fast, rings are to be there as fast.
                busy = true;
            }
            let position = ring.position();
            if self.options.mode == Mode::Stream {
                let ahead = (4 * (position - tended.position)).clamp(AHEAD, FAR_AHEAD);
                let wanted = position + ahead;
                let place = ring.space();
                if (place.prepared() < position + ahead / 2 || place.is_full())
                    && let Err(error) = place.prepare_ahead(position, wanted)
                    && !self.told_of_full
                {
                    self.told_of_full = true;
                    self.channel.lost(&format!("no room for more events: {error}"));
                }
            }
            busy |= position - tended.position > AHEAD / 4;
            tended.position = position;
            // `abandon` fails if a new thread has taken the ring meanwhile.
            if thread_progress::has_ended(thread as u32) && ring.abandon(thread) {
                tended.thread = 0;
                offer_again(ring);
            }
        }
        busy
    }

    /// Sees to it that so many rings wait.
    fn offer_rings(&mut self, wanted: usize) -> Result<(), Error> {
        let slot = &SLOTS[self.slot];
        while slot.waiting() < wanted {
            let number = self.rings.len() + 1;
            let name = format!("ring-{number}");
            let (folder, mode, size) = (self.files(), self.options.mode, self.options.file_size());
            let place = RingFile::create(folder, &name, self.uuid, RING_STREAM, mode, size)
                .map_err(|error| Error::new(Step::File, folder.path().join(&name), error))?;
            let ring = Box::new(Ring::new(place, number as u64));
            slot.chain(&ring);
            slot.offer(&ring);
            self.rings.push(Tended { ring, name, position: 0, thread: 0, checksums: Progress::default() });
        }
        Ok(())
    }

    pub fn status(&self) -> Status {
        Status {
            directory: self.options.directory.clone(),
            folder: self.folder.path().to_owned(),
            options: self.options.clone(),
            rings: self.rings.iter().filter(|tended| tended.ring.position() > 0).count(),
            bytes: self.rings.iter().map(|tended| tended.ring.position()).sum(),
            discarded: self.discarded(),
            snapshots: self.flight.snapshots.clone(),
            suppressed: self.flight.suppressed,
        }
    }

    fn discarded(&self) -> u64 {
        let rings: u64 = self.rings.iter().map(|tended| tended.ring.discarded()).sum();
        rings + self.counted.iter().map(|counted| counted.count()).sum::<u64>()
    }

    /// Writes what the circles hold, as a trace, into a new folder; threads go on meanwhile.
    pub fn snapshot(&mut self, folder: &Path) -> Result<Snapshot, Error> {
        if self.options.mode != Mode::Overwrite {
            let not_a_circle = format!("the session's mode is {}: its files are a trace already", self.options.mode);
            return Err(Error::new(Step::Snapshot, folder, io::Error::other(not_a_circle)));
        }
        let made = folder::make(folder)?;
        self.snapshot_into(&made.folder)
    }

    fn snapshot_into(&mut self, folder: &Folder) -> Result<Snapshot, Error> {
        self.refine_clock();
        // Of its own: readers that are given several snapshots would join those of the same.
        let uuid = new_uuid(folder.path())?;
        self.write_metadata(folder, uuid)?;
        let failed = |name: &str| {
            let path = folder.path().join(name);
            |error| Error::new(Step::Snapshot, path, error)
        };
        for plain in [CHANNEL, RINGLESS, ABOVE_RATE] {
            snapshot::copy_plain(&self.folder, folder, plain, uuid).map_err(failed(plain))?;
        }
        let mut snapshot = Snapshot { folder: folder.path().to_owned(), packets: 0, bytes: 0, overwritten: 0 };
        for tended in self.rings.iter().filter(|tended| tended.ring.position() > 0) {
            let copied = snapshot::copy(tended.ring.space().file(), folder, &tended.name, uuid);
            let copied = copied.map_err(failed(&tended.name))?;
            if copied.packets == 0 {
                // The reader takes a file without a packet for one that was cut.
                folder.remove_file(&tended.name).map_err(failed(&tended.name))?;
            }
            snapshot.packets += copied.packets;
            snapshot.bytes += copied.bytes;
            snapshot.overwritten += copied.overwritten;
        }
        Ok(snapshot)
    }

    /// Takes the snapshots that were asked for, as far as the limits allow, and tells of the others.
    fn tend_triggers(&mut self) {
        for cause in Cause::ALL {
            let requests = self.flight.requests(cause);
            if requests == 0 {
                continue;
            }
            let taken = self.flight.allows(cause) && self.take_snapshot(cause);
            self.flight.answer(cause, requests - u64::from(taken));
        }
        self.tell_of_suppressed(false);
    }

    /// Whether there is one.
    fn take_snapshot(&mut self, cause: Cause) -> bool {
        let taken = self
            .flight
            .prepare()
            .and_then(|prepared| self.snapshot_into(&prepared.folder).map(|_| prepared))
            .and_then(|prepared| self.flight.keep(&prepared.holder, cause));
        match &taken {
            Ok(folder) => self.channel.snapshot(cause.name(), folder),
            Err(error) => self.channel.lost(&format!("no snapshot was taken: {error}")),
        }
        self.flight.rest(cause);
        taken.is_ok()
    }

    fn tell_of_suppressed(&mut self, at_once: bool) {
        let suppressed = self.flight.untold(at_once);
        if suppressed > 0 {
            self.channel.suppressed(suppressed);
        }
    }

    /// Ends the session: 1. no probe gives it events; 2. wait for the threads that are inside; 3. now the rings are ours.
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
        self.tend_rings();
        self.tell_of_modules();
        self.tend_triggers();
        self.tell_of_suppressed(true);
        self.flight.end();
        self.refine_clock();
        let status = self.status();
        self.channel.end(status.discarded);
        slot.clear();
        let filters = slot.filters.swap(ptr::null_mut(), Relaxed);
        if let Some(late) = late {
            // Their memory stays, and so do the files as they are.
            mem::forget((self.rings, self.counted));
            return Summary { status, errors: vec![Error::late(self.folder.path(), late)] };
        }
        if !filters.is_null() {
            // SAFETY: made of a box by `set_filter`; nobody reads it after the wait.
            drop(unsafe { Box::from_raw(filters) });
        }
        let unused: HashMap<String, bool> =
            self.rings.drain(..).map(|tended| (tended.name, tended.ring.position() == 0)).collect();
        let files = self.circles.as_ref().unwrap_or(&self.folder);
        let finish = |folder: &Folder, name: &str, is_last| {
            folder.open_to_write(name).and_then(|file| stream_file::finish(&file, is_last))
        };
        let failed = |folder: &Folder, name: &str, error| Error::new(Step::Finish, folder.path().join(name), error);
        let (mut errors, mut all_said) = (Vec::new(), true);
        for (name, unused) in unused {
            let done = match (unused, self.options.mode) {
                (true, _) => files.remove_file(&name),
                (false, Mode::Overwrite) => {
                    files.open_to_write(&name).and_then(|file| stream_file::make_checksums(&file))
                }
                (false, _) => finish(files, &name, true).map(|said| all_said &= said),
            };
            errors.extend(done.err().map(|error| failed(files, &name, error)));
        }
        for counted in self.counted {
            let name = counted.name();
            let done = match counted.count() {
                0 => self.folder.remove_file(name),
                _ => finish(&self.folder, name, true).map(|said| all_said &= said),
            };
            errors.extend(done.err().map(|error| failed(&self.folder, name, error)));
        }
        drop(self.channel);
        let done = finish(&self.folder, CHANNEL, all_said && errors.is_empty());
        errors.extend(done.err().map(|error| failed(&self.folder, CHANNEL, error)));
        Summary { status, errors }
    }

    pub fn generation(&self) -> u32 {
        self.generation
    }
}

fn new_uuid(folder: &Path) -> Result<[u8; 16], Error> {
    let mut uuid = [0; 16];
    os::random(&mut uuid).map_err(|error| Error::new(Step::Random, folder, error))?;
    Ok(uuid)
}
