//! A view and figures made by hand, for tests.

use std::path::Path;

use super::listing::{Listing, Row, Seconds};
use super::tab::Tab;
use super::view::{Picture, View};

fn row(keys: &[&str], recent: &[u64]) -> Row {
    let recent: Vec<_> = recent.iter().map(|number| (*number < u64::MAX).then_some(*number)).collect();
    let all = recent.iter().map(|number| number.map(|number| number * 3)).collect();
    Row { keys: keys.iter().map(|key| (*key).to_owned()).collect(), all, recent }
}

/// No number.
const NONE: u64 = u64::MAX;

pub fn picture() -> Picture {
    let listing = |tab, rows| Listing { tab, rows, others: None, left_out: 0 };
    let mut operations = listing(
        Tab::Operations,
        vec![
            row(&["OPEN", "/srv/data/index"], &[120, 120, 5_200_000, 3, 0, 41_000, 90_000, 1_200_000]),
            row(&["READ", "/srv/data/index"], &[4_800, 4_800, 60_000_000, 0, 19_660_800, 11_000, 52_000, 810_000]),
            row(&["FDATASYNC", "/srv/log"], &[12, 12, 31_000_000, 1, 0, 2_100_000, 9_800_000, 9_900_000]),
        ],
    );
    operations.others = Some(row(&["", ""], &[7, 7, 8_000, 0, 0, 1_000, 2_000, 3_000]));
    operations.left_out = 31;
    let tasks = listing(
        Tab::Tasks,
        vec![
            row(&["server::serve"], &[9, 0, 4, 1, 0, 5_200, 410_000_000, 120_000, 950_000]),
            row(&["server::flush"], &[1, 1, 0, 0, 0, 0, 0, NONE, NONE]),
        ],
    );
    let waits = listing(
        Tab::Waits,
        vec![row(&["Mutex::lock", "src/cache.rs:40"], &[17, 300, 300, 8_000_000_000, 210_000_000, 230_000_000])],
    );
    let messages = listing(Tab::Messages, vec![row(&["4711", "<0.7.0>"], &[12, 60, 60, 48, 48, 14])]);
    let pools = listing(
        Tab::Pools,
        vec![
            row(&["I/O", "fast"], &[0, 1, 4, 4_920, 4_920, 2, 9_000, 40_000, 700_000]),
            row(&["I/O", "slow"], &[3, 2, 2, 12, 12, 5, 2_000_000, 9_000_000, 9_800_000]),
        ],
    );
    Picture {
        listings: vec![operations, listing(Tab::Tags, Vec::new()), tasks, waits, messages, pools],
        seconds: Seconds { all: 30.0, recent: 10.0 },
        start: Some(0),
        now: 30_000_000_000,
        events: 81_234,
        lost_events: 0,
        overwritten_packets: 0,
        damaged_places: 0,
        not_followed: 0,
    }
}

pub fn view() -> View {
    View::new("process 4711".to_owned(), false, String::new())
}

/// Compares with the file, or writes it if `UPDATE_GOLDEN` is set.
#[track_caller]
pub fn is_golden(name: &str, drawn: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/top/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, drawn).unwrap();
    }
    assert_eq!(drawn, std::fs::read_to_string(path).unwrap(), "{name}");
}
