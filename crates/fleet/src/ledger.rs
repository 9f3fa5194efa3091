//! The plans of a source, and which of its ranges are done.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::files;
use crate::plan::{LAYOUT, Plan};

/// The folder of all sources. Engines ignore names that begin with `_`.
const SOURCES: &str = "_sources";

/// A range of a source.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Range {
    /// Its plan.
    pub plan: Plan,
    /// Whether all its files are there.
    pub is_done: bool,
}

/// The plans of a source in a data set.
#[derive(Clone, Debug)]
pub struct Ledger {
    root: PathBuf,
    source: String,
    mode: u32,
}

/// The list of a range's files.
#[derive(Serialize, Deserialize)]
struct Done {
    layout: u32,
    /// Their paths in the data set.
    files: Vec<String>,
}

impl Ledger {
    /// Returns the plans of the source with this uuid in the data set in the folder `root`. New files get these access rights.
    pub fn of(root: &Path, uuid: [u8; 16], mode: u32) -> Ledger {
        let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        let source = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
        Ledger { root: root.to_owned(), source, mode }
    }

    /// Returns the name of the source: its uuid.
    pub fn source(&self) -> &str {
        &self.source
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn mode(&self) -> u32 {
        self.mode
    }

    /// Returns the ranges that were proposed so far, in their order.
    ///
    /// # Errors
    ///
    /// If a plan cannot be read, or a converter of another version has proposed a range that is not done.
    pub fn ranges(&self) -> Result<Vec<Range>, Error> {
        let mut ranges = Vec::new();
        for number in 0.. {
            let path = self.path(number, "plan");
            let text = match files::read(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == io::ErrorKind::NotFound => break,
                Err(error) => return Err(Error::io("read the plan", &path)(error)),
            };
            let is_done = self.path(number, "done").exists();
            let plan: Plan = serde_json::from_str(&text).map_err(|error| {
                let reason =
                    format!("this is no plan: {error}; to convert the source anew, remove its files and this folder");
                Error::Plan { path: path.clone(), reason }
            })?;
            if plan.layout != LAYOUT && !is_done {
                let reason = format!(
                    "a converter with layout {} has begun this range, this one has layout {LAYOUT}: run that version again",
                    plan.layout
                );
                return Err(Error::Plan { path, reason });
            }
            ranges.push(Range { plan, is_done });
        }
        Ok(ranges)
    }

    /// Proposes the range with this number, which is that of the proposed ranges. Returns false if another converter has proposed one
    /// first: then its plan holds.
    ///
    /// # Errors
    ///
    /// If the plan cannot be written.
    pub fn propose(&self, number: usize, plan: &Plan) -> Result<bool, Error> {
        files::create_folder(&self.folder(), self.mode)?;
        files::publish(&self.path(number, "plan"), &json(plan), self.mode)
    }

    /// Says that the range is done: `files` are all its files, as [`Tables::finish`](crate::Tables::finish) returns them.
    ///
    /// # Errors
    ///
    /// If the list cannot be written.
    pub fn settle(&self, number: usize, files: Vec<String>) -> Result<(), Error> {
        let mut folders: Vec<&Path> = files.iter().filter_map(|file| Path::new(file).parent()).collect();
        folders.dedup();
        for folder in folders {
            files::settle(&self.root.join(folder), &self.start(number))?;
        }
        // Each only when the whole file is there, as another converter may be about to rename its own.
        files::settle(&self.folder(), &format!("{number:06}.plan"))?;
        let done = Done { layout: LAYOUT, files };
        files::replace(&self.path(number, "done"), &json(&done), self.mode)?;
        files::settle(&self.folder(), &format!("{number:06}.done"))
    }

    /// The beginning of the names of the range's files.
    pub(crate) fn start(&self, number: usize) -> String {
        format!("{}-{number:06}-", self.source)
    }

    fn folder(&self) -> PathBuf {
        self.root.join(SOURCES).join(&self.source)
    }

    fn path(&self, number: usize, kind: &str) -> PathBuf {
        self.folder().join(format!("{number:06}.{kind}"))
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(value).expect("texts and numbers are JSON");
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(until: i64) -> Plan {
        let (hostname, program) = ("h".to_owned(), "shop".to_owned());
        let ends = [("ring-1".to_owned(), 100)].into();
        Plan {
            layout: LAYOUT,
            hostname,
            program,
            pid: 12,
            frequency: 1_000_000_000,
            offset_seconds: 0,
            offset_cycles: 0,
            is_last: false,
            until,
            ends,
            losses: Vec::new(),
        }
    }

    #[test]
    fn the_first_plan_of_a_range_holds() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::of(folder.path(), [0xab; 16], 0o600);
        assert_eq!(ledger.source(), "abababab-abab-abab-abab-abababababab");
        assert!(ledger.ranges().unwrap().is_empty());
        assert!(ledger.propose(0, &plan(1)).unwrap());
        assert!(!ledger.propose(0, &plan(2)).unwrap());
        ledger.settle(0, Vec::new()).unwrap();
        ledger.settle(0, Vec::new()).unwrap();
        assert!(ledger.propose(1, &plan(3)).unwrap());
        let ranges = ledger.ranges().unwrap();
        let known: Vec<_> = ranges.iter().map(|range| (range.plan.until, range.is_done)).collect();
        assert_eq!(known, [(1, true), (3, false)]);
        assert_eq!(ranges[0].plan, plan(1));
        assert!(Ledger::of(folder.path(), [1; 16], 0o600).ranges().unwrap().is_empty());
    }

    #[test]
    fn a_range_of_another_layout_is_finished_by_its_own_version() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Ledger::of(folder.path(), [1; 16], 0o600);
        ledger.propose(0, &Plan { layout: LAYOUT + 1, ..plan(1) }).unwrap();
        let error = ledger.ranges().unwrap_err().to_string();
        assert!(error.contains("run that version again"), "{error}");
        ledger.settle(0, Vec::new()).unwrap();
        assert!(ledger.ranges().unwrap()[0].is_done);
        std::fs::write(ledger.path(1, "plan"), "{").unwrap();
        let error = ledger.ranges().unwrap_err().to_string();
        assert!(error.contains("000001.plan: this is no plan"), "{error}");
    }
}
