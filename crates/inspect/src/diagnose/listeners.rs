//! The listeners of a process and of its network.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};

use super::netlink;

/// The state of a listener in the kernel's tables.
const LISTENS: &str = "0A";

/// A process's listeners.
#[derive(Debug)]
pub struct Listeners {
    pid: u32,
    /// Whether listeners, by their inodes, are the process's own.
    are_own: HashMap<u64, bool>,
    /// Whether the process has the network of this one.
    is_of_own_network: bool,
}

/// A look at them.
#[derive(Debug, Default)]
pub struct Listening {
    /// The ports on which the programs of the process's network listen.
    pub ports: HashSet<u16>,
    /// Connections that the process has not accepted yet.
    pub unaccepted: usize,
}

/// A listener.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    pub port: u16,
    pub unaccepted: usize,
    pub inode: u64,
}

impl Listeners {
    pub fn of(pid: u32) -> Listeners {
        let network = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).ok();
        let own = network("self");
        let is_of_own_network = own.is_some() && own == network(&pid.to_string());
        Listeners { pid, are_own: HashMap::new(), is_of_own_network }
    }

    pub fn look(&mut self) -> Listening {
        let mut listening = Listening::default();
        let rows = if self.is_of_own_network { netlink::listeners() } else { None };
        for row in rows.unwrap_or_else(|| tables(self.pid)) {
            listening.ports.insert(row.port);
            if row.unaccepted > 0 && self.is_own(row.inode) {
                listening.unaccepted += row.unaccepted;
            }
        }
        listening
    }

    fn is_own(&mut self, inode: u64) -> bool {
        let pid = self.pid;
        *self.are_own.entry(inode).or_insert_with_key(|inode| {
            let socket = format!("socket:[{inode}]");
            let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
            descriptors.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|link| link.as_os_str() == &*socket)
        })
    }
}

/// The rows of the kernel's tables in `/proc`, which may be those of another network than this process's.
fn tables(pid: u32) -> Vec<Row> {
    let of_table = |table| {
        let file = File::open(format!("/proc/{pid}/net/{table}"));
        let lines = file.into_iter().flat_map(|file| BufReader::new(file).lines().skip(1).map_while(Result::ok));
        // The kernel tells of listeners first. It may have a hundred thousand connections behind them.
        lines.map_while(|line| row(&line)).collect::<Vec<_>>()
    };
    ["tcp", "tcp6"].into_iter().flat_map(of_table).collect()
}

/// Reads `sl local remote state queues timer retransmits uid timeout inode`; `None` for a connection.
fn row(line: &str) -> Option<Row> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [_, local, _, LISTENS, queues, .., _, _, _] = words[..] else { return None };
    let port = u16::from_str_radix(local.rsplit(':').next()?, 16).ok()?;
    let unaccepted = usize::from_str_radix(queues.split_once(':')?.1, 16).ok()?;
    Some(Row { port, unaccepted, inode: words.get(9)?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn rows_are_listeners() {
        let listener = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 11 1 0 100 0 0 10 0";
        assert_eq!(row(listener), Some(Row { port: 8080, unaccepted: 3, inode: 11 }));
        assert_eq!(row(&listener.replace(" 0A ", " 01 ")), None);
        assert_eq!(row("short line"), None);
    }

    #[test]
    fn connections_wait_to_be_accepted() {
        let mut listeners = Listeners::of(std::process::id());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let before = listeners.look();
        assert!(before.ports.contains(&address.port()));
        let _connections = [(); 2].map(|()| TcpStream::connect(address).unwrap());
        assert_eq!(listeners.look().unaccepted, before.unaccepted + 2);
        listeners.is_of_own_network = false;
        assert_eq!(listeners.look().unaccepted, before.unaccepted + 2, "by the tables");
    }
}
