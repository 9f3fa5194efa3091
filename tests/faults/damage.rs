//! Random damage of a recorded trace: each is reported, or all events are there. Every returned event was recorded.

use std::collections::HashSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::thread;

use dyntrace::recorder::Session;
use dyntrace_reader::{Losses, Trace, Value};

use crate::support::{alone, fire, options, read_by_babeltrace, stop, times};

const PAGE: usize = 4096;
const PACKET: usize = 32768;
/// Offset of the content size of a packet, in bits.
const CONTENT_SIZE: usize = 24;
/// Offset of the sequence number of a packet: 0 until a thread enters it.
const SEQUENCE: usize = 48;
/// Offset of the checksum word of a packet, and the high half of an open packet's word.
const CHECKSUM: usize = 72;
const OPEN: u32 = 0x6f70_656e;

/// The undamaged files of one process's trace.
struct Whole {
    folder: PathBuf,
    files: Vec<(PathBuf, Vec<u8>)>,
    events: Vec<u64>,
    known: HashSet<u64>,
}

impl Whole {
    fn of(trace: &Path) -> Whole {
        let folder = Trace::open(trace).unwrap().processes()[0].path.clone();
        let mut paths: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let files = paths.into_iter().map(|path| (path.clone(), fs::read(&path).unwrap())).collect();
        let (events, losses) = read(&folder).unwrap();
        assert!(losses.is_empty() && events.len() > 3000, "{losses:?}");
        let known = events.iter().copied().collect();
        Whole { folder, files, events, known }
    }

    /// Damages the trace, reads it, and restores it. Returns whether the result is right.
    fn bears(&self, damage: &Damage) -> Result<(), String> {
        for (file, bytes) in &damage.files {
            fs::write(&self.files[*file].0, bytes).unwrap();
        }
        let read = read(&self.folder);
        for (file, _) in &damage.files {
            fs::write(&self.files[*file].0, &self.files[*file].1).unwrap();
        }
        // An error is a report, too.
        let Ok((events, losses)) = read else { return Ok(()) };
        let is_metadata = damage.files.iter().any(|(file, _)| self.files[*file].0.ends_with("metadata"));
        if let Some(at) = events.iter().position(|event| !self.known.contains(event))
            && !is_metadata
        {
            return Err(format!("event {at} was never recorded; {losses:?}"));
        }
        match losses.damaged.is_empty() && events != self.events {
            true => Err(format!("{} of {} events, and nothing was said", events.len(), self.events.len())),
            false => Ok(()),
        }
    }

    fn file(&self, name: &str) -> usize {
        self.files.iter().position(|(path, _)| path.ends_with(name)).unwrap()
    }
}

/// Returns the events, each as a number, and the losses.
fn read(folder: &Path) -> Result<(Vec<u64>, Losses), dyntrace_reader::Error> {
    let trace = Trace::open(folder)?;
    let number = |event: dyntrace_reader::Event<'_>| {
        let mut hasher = DefaultHasher::new();
        (event.time, event.tid, &event.class.name).hash(&mut hasher);
        for (name, value) in event.fields() {
            match value {
                Value::Signed(number) => (name, number).hash(&mut hasher),
                Value::Unsigned(number) => (name, number).hash(&mut hasher),
                Value::Text(text) => (name, text).hash(&mut hasher),
            }
        }
        hasher.finish()
    };
    let events = trace.events().map(number).collect();
    Ok((events, trace.losses()))
}

/// The damaged files.
struct Damage {
    what: &'static str,
    files: Vec<(usize, Vec<u8>)>,
}

impl Damage {
    /// Generates any damage of one or two of these files; `other` is of another run.
    fn random(whole: &Whole, other: &Whole, chance: &mut Chance) -> Damage {
        let file = chance.below(whole.files.len());
        let mut bytes = whole.files[file].1.clone();
        let pages = bytes.len() / PAGE;
        let what = match chance.below(10) {
            0 | 1 => {
                for _ in 0..1 + chance.below(8) {
                    let at = chance.below(bytes.len());
                    bytes[at] ^= 1 << chance.below(8);
                }
                "flipped bits"
            }
            2 => {
                let at = chance.below(bytes.len());
                bytes[at] = chance.next() as u8;
                "one byte"
            }
            3 if pages > 0 => {
                let page = PAGE * chance.below(pages);
                bytes[page..page + PAGE].fill(0);
                "a zeroed page"
            }
            4 if pages > 0 => {
                let page = PAGE * chance.below(pages);
                bytes[page..page + PAGE].fill(0xff);
                "a page of 0xFF"
            }
            5 => {
                let (from, to) = (chance.below(bytes.len()), chance.below(bytes.len()));
                bytes[from.min(to)..from.max(to)].fill(chance.next() as u8);
                "bytes over a stretch"
            }
            6 => {
                bytes.truncate(chance.below(bytes.len() + 1));
                if chance.below(2) == 0 {
                    bytes.truncate(bytes.len() / PAGE * PAGE);
                }
                "a truncated file"
            }
            7 if pages > 0 => {
                let unit = if bytes.len() < PACKET { PAGE } else { [PAGE, PACKET][chance.below(2)] };
                let (from, to) = (chance.below(bytes.len() / unit), chance.below(bytes.len() / unit));
                let page = bytes[unit * from..unit * (from + 1)].to_vec();
                bytes[unit * to..unit * (to + 1)].copy_from_slice(&page);
                "a duplicated page"
            }
            8 => {
                bytes.clone_from(&other.files[chance.below(other.files.len())].1);
                "a file of another run"
            }
            _ => {
                // Exchanges pages or packets of this file with those of any other.
                let second = chance.below(whole.files.len());
                let unit = [PAGE, PACKET][chance.below(2)];
                let mut others = whole.files[second].1.clone();
                let (from, to) = (bytes.len() / unit, others.len() / unit);
                if from == 0 || to == 0 {
                    return Damage::random(whole, other, chance);
                }
                let (from, to) = (unit * chance.below(from), unit * chance.below(to));
                if second == file {
                    let page = bytes[from..from + unit].to_vec();
                    bytes.copy_within(to..to + unit, from);
                    bytes[to..to + unit].copy_from_slice(&page);
                } else {
                    bytes[from..from + unit].swap_with_slice(&mut others[to..to + unit]);
                }
                let files = [(file, bytes), (second, others)];
                return Damage { what: "swapped pages", files: files[..1 + usize::from(second != file)].to_vec() };
            }
        };
        Damage { what, files: vec![(file, bytes)] }
    }

    /// Whether it touches a packet that has no checksum.
    fn is_in_the_open(&self, whole: &Whole) -> bool {
        self.files.iter().any(|(file, bytes)| {
            let before = &whole.files[*file].1;
            let packets = before.chunks(PACKET).zip(bytes.chunks(PACKET));
            let is_open = |packet: &[u8]| packet[CHECKSUM + 4..CHECKSUM + 8] == OPEN.to_ne_bytes();
            bytes.len() != before.len() || packets.into_iter().any(|(before, after)| before != after && is_open(before))
        })
    }
}

/// Records three threads, each into several packets, and calls `look` before the end.
fn record<R>(directory: &Path, look: impl FnOnce() -> R) -> R {
    let session = Session::start(options(directory, "")).unwrap();
    thread::scope(|scope| {
        for line in 0..3 {
            scope.spawn(move || (1..1500 + 300 * line).for_each(|number| fire(line, number)));
        }
    });
    let looked = look();
    stop(session);
    looked
}

/// Returns a copy of a trace as it was before its end.
fn killed(directory: &Path) -> PathBuf {
    let (killed, trace) = (directory.join("killed"), directory.join("trace"));
    fs::create_dir(&killed).unwrap();
    record(&trace, || {
        let folder = Trace::open(&trace).unwrap().processes()[0].path.clone();
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            // New metadata has a temporary name until it is complete.
            let is_part = !entry.file_name().to_string_lossy().starts_with('.');
            if is_part && entry.file_type().unwrap().is_file() {
                fs::copy(entry.path(), killed.join(entry.file_name())).unwrap();
            }
        }
    });
    killed
}

#[test]
fn damage_is_reported_or_harmless() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let [one, another] = ["one", "another"].map(|name| {
        let trace = directory.path().join(name);
        record(&trace, || ());
        read_by_babeltrace(&trace);
        Whole::of(&trace)
    });
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    for number in 0..times(150, 10_000) {
        let damage = Damage::random(&one, &another, &mut chance);
        if let Err(problem) = one.bears(&damage) {
            let (file, _) = damage.files[0];
            panic!("damage {number}, {} in {}: {problem}", damage.what, one.files[file].0.display());
        }
    }
}

/// The files after a kill: packets that were open have no checksum; damage of all others is found.
#[test]
fn damage_of_a_killed_programs_trace_is_reported_or_harmless() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let killed = killed(directory.path());
    read_by_babeltrace(&killed);
    let other = directory.path().join("other");
    record(&other, || ());
    let (whole, another) = (Whole::of(&killed), Whole::of(&other));
    let mut chance = Chance(0x2545_f491_4f6c_dd1d);
    let mut judged = 0;
    let tried = times(120, 5000);
    for _ in 0..tried {
        let damage = Damage::random(&whole, &another, &mut chance);
        if damage.is_in_the_open(&whole) {
            // Reading must only end without a panic.
            let _ = whole.bears(&damage);
            continue;
        }
        judged += 1;
        if let Err(problem) = whole.bears(&damage) {
            let (file, _) = damage.files[0];
            panic!("damage {judged}, {} in {}: {problem}", damage.what, whole.files[file].0.display());
        }
    }
    assert!(judged > tried / 8, "{judged} of {tried} were not in open packets");
}

/// A string without an end that extends over the following events.
#[test]
fn a_page_of_ff_costs_its_packet_and_no_other() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    record(directory.path(), || ());
    let whole = Whole::of(directory.path());
    let file = whole.file("ring-1");
    let (path, bytes) = &whole.files[file];
    let mut damaged = bytes.clone();
    // An ending thread leaves its last packet half empty, and another thread may continue in its ring: damage loses events only where there are any.
    let bits = |packet: &[u8]| u64::from_ne_bytes(packet[CONTENT_SIZE..CONTENT_SIZE + 8].try_into().unwrap());
    let packets = damaged.chunks_exact(PACKET).enumerate();
    let full: Vec<_> = packets.filter_map(|(at, packet)| (bits(packet) > 8 * 7 * PAGE as u64).then_some(at)).collect();
    assert!(full.len() > 1, "{full:?}");
    let middle = full[full.len() / 2] * PACKET;
    damaged[middle + 2 * PAGE..middle + 3 * PAGE].fill(0xff);
    fs::write(path, damaged).unwrap();
    let (events, losses) = read(&whole.folder).unwrap();
    let [damage] = &losses.damaged[..] else { panic!("{losses:?}") };
    assert_eq!((damage.offset, damage.bytes), (middle as u64, PACKET as u64), "{damage:?}");
    assert!(damage.file.ends_with("ring-1") && damage.reason.contains("checksum"), "{damage:?}");
    let lost = whole.events.len() - events.len();
    assert!((100..PACKET / 50).contains(&lost), "{lost}");
    assert!(events.iter().all(|event| whole.known.contains(event)));

    // The recovered trace reports the missing packets.
    let recovered = directory.path().join("recovered");
    let summary = dyntrace_reader::recover(&whole.folder, &recovered).unwrap();
    assert_eq!((summary.events as usize, summary.damaged.len()), (events.len(), 1));
    let (again, losses) = read(&recovered).unwrap();
    assert_eq!((again, losses.damaged.len()), (events, 1), "{losses:?}");
    read_by_babeltrace(&recovered);
}

/// Marsaglia's xorshift.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

#[test]
fn an_emptied_packet_before_others_is_reported() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let whole = Whole::of(&killed(directory.path()));
    let mut emptied = 0;
    for (file, (path, bytes)) in whole.files.iter().enumerate().filter(|(_, (_, bytes))| bytes.len() > 2 * PACKET) {
        let packets: Vec<&[u8]> = bytes.chunks(PACKET).collect();
        let written = packets.iter().take_while(|packet| packet[SEQUENCE..SEQUENCE + 8] != [0; 8]).count();
        let Some(prepared) = packets.get(written).filter(|_| !path.ends_with("metadata")) else { continue };
        for at in 0..written.saturating_sub(1) {
            let mut bytes = bytes.clone();
            bytes[PACKET * at..PACKET * (at + 1)].copy_from_slice(prepared);
            let damage = Damage { what: "an emptied packet", files: vec![(file, bytes)] };
            assert_eq!(whole.bears(&damage), Ok(()), "packet {at} of {written} in {}", path.display());
            emptied += 1;
        }
    }
    assert!(emptied > 6, "{emptied}");
}
