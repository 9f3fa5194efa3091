//! A client that sends what it is told.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// Sends the bytes, and leaves the rest to the caller.
pub fn begin(address: &str, request: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    // The server may have refused the first bytes already.
    let _ = stream.write_all(request);
    stream
}

/// Sends the request and reads to the end of the connection, which may be a reset after an answer.
pub fn get(address: &str, request: &str) -> String {
    let mut stream = begin(address, request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

/// The status of an answer.
pub fn status(answer: &str) -> Option<u16> {
    answer.split(' ').nth(1)?.parse().ok()
}
