//! The losses of a trace: the tracer's own count, the difference between the lines that the probes printed and those that arrived, and
//! lines of which a part arrived.

use dyntrace_analysis::losses;

use crate::tracer::TracerKind;

use super::marks::Tally;

/// The losses of one trace.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// The tracer that printed the trace.
    pub kind: TracerKind,
    /// Events that the tracer says it lost.
    pub said: u64,
    /// Entries for which the tracer says that a map of the script has no room.
    pub unmapped: u64,
    /// The lines, if they arrived to the end.
    pub tally: Tally,
    /// Whether the script prints the count of its lines at the end.
    pub is_counted: bool,
}

impl Lost {
    /// Says on standard error what was lost. Returns whether anything was.
    pub fn say(&self) -> bool {
        let kind = self.kind;
        let by_tracer = if self.said == 0 { String::new() } else { format!(" ({kind} counted {})", self.said) };
        let lines = match self.tally.fired {
            None if self.is_counted => {
                Some(format!("the end of the trace is lost: {kind} printed no final count{by_tracer}"))
            }
            Some(fired) if fired > self.tally.printed => {
                Some(format!("{} of {fired} lines lost{by_tracer}", fired - self.tally.printed))
            }
            _ => (self.said > 0).then(|| format!("{kind} lost {} events", self.said)),
        };
        let cut = self.tally.cut;
        let cut = (cut > 0).then(|| format!("{cut} lines are cut"));
        let unmapped = self.unmapped;
        let entries =
            (unmapped > 0).then(|| format!("{kind} had no room for {unmapped} entries: what they count is missing"));
        let what: Vec<String> = lines.into_iter().chain(cut).chain(entries).collect();
        if !what.is_empty() {
            let what = what.join("; ");
            losses::warn(&format!("{what}; for such a load use dyntrace record -o TRACE, then dyntrace view TRACE"));
        }
        !what.is_empty()
    }
}

/// Whether the line is bpftrace's warning of a full map.
pub fn is_full_map(line: &str) -> bool {
    line.contains("WARNING: Map full; can't update element")
}

/// Whether the line is the last one of a warning of a full map.
pub fn ends_warning(line: &str) -> bool {
    line.starts_with("Additional Info - helper: map_update_elem")
}

/// How many events a tracer says it lost in one line of its standard error.
pub fn said_in(line: &str) -> u64 {
    let words: Vec<&str> =
        line.split(|c: char| c.is_whitespace() || ",.:".contains(c)).filter(|w| !w.is_empty()).collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let all = (0..words.len()).filter_map(|at| match (words[at].to_ascii_lowercase().as_str(), words.get(at + 1)) {
        // bpftrace: "Lost 20659 events"; shipped scripts for SystemTap, of full arrays: "lost 8 events: no room ...".
        ("lost", Some(_)) if words.get(at + 2).is_some_and(|word| word.starts_with("event")) => number(at + 1),
        // DTrace: "dtrace: 12 drops on CPU 0", "3 dynamic variable drops", "1 aggregation drop on CPU 1".
        ("drops" | "drop", _) if line.contains("dtrace") => (0..at).rev().find_map(number),
        // DTrace: "error on enabled probe ID 3 (...)", or "error in ...": this clause was given up for this event.
        ("error", Some(&("on" | "in"))) if line.starts_with("dtrace: error") => Some(1),
        // SystemTap: "There were 10 transport failures.", "Number of errors: 0, skipped probes: 5".
        ("transport", Some(next)) if next.starts_with("failure") => at.checked_sub(1).and_then(number),
        ("skipped", Some(&"probes")) => number(at + 2),
        _ => None,
    });
    all.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_in_the_output_of_tracers() {
        for (line, lost) in [
            ("Lost 20659 events", 20659),
            ("WARNING: Lost 1 event", 1),
            ("dtrace: 12 drops on CPU 0", 12),
            ("dtrace: 3 dynamic variable drops with non-empty dirty list", 3),
            ("dtrace: 1 aggregation drop on CPU 1", 1),
            ("dtrace: error on enabled probe ID 3 (ID 4: x:::y): invalid address (0x0) in action #1", 1),
            ("WARNING: lost 8 events: no room for more than 16384 operations at once", 8),
            ("WARNING: There were 10 transport failures.", 10),
            ("WARNING: Number of errors: 0, skipped probes: 5", 5),
            ("WARNING: Could not read functions from available_filter_functions", 0),
            ("ERROR: nothing lost 5", 0),
        ] {
            assert_eq!(said_in(line), lost, "{line}");
        }
        let full = "/a.bt:131:2-33: WARNING: Map full; can't update element. Try increasing max_map_keys config";
        assert!(is_full_map(full) && said_in(full) == 0);
    }
}
