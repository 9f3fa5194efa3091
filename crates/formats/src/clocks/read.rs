//! Reads the messages between the hosts of a data set, and joins them with what NTP knows.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use dyntrace_fleet::clocks::Message;
use dyntrace_fleet::{Cell, ColumnKind, hostname, read_rows};
use dyntrace_terminal::escape;

use super::join::{Join, Joined, Step};
use super::ntp::{Estimate, Estimates};

/// The table that is read, and its columns.
const TABLE: &str = "messages";
const COLUMNS: [(&str, ColumnKind); 6] = [
    ("time_ns", ColumnKind::Signed),
    ("hostname", ColumnKind::Text),
    ("step", ColumnKind::Text),
    ("token_label", ColumnKind::Signed),
    ("token_previous", ColumnKind::Signed),
    ("token_current", ColumnKind::Signed),
];

/// The name of the clock that NTP's servers show.
const UTC: &str = "UTC (NTP)";

/// The messages of a data set, and what else bounds its clocks.
pub struct ClockInputs {
    /// The names of all hosts of the table, in their order, and of UTC if there are estimates of NTP. Messages have their numbers.
    pub hosts: Vec<String>,
    pub messages: Vec<Message>,
    pub ntp: Option<Ntp>,
    /// See [`Joined`].
    pub ambiguous: u64,
    pub unreceived: u64,
    /// The access rights that all files of the table have.
    pub mode: u32,
    counts: Vec<u64>,
}

/// Estimates of NTP.
pub struct Ntp {
    /// The number of UTC among the hosts.
    pub utc: usize,
    /// Two for each estimate: as if UTC and the host had sent messages to each other that took as long as the clock may be wrong.
    pub bounds: Vec<Message>,
    /// Lines without an estimate.
    pub skipped: u64,
    /// Estimates of hosts that the data set does not have.
    pub unknown: u64,
}

impl Ntp {
    /// How many estimates there are.
    pub fn estimates(&self) -> usize {
        self.bounds.len() / 2
    }
}

impl ClockInputs {
    /// Takes these estimates of NTP. Fails if a host has the name of UTC, as both would have rows under it.
    pub fn bound(&mut self, estimates: Estimates) -> anyhow::Result<()> {
        if self.hosts.iter().any(|host| host == UTC) {
            return Err(anyhow!(
                "cannot take estimates of NTP: a host of the data set has the name {UTC}, which stands for UTC"
            ));
        }
        let numbers: HashMap<&str, usize> = self.hosts.iter().enumerate().map(|(at, name)| (&**name, at)).collect();
        let (utc, mut bounds, mut unknown) = (self.hosts.len(), Vec::new(), 0);
        for Estimate { host, time, error } in &estimates.all {
            let Some(&host) = numbers.get(&**host) else {
                unknown += 1;
                continue;
            };
            let (sent, received) = (*time, time + error);
            bounds.extend([(utc, host), (host, utc)].map(|(from, to)| Message { from, sent, to, received }));
        }
        self.ntp = Some(Ntp { utc, bounds, skipped: estimates.skipped, unknown });
        self.hosts.push(UTC.to_owned());
        self.counts.push(0);
        Ok(())
    }

    /// The messages and the bounds of NTP.
    pub fn links(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().chain(self.ntp.iter().flat_map(|ntp| &ntp.bounds))
    }

    /// The host whose estimate of NTP this link is; `None` if it is a message.
    pub fn estimated(&self, link: &Message) -> Option<usize> {
        let utc = self.ntp.as_ref()?.utc;
        match (link.from == utc, link.to == utc) {
            (true, _) => Some(link.to),
            (_, true) => Some(link.from),
            _ => None,
        }
    }

    /// Whether a message or an estimate of NTP bounds the clock of this host.
    pub fn is_linked(&self, host: usize) -> bool {
        let of_host = |bound: &Message| [bound.from, bound.to].contains(&host);
        self.count(host) > 0 || self.ntp.as_ref().is_some_and(|ntp| ntp.bounds.iter().any(of_host))
    }

    /// How many messages are from this host or to it.
    pub fn count(&self, host: usize) -> u64 {
        self.counts[host]
    }

    /// The number of a host that has messages or estimates.
    pub fn host(&self, name: &str) -> Option<usize> {
        let found = self.hosts.iter().position(|host| host == name);
        found.filter(|host| self.is_linked(*host))
    }

    /// The host with the most messages; of several the first by name; without messages UTC.
    pub fn busiest(&self) -> usize {
        match &self.ntp {
            Some(ntp) if self.messages.is_empty() => ntp.utc,
            _ => (0..self.hosts.len()).rev().max_by_key(|host| self.count(*host)).unwrap_or(0),
        }
    }
}

/// Reads the messages of the data set in this folder.
pub fn messages(folder: &Path) -> anyhow::Result<ClockInputs> {
    let table = folder.join(TABLE);
    if !table.is_dir() {
        return Err(anyhow!(
            "{} is no data set: it has no folder {TABLE}; dyntrace convert --to parquet --partition host,date,hour makes one",
            escape::path(folder)
        ));
    }
    let files = files(&table)?;
    let (mut names, mut join, mut mode) = (Names::default(), Join::default(), 0o666);
    for file in &files {
        // A host without steps has a file without rows.
        let parts = file.strip_prefix(&table).unwrap_or(file).iter();
        if let Some(host) = parts.filter_map(|part| hostname(part.to_str()?)).next() {
            names.number(host.as_bytes());
        }
        mode &= fs::metadata(file).with_context(|| format!("cannot read {}", escape::path(file)))?.mode();
        read_rows(file, &COLUMNS, |row| add(row, &mut names, &mut join)).with_context(|| {
            format!(
                "cannot read the messages of {}; if {} is damaged, remove it, the other files that begin with its uuid, and \
                 the folder _sources/UUID, and convert its trace again",
                escape::path(folder),
                escape::path(file.file_name().unwrap_or_default())
            )
        })?;
    }
    let Joined { messages, ambiguous, unreceived } = join.finish();
    let (hosts, messages) = names.sorted(messages);
    let mut counts = vec![0; hosts.len()];
    for message in &messages {
        counts[message.from] += 1;
        counts[message.to] += 1;
    }
    Ok(ClockInputs { hosts, messages, ntp: None, ambiguous, unreceived, mode: mode | 0o600, counts })
}

fn add(row: &[Option<Cell<'_>>], names: &mut Names, join: &mut Join) {
    let &[Some(Cell::Signed(time)), Some(Cell::Text(host)), Some(Cell::Text(step)), label, previous, current] = row
    else {
        return;
    };
    // Its name may have been too long for its folder's.
    let host = names.number(&host);
    let step = match &*step {
        b"send" => Step::Send,
        b"send_remote" => Step::SendRemote,
        b"receive" => Step::Receive,
        _ => return,
    };
    if let [Some(Cell::Signed(label)), Some(Cell::Signed(previous)), Some(Cell::Signed(current))] =
        [label, previous, current]
    {
        join.add(step, [label, previous, current], host, time);
    }
}

/// The names of hosts, and their numbers in the order in which they were found.
#[derive(Default)]
struct Names {
    numbers: HashMap<Vec<u8>, usize>,
}

impl Names {
    fn number(&mut self, name: &[u8]) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.numbers.len();
        self.numbers.insert(name.to_vec(), number);
        number
    }

    /// Gives the hosts numbers in the order of their names. Returns the messages in the order of hosts and times.
    fn sorted(self, mut messages: Vec<Message>) -> (Vec<String>, Vec<Message>) {
        let mut names: Vec<(Vec<u8>, usize)> = self.numbers.into_iter().collect();
        names.sort_unstable();
        let mut new = vec![0; names.len()];
        names.iter().enumerate().for_each(|(number, (_, old))| new[*old] = number);
        for message in &mut messages {
            (message.from, message.to) = (new[message.from], new[message.to]);
        }
        messages.sort_unstable_by_key(|message| (message.from, message.sent, message.to, message.received));
        let names = names.into_iter().map(|(name, _)| String::from_utf8_lossy(&name).into_owned());
        (names.collect(), messages)
    }
}

/// The files of a table, in the order of their paths. Names that begin with `.` or `_` do not count, as for engines.
fn files(table: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let (mut found, mut open, mut opened) = (Vec::new(), vec![table.to_owned()], HashSet::new());
    while let Some(folder) = open.pop() {
        let unreadable = || format!("cannot read the folder {}", escape::path(&folder));
        // Links may lead in a circle.
        if !opened.insert(folder.canonicalize().with_context(unreadable)?) {
            continue;
        }
        for entry in fs::read_dir(&folder).with_context(unreadable)? {
            let path = entry.with_context(unreadable)?.path();
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            match name.first() {
                Some(b'.' | b'_') | None => {}
                _ if path.is_dir() => open.push(path),
                _ if path.extension().is_some_and(|end| end == "parquet") => found.push(path),
                _ => {}
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}
