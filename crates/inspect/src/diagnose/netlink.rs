//! The listeners of this process's network, from the kernel by netlink. It walks none of its connections for this, as it does for the tables
//! in `/proc`.

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};

use super::listeners::Row;

/// Sizes of the kernel's structures: `nlmsghdr`, and `inet_diag_msg`.
const HEADER: usize = 16;
const MESSAGE: usize = 72;

/// Types of messages: a socket, and the end.
const SOCKET: u16 = 20;
const DONE: u16 = 3;

/// A request for all sockets that match it.
const REQUEST_ALL: u16 = 0x301;

const TCP: u8 = 6;
const LISTENS: u32 = 1 << 10;

/// `AF_INET` and `AF_INET6`.
const FAMILIES: [u8; 2] = [2, 10];

/// Bytes of an answer's part, which the kernel makes as long as the reader's buffer.
const PART: usize = 32 << 10;

/// Returns the listeners. `None` if the kernel does not tell.
pub fn listeners() -> Option<Vec<Row>> {
    let (domain, protocol) = (AddressFamily::NETLINK, Some(netlink::SOCK_DIAG));
    let socket = socket_with(domain, SocketType::RAW, SocketFlags::CLOEXEC, protocol).ok()?;
    let mut rows = Vec::new();
    let mut part = vec![0; PART];
    for family in FAMILIES {
        send(&socket, &request(family), SendFlags::empty()).ok()?;
        loop {
            let (length, _) = recv(&socket, &mut part[..], RecvFlags::DONTWAIT).ok()?;
            if add(&part[..length], &mut rows)? {
                break;
            }
        }
    }
    Some(rows)
}

fn request(family: u8) -> Vec<u8> {
    const LENGTH: usize = HEADER + 56;
    let mut request = Vec::with_capacity(LENGTH);
    request.extend((LENGTH as u32).to_ne_bytes());
    request.extend(SOCKET.to_ne_bytes());
    request.extend(REQUEST_ALL.to_ne_bytes());
    request.extend([0; 8]);
    request.extend([family, TCP, 0, 0]);
    request.extend(LISTENS.to_ne_bytes());
    request.resize(LENGTH, 0);
    request
}

/// Adds the rows of a part of an answer. Returns whether it is the last one; `None` if it is none that is known.
fn add(mut part: &[u8], rows: &mut Vec<Row>) -> Option<bool> {
    while let Some((length, _)) = part.split_first_chunk::<4>() {
        let length = u32::from_ne_bytes(*length) as usize;
        let message = part.get(HEADER..length)?;
        match u16::from_ne_bytes([part[4], part[5]]) {
            SOCKET => rows.push(row(message)?),
            DONE => return Some(true),
            _ => return None,
        }
        part = part.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(false)
}

fn row(message: &[u8]) -> Option<Row> {
    let message: &[u8; MESSAGE] = message.first_chunk()?;
    let word = |at: usize| message[at..].first_chunk().map(|word| u32::from_ne_bytes(*word));
    Some(Row {
        port: u16::from_be_bytes([message[4], message[5]]),
        unaccepted: usize::try_from(word(56)?).ok()?,
        inode: word(68)?.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_parsed_and_damaged_ones_refused() {
        let message = |kind: u16, body: &[u8]| {
            let length = (HEADER + body.len()) as u32;
            [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), &[0; 10], body].concat()
        };
        let mut body = [0; MESSAGE + 8];
        body[4..6].copy_from_slice(&8080_u16.to_be_bytes());
        body[56] = 3;
        body[68] = 11;
        let part = [message(SOCKET, &body), message(DONE, &[0; 4])].concat();
        let mut rows = Vec::new();
        assert_eq!(add(&part, &mut rows), Some(true));
        assert_eq!(rows, [Row { port: 8080, unaccepted: 3, inode: 11 }]);
        assert_eq!(add(&part[..part.len() - 20], &mut rows), Some(false));
        for damaged in [&part[..90], &message(2, &[0; 20]), &message(SOCKET, &[0; 8]), &[0; 16]] {
            assert_eq!(add(damaged, &mut Vec::new()), None, "{damaged:?}");
        }
    }
}
