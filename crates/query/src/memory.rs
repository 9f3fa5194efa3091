//! The memory that the engine may take for what a query sorts, groups and joins.

use std::fs;

/// Returns the limit for a query that has none of its own: half of the memory that is free for programs. Only Linux tells that.
pub fn half_of_available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    Some(available(&text)? / 2)
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes << 10)
}

/// Reads `512M` or `2G`: bytes, with a suffix of binary units.
pub fn size(text: &str) -> Result<u64, String> {
    let units = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
    let (number, shift) =
        units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift))).unwrap_or((text, 0));
    let size = number.parse::<u64>().ok().filter(|size| *size > 0).and_then(|size| size.checked_mul(1 << shift));
    size.ok_or_else(|| "expected a number with a unit, like 512M or 2G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_available_memory_is_read() {
        assert_eq!(available("MemTotal: 9 kB\nMemAvailable:   2048 kB\n"), Some(2 << 20));
        assert_eq!(available("MemTotal: 9 kB\n"), None);
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(["7", "512M", "2G"].map(size), [Ok(7), Ok(512 << 20), Ok(2 << 30)]);
        for wrong in ["", "0", "M", "2 G", "-1", "2g", "99999999999T"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
