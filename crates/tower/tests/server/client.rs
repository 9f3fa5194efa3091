//! An HTTP client for answers that have a length.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

pub struct Client {
    stream: BufReader<TcpStream>,
}

/// The head of an answer.
pub struct Head {
    pub status: u16,
    headers: Vec<(String, String)>,
}

impl Head {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

impl Client {
    pub fn connect(server: SocketAddr) -> Client {
        Client { stream: BufReader::new(TcpStream::connect(server).unwrap()) }
    }

    /// Sends a request.
    pub fn send(&mut self, path: &str, headers: &[(&str, &[u8])]) {
        let mut request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n").into_bytes();
        for (name, value) in headers {
            request.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        request.extend(b"\r\n");
        self.stream.get_mut().write_all(&request).unwrap();
    }

    /// Sends a request, and reads the head of the answer.
    pub fn begin(&mut self, path: &str, headers: &[(&str, &[u8])]) -> Head {
        self.send(path, headers);
        let status = self.line();
        let status = status.split(' ').nth(1).expect("a status").parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            match line.split_once(": ") {
                Some((name, value)) => headers.push((name.to_owned(), value.to_owned())),
                None => return Head { status, headers },
            }
        }
    }

    /// Reads this many bytes of the body.
    pub fn read(&mut self, bytes: usize) -> Vec<u8> {
        let mut body = vec![0; bytes];
        self.stream.read_exact(&mut body).unwrap();
        body
    }

    /// Sends a request, and reads the whole answer. The connection is ready for the next one then.
    pub fn get(&mut self, path: &str, headers: &[(&str, &[u8])]) -> (Head, Vec<u8>) {
        let head = self.begin(path, headers);
        let length = head.header("content-length").expect("a length").parse().unwrap();
        (head, self.read(length))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}
