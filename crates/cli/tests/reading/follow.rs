//! `dyntrace convert --follow`: what is recorded while it runs gets its rows, each once.

use std::fs;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};

use crate::dyntrace;
use crate::interrupts::heed;
use crate::partition::{HOUR, arguments, operations, rows, source, tags};
use crate::writer::{Arg, Fired, SUB_BUFFER, Writer, fired};

/// A folder with a recording that goes on, and with a data set.
struct Place {
    folder: tempfile::TempDir,
    trace: PathBuf,
    output: PathBuf,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let [trace, output] = ["trace", "fleet"].map(|name| folder.path().join(name));
        fs::create_dir(&trace).unwrap();
        Place { folder, trace, output }
    }

    /// Begins the recording of a process, whose folder appears with these events.
    fn begin(&self, number: u8, events: &[Fired]) -> Writer {
        let name = format!("shop-{number}");
        let mut writer = source(self.folder.path().join(&name), number, "web-1");
        writer.ring("ring-1", 7, events);
        fs::rename(&writer.folder, self.trace.join(&name)).unwrap();
        writer.folder = self.trace.join(&name);
        writer
    }

    /// Records up to the end of these events.
    fn grow(&self, writer: &Writer, events: &[Fired]) {
        self.replace(&writer.folder.join("ring-1"), &writer.packets(0, 7, SUB_BUFFER, events));
    }

    /// Writes the recorder's own event.
    fn tell(&self, writer: &Writer, event: Fired) {
        self.replace(&writer.folder.join("process"), &writer.packets(1, 0, SUB_BUFFER, &[event]));
    }

    /// The recording ends.
    fn end(&self, writer: &Writer, time: u64) {
        self.tell(writer, fired("recorder:end", time, [Arg::U(0)]));
    }

    /// A follower sees the file before or after: a recorder never shortens one.
    fn replace(&self, file: &Path, packets: &[Vec<u8>]) {
        let next = self.folder.path().join("next");
        fs::write(&next, packets.concat()).unwrap();
        fs::rename(next, file).unwrap();
    }

    fn follow(&self, traces: &[&Path], every: &str) -> Follower {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
        command.args(arguments(traces, &["--follow", "--every", every], &self.output));
        Follower(heed(&mut command).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Waits until so many events have rows.
    #[track_caller]
    fn wait_for(&self, events: usize) {
        wait(&format!("{events} events with rows"), || rows(&self.output, "events").len() == events);
    }
}

/// A converter that follows recordings; killed when a test fails.
struct Follower(Child);

impl Follower {
    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.0.id() as i32), signal).unwrap();
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Waits until it ends with this status. Returns standard error.
    #[track_caller]
    fn ends(mut self, status: i32) -> String {
        let mut said = String::new();
        self.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(self.0.wait().unwrap().code(), Some(status), "{said}");
        said
    }

    /// The processor time that it has used, in clock ticks.
    fn ticks(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        // The second field, a name in parentheses, may have spaces. User and system time are the 14th and the 15th.
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until this is so. Fails after a time that no machine needs.
#[track_caller]
fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(120), "no {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn rows_come_while_programs_run_and_while_more_begin() {
    let place = Place::new();
    let events = operations(2, 30);
    let one = place.begin(1, &events[..20]);
    let follower = place.follow(&[&place.trace], "10ms");
    place.wait_for(20);
    place.grow(&one, &events[..51]);
    place.wait_for(51);
    // A program that begins to record in the same folder.
    let two = place.begin(2, &events[..10]);
    place.wait_for(61);
    place.grow(&one, &events);
    place.end(&one, 2 * HOUR);
    place.wait_for(events.len() + 1 + 10);
    // It goes on for the one that has not ended.
    place.grow(&two, &events);
    place.wait_for(2 * events.len() + 1);
    place.end(&two, 2 * HOUR);
    let said = follower.ends(0);
    assert_eq!(rows(&place.output, "events").len(), 2 * (events.len() + 1));
    assert_eq!(rows(&place.output, "operations").len(), 2 * 60);
    let new: usize = said.strip_prefix("ranges: ").and_then(|said| said.split(' ').next()).unwrap().parse().unwrap();
    // Three steps of each at least, all by this run; each round makes ranges of its own.
    assert!(new >= 6 && said.ends_with(" new, 0 done before\n"), "{said}");
    let said = place.follow(&[&place.trace], "1h").ends(0);
    assert!(said.contains(&format!("ranges: 0 new, {new} done before")), "{said}");
}

/// Between rounds it sleeps. A signal ends it after a last round, for which nobody waits an hour.
#[test]
fn signals_end_it_when_all_that_was_recorded_has_rows() {
    for (signal, is_lossy) in [(Signal::SIGINT, false), (Signal::SIGTERM, true), (Signal::SIGHUP, false)] {
        let place = Place::new();
        let events = operations(1, 40);
        let writer = place.begin(1, &events[..20]);
        let follower = place.follow(&[&place.trace], "1h");
        place.wait_for(20);
        // The round has ended when its list of files is there.
        wait("end of the first round", || {
            let sources = fs::read_dir(place.output.join("_sources")).unwrap();
            sources.flatten().any(|source| source.path().join("000000.done").exists())
        });
        if is_lossy {
            place.tell(&writer, fired("recorder:lost", 7, [Arg::U(5), "a test".into()]));
        }
        place.grow(&writer, &events);
        let before = follower.ticks();
        thread::sleep(Duration::from_millis(500));
        // A loop without a pause has 50 of the 50 ticks, or half of them on a processor that others use.
        let used = follower.ticks() - before;
        assert!(used <= 15, "{used} ticks while nothing was to be done");
        assert_eq!(rows(&place.output, "events").len(), 20);
        follower.signal(signal);
        let said = follower.ends(if is_lossy { 3 } else { 0 });
        assert!(said.contains("the recording has not ended; 1 operations") && said.contains("--final"), "{said}");
        assert!(said.contains("ranges: 2 new, 0 done before"), "{said}");
        assert_eq!(said.contains("5 events lost"), is_lossy, "{said}");
        assert_eq!(tags(&place.output), (1..40).collect());
        assert_eq!(rows(&place.output, "events").len(), events.len() + usize::from(is_lossy));
    }
}

/// A plan that another user has replaced by a pipe is told, and not waited for.
#[test]
fn a_second_signal_ends_it_within_a_round() {
    let place = Place::new();
    place.begin(1, &operations(1, 10));
    let other = source(place.folder.path().join("other/shop-2"), 2, "web-1");
    let hex: String = other.uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    let uuid = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
    let plans = place.output.join("_sources").join(uuid);
    fs::create_dir_all(&plans).unwrap();
    mkfifo(&plans.join("000000.plan"), Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
    let mut follower = place.follow(&[&place.trace], "1h");
    place.wait_for(20);
    // Both signals are there when it goes on.
    for signal in [Signal::SIGSTOP, Signal::SIGINT, Signal::SIGTERM, Signal::SIGCONT] {
        follower.signal(signal);
    }
    let ended = follower.0.wait().unwrap().signal();
    assert!([Some(Signal::SIGINT as i32), Some(Signal::SIGTERM as i32)].contains(&ended), "{ended:?}");
    let mut refused = place.follow(&[&place.folder.path().join("other")], "1h");
    assert_eq!(refused.0.wait().unwrap().code(), Some(66));
    let told = std::io::read_to_string(refused.0.stderr.take().unwrap()).unwrap();
    assert!(told.contains("000000.plan") && told.contains("not a regular file"), "{told}");
}

#[test]
fn followers_that_are_two_or_killed_write_each_row_once() {
    let place = Place::new();
    let events = operations(3, 40);
    let one = place.begin(1, &events[..1]);
    let other = place.follow(&[&place.trace], "1ms");
    let mut killed = place.follow(&[&place.trace], "1ms");
    for upto in (2..events.len()).step_by(7) {
        place.grow(&one, &events[..upto]);
        // The kill meets another step of a round each time.
        thread::sleep(Duration::from_millis(upto as u64 % 23));
        killed.kill();
        killed = place.follow(&[&place.trace], "1ms");
    }
    place.grow(&one, &events);
    place.end(&one, 3 * HOUR);
    other.ends(0);
    killed.ends(0);
    assert_eq!(tags(&place.output), (1..=120).collect());
    assert_eq!(rows(&place.output, "events").len(), events.len() + 1);
    assert_eq!(rows(&place.output, "messages").len(), 3);
}

#[test]
fn nothing_to_follow_is_told_at_once() {
    let place = Place::new();
    let said = place.follow(&[&place.trace, &place.folder.path().join("missing")], "1h").ends(66);
    assert!(said.contains(place.trace.to_str().unwrap()), "{said}");
    let ended = dyntrace(arguments(&[&place.trace], &["--follow", "--final"], &place.output));
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
}
