//! Removes the uprobes that DTrace leaves in the kernel's list if it is killed.

use std::fs::{self, OpenOptions};
use std::io::Write as _;

use dyntrace_terminal::say;

const LISTS: [&str; 2] = ["/sys/kernel/tracing/uprobe_events", "/sys/kernel/debug/tracing/uprobe_events"];

/// Removes the uprobes that the DTrace with process id `pid` made.
pub fn remove(pid: u32) {
    for list in LISTS {
        let Ok(events) = fs::read_to_string(list) else { continue };
        for event in events_of(pid, &events) {
            // The kernel takes one line per write.
            let line = format!("-:{event}\n");
            let removed =
                OpenOptions::new().append(true).open(list).and_then(|mut file| file.write_all(line.as_bytes()));
            if let Err(error) = removed {
                say!("dyntrace: cannot remove the uprobe {event} from {list}: {error}");
            }
        }
        return;
    }
}

/// The `group/name` of each event in `list` whose group is named for the process.
fn events_of(pid: u32, list: &str) -> Vec<&str> {
    let prefix = format!("dt_{pid}_");
    list.lines()
        .filter_map(|line| line.split_whitespace().next()?.split_once(':'))
        .map(|(_kind, event)| event)
        .filter(|event| event.starts_with(&prefix))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_of_that_process() {
        let list = "p:dt_47_dtrace/BEGIN /usr/sbin/dtrace:0x1 \np:dt_470_dtrace/END /x:0x2\np:mine/dt_47_x /x:0x3\nr:dt_47_dtrace/END /x:0x4\n";
        assert_eq!(events_of(47, list), ["dt_47_dtrace/BEGIN", "dt_47_dtrace/END"]);
    }
}
