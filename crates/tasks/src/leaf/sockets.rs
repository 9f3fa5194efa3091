//! Descriptions of file descriptors, from `/proc`.

use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::callers::{self, Calling};
use super::connection;

/// Connections that are looked up one by one before the kernel's tables are read.
const SINGLE: u32 = 64;

/// The file descriptors of a process, and the threads in calls on them. The kernel's tables of sockets are read once, when a socket is asked
/// for that is not looked up by itself, and so are the threads.
#[derive(Debug)]
pub struct Descriptors {
    pid: u32,
    /// `None` if the kernel refuses.
    process: OnceLock<Option<OwnedFd>>,
    single: AtomicU32,
    sockets: OnceLock<HashMap<String, (String, u64)>>,
    calling: OnceLock<Vec<Calling>>,
}

impl Descriptors {
    /// Describes the descriptors of a process.
    #[must_use]
    pub fn of(pid: u32) -> Descriptors {
        Descriptors {
            pid,
            process: OnceLock::new(),
            single: AtomicU32::new(0),
            sockets: OnceLock::new(),
            calling: OnceLock::new(),
        }
    }

    /// Returns both addresses of a socket, the path of a Unix socket, the process of a pidfd, or the path of a file. `None` if `/proc` has none.
    #[must_use]
    pub fn describe(&self, descriptor: i32) -> Option<String> {
        self.look_up(descriptor).map(|(text, _)| text)
    }

    /// Returns the description, and the bytes or connections that wait in an internet socket.
    pub(super) fn look_up(&self, descriptor: i32) -> Option<(String, u64)> {
        let link = fs::read_link(format!("/proc/{}/fd/{descriptor}", self.pid)).ok()?;
        let link = link.to_string_lossy().into_owned();
        if link == "anon_inode:[pidfd]" {
            return Some((self.process(descriptor).unwrap_or(link), 0));
        }
        let Some(inode) = link.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')) else {
            return Some((link, 0));
        };
        if self.sockets.get().is_none()
            && self.single.fetch_add(1, Relaxed) < SINGLE
            && let Some(process) = self.process.get_or_init(|| connection::process(self.pid))
            && let Some(found) = connection::look_up(process, descriptor)
        {
            return Some(found);
        }
        // a socket that is younger than the tables keeps its number
        self.sockets.get_or_init(|| self.sockets()).get(inode).cloned().or(Some((link, 0)))
    }

    /// Returns the threads that are in system calls.
    pub(super) fn calling(&self) -> &[Calling] {
        self.calling.get_or_init(|| callers::of(self.pid))
    }

    /// Names the process of a pidfd.
    fn process(&self, descriptor: i32) -> Option<String> {
        let information = fs::read_to_string(format!("/proc/{}/fdinfo/{descriptor}", self.pid)).ok()?;
        let pid: i32 = information.lines().find_map(|line| line.strip_prefix("Pid:"))?.trim().parse().ok()?;
        // -1 once its parent has asked how it ended
        (pid > 0).then(|| format!("end of process {pid}"))
    }

    fn sockets(&self) -> HashMap<String, (String, u64)> {
        // the process may be in another network namespace: its own tables are right
        let table = |name: &str| fs::read_to_string(format!("/proc/{}/net/{name}", self.pid)).unwrap_or_default();
        let mut all = HashMap::new();
        for name in ["tcp", "tcp6", "udp", "udp6"] {
            let protocol = name.trim_end_matches('6');
            // only connections are listened for
            let text = |text: String| if protocol == "udp" { text.replace("listening on", "bound to") } else { text };
            let named = |(inode, of, unread)| (inode, (format!("{protocol} {}", text(of)), unread));
            all.extend(rows(&table(name)).filter_map(|row| internet(&row)).map(named));
        }
        all.extend(rows(&table("unix")).filter_map(|row| unix(&row)).map(|(inode, text)| (inode, (text, 0))));
        // sockets that nobody holds any more have the number 0
        all.remove("0");
        all
    }
}

/// The fields of a table's rows, without its head.
fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    // Of connections that were closed, in state 06, there may be tens of thousands, and nobody has a descriptor of them.
    let is_closed = |line: &&str| line.split_ascii_whitespace().nth(3) == Some("06");
    table.lines().skip(1).filter(move |line| !is_closed(line)).map(|line| line.split_ascii_whitespace().collect())
}

/// Reads a row of `/proc/PID/net/tcp`: `sl local remote state queues timer retransmits uid timeout inode`.
fn internet(row: &[&str]) -> Option<(String, String, u64)> {
    let inode = row.get(9)?;
    let unread = row[4].split_once(':').and_then(|(_, received)| u64::from_str_radix(received, 16).ok());
    let (local, remote) = (address(row[1])?, address(row[2])?);
    let text = if remote.port() == 0 { format!("listening on {local}") } else { format!("{local} to {remote}") };
    Some(((*inode).to_owned(), text, unread.unwrap_or(0)))
}

/// Reads a row of `/proc/PID/net/unix`: `num refs protocol flags type state inode [path]`.
fn unix(row: &[&str]) -> Option<(String, String)> {
    let inode = row.get(6)?;
    let path = row.get(7).map_or_else(|| "unix socket without a path".to_owned(), |path| format!("unix {path}"));
    Some(((*inode).to_owned(), path))
}

/// Reads `0100007F:1F90`: the address as 32-bit words of the machine's byte order, the port as a number.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let words = address.as_bytes().chunks(8).map(|word| {
        let word = std::str::from_utf8(word).ok()?;
        u32::from_str_radix(word, 16).ok().map(u32::to_ne_bytes)
    });
    let bytes: Vec<u8> = words.collect::<Option<Vec<_>>>()?.concat();
    let ip: IpAddr = match bytes.len() {
        4 => Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?).into(),
        16 => Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::{AsRawFd as _, RawFd};
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
        0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0 100 0 0 10 0\n   \
        1: 0100007F:1F90 0200007F:C000 01 00000000:0000001F 00:00000000 00000000     0        0 12 1 0 20 4 30 10 -1\n";

    #[test]
    fn rows_have_inodes_and_addresses() {
        let found: Vec<_> = rows(TCP).filter_map(|row| internet(&row)).collect();
        let text = |inode: &str, text: &str, unread| (inode.to_owned(), text.to_owned(), unread);
        let connection = text("12", "127.0.0.1:8080 to 127.0.0.2:49152", 31);
        assert_eq!(found, [text("11", "listening on 127.0.0.1:8080", 0), connection]);
        assert_eq!(rows("head\nshort line\n").filter_map(|row| internet(&row)).count(), 0);
    }

    #[test]
    fn a_connection_is_as_in_the_tables() {
        let listener = TcpListener::bind("[::]:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let (server, _) = listener.accept().unwrap();
        let process = connection::process(std::process::id()).unwrap();
        let by_itself = |socket: RawFd| connection::look_up(&process, socket);
        let of_tables = |socket: RawFd| {
            let inode = fs::metadata(format!("/proc/self/fd/{socket}")).unwrap().ino();
            Descriptors::of(std::process::id()).sockets().remove(&inode.to_string())
        };
        client.write_all(b"GET").unwrap();
        for socket in [client.as_raw_fd(), server.as_raw_fd()] {
            assert_eq!(by_itself(socket), of_tables(socket));
        }
        assert_eq!(by_itself(server.as_raw_fd()).unwrap().1, 3);
        drop(client);
        assert_eq!((&server).read(&mut [0; 3]).unwrap(), 3);
        // The kernel may take a moment to deliver the end.
        assert_eq!(server.peek(&mut [0]).unwrap(), 0);
        assert_eq!(by_itself(server.as_raw_fd()).unwrap().1, 1);
        assert_eq!(by_itself(listener.as_raw_fd()), None);
        assert_eq!(by_itself(fs::File::open("/dev/null").unwrap().as_raw_fd()), None);
    }

    #[test]
    fn addresses_of_both_lengths_are_read() {
        assert_eq!(address("00000000000000000000000001000000:0050").unwrap().to_string(), "[::1]:80");
        assert_eq!(address("0000000000000000FFFF00000100007F:0050").unwrap().to_string(), "127.0.0.1:80");
        assert_eq!(address("01"), None);
        assert_eq!(address("zz00007F:0050"), None);
    }

    #[test]
    fn unix_sockets_have_paths_or_none() {
        let table = "Num RefCount Protocol Flags Type St Inode Path\n0: 2 0 0 1 3 21 /run/a\n0: 3 0 0 1 3 22\n";
        let found: Vec<_> = rows(table).filter_map(|row| unix(&row)).collect();
        let text = |inode: &str, text: &str| (inode.to_owned(), text.to_owned());
        assert_eq!(found, [text("21", "unix /run/a"), text("22", "unix socket without a path")]);
    }
}
