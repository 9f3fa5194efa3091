//! What `/proc` says of a file descriptor.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Returns both addresses of a socket, the path of a Unix socket, or the path of a file. `None` if `/proc` has none.
pub(super) fn describe(pid: u32, descriptor: i32) -> Option<String> {
    let link = fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).ok()?;
    let link = link.to_string_lossy().into_owned();
    let Some(inode) = link.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']')) else { return Some(link) };
    // the process may be in another network namespace: its own tables are right
    let table = |name: &str| fs::read_to_string(format!("/proc/{pid}/net/{name}")).ok();
    for name in ["tcp", "tcp6", "udp", "udp6"] {
        if let Some(found) = table(name).and_then(|table| internet(&table, inode)) {
            return Some(format!("{} {found}", name.trim_end_matches('6')));
        }
    }
    table("unix").and_then(|table| unix(&table, inode)).or(Some(link))
}

/// Finds a socket in a table of `/proc/PID/net`: `sl local remote state queues timer retransmits uid timeout inode`.
fn internet(table: &str, inode: &str) -> Option<String> {
    let fields = table.lines().skip(1).map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    let row = fields.into_iter().find(|fields| fields.get(9) == Some(&inode))?;
    let (local, remote) = (address(row[1])?, address(row[2])?);
    Some(if remote.port() == 0 { format!("listening on {local}") } else { format!("{local} to {remote}") })
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

/// Finds a socket in `/proc/PID/net/unix`: `num refs protocol flags type state inode [path]`.
fn unix(table: &str, inode: &str) -> Option<String> {
    let fields = table.lines().skip(1).map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    let row = fields.into_iter().find(|fields| fields.get(6) == Some(&inode))?;
    Some(row.get(7).map_or_else(|| "unix socket without a path".to_owned(), |path| format!("unix {path}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
        0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0 100 0 0 10 0\n   \
        1: 0100007F:1F90 0200007F:C000 01 00000000:00000000 00:00000000 00000000     0        0 12 1 0 20 4 30 10 -1\n";

    #[test]
    fn sockets_are_found_by_inode() {
        assert_eq!(internet(TCP, "11").unwrap(), "listening on 127.0.0.1:8080");
        assert_eq!(internet(TCP, "12").unwrap(), "127.0.0.1:8080 to 127.0.0.2:49152");
        assert_eq!(internet(TCP, "13"), None);
        assert_eq!(internet("head\nshort line\n", "13"), None);
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
        assert_eq!(unix(table, "21").unwrap(), "unix /run/a");
        assert_eq!(unix(table, "22").unwrap(), "unix socket without a path");
    }
}
