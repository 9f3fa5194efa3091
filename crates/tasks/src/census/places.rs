//! The places that spawned tasks, as `tokio_unstable` records them: references to `core::panic::Location`.

use std::collections::HashMap;

use std::sync::Arc;

use crate::listing::SourceLine;
use crate::memory::{Memory, word_at};

/// Longest path that is read.
const LONGEST: u64 = 4096;

/// Places by the address of their `Location`. A program has few.
#[derive(Debug, Default)]
pub struct Places {
    read: HashMap<u64, Option<Arc<SourceLine>>>,
}

impl Places {
    /// Returns the place that `address` describes. `None` if it describes none.
    pub fn get(&mut self, memory: &dyn Memory, address: u64) -> Option<Arc<SourceLine>> {
        if address == 0 {
            return None;
        }
        self.read.entry(address).or_insert_with(|| read(memory, address).map(Arc::new)).clone()
    }
}

/// The file's name (pointer and length), then line and column.
pub fn read(memory: &dyn Memory, address: u64) -> Option<SourceLine> {
    let mut location = [0; 24];
    memory.read(address, &mut location).ok()?;
    let (name, length) = (word_at(&location, 0)?, word_at(&location, 8)?);
    let line = u32::from_le_bytes(location[16..20].try_into().ok()?);
    if length == 0 || length > LONGEST || line == 0 {
        return None;
    }
    let mut file = vec![0; usize::try_from(length).ok()?];
    memory.read(name, &mut file).ok()?;
    let file = String::from_utf8(file).ok()?;
    Some(SourceLine::new(&file, line))
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;
    use crate::memory::live::Process;

    #[test]
    fn reads_a_location_of_this_process() {
        let here = Location::caller();
        let address = std::ptr::from_ref(here).addr() as u64;
        let process = Process::open(std::process::id()).unwrap();
        let mut places = Places::default();
        let place = places.get(&process, address).unwrap();
        assert_eq!((&*place.file, place.line), (here.file(), here.line()));
        assert_eq!(places.get(&process, 0), None);
        assert_eq!(places.get(&process, 8), None);
    }
}
