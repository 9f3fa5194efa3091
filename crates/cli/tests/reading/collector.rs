//! A collector that answers as it is told.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::thread::{self, JoinHandle};

pub struct Collector {
    pub address: String,
    thread: JoinHandle<Vec<Received>>,
}

/// A request.
pub struct Received {
    /// The lines before the body, in lower case.
    pub head: Vec<String>,
    pub body: Vec<u8>,
}

impl Collector {
    /// A collector that gives these answers to as many requests, then ends.
    pub fn new(answers: &[(&str, &str)]) -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let answers: Vec<String> = answers
            .iter()
            .map(|(head, body)| format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
            .collect();
        let serve = move |answer: String| {
            let (mut stream, _) = listener.accept().unwrap();
            let received = receive(&stream);
            stream.write_all(answer.as_bytes()).unwrap();
            received
        };
        Collector { address, thread: thread::spawn(move || answers.into_iter().map(serve).collect()) }
    }

    /// All requests, once the last answer is given.
    pub fn received(self) -> Vec<Received> {
        self.thread.join().unwrap()
    }
}

/// Reads a request.
pub fn receive(stream: &std::net::TcpStream) -> Received {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end() {
            "" => break,
            line => head.push(line.to_lowercase()),
        }
    }
    let length = head.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Received { head, body }
}
