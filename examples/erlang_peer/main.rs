//! An Erlang node asks a Rust process for the checksum of a file, with a sequential trace token. The Rust process reads the file by
//! `dyntrace::fs` and answers with the same token. So one token goes from Erlang over the network into the file operations here, and
//! back.
//!
//! ```text
//! $ epmd -daemon
//! $ cargo run --features dist --example erlang_peer -- --requests 3
//! $ erl -noinput -name erl@127.0.0.1 -setcookie shared -eval "$(cat examples/erlang_peer/ask.erl)" -extra /etc/hostname
//! ```
//!
//! While it runs, `dyntrace run messages -p PID` shows its messages, and `dyntrace run efile_drv -p PID` its reads.

use anyhow::Context;
use clap::Parser;
use dyntrace::dist::{Node, Term, term};
use dyntrace::seq_trace;

#[derive(Parser)]
#[command(about = "Answers an Erlang node's requests for files' checksums")]
struct Arguments {
    /// The node's name; its host or address decides whether it is a short or a long name.
    #[arg(long, default_value = "worker@127.0.0.1")]
    name: String,
    /// The cookie that both nodes share.
    #[arg(long, default_value = "shared")]
    cookie: String,
    /// End after this number of requests; without it, run until killed.
    #[arg(long)]
    requests: Option<u32>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let node = Node::start(&arguments.name, arguments.cookie).context("the node did not start")?;
    println!("{} waits for {{Pid, checksum, Path}} at the name \"files\"", node.name());
    // The process holds the token of a request while it serves the request.
    dyntrace::spawn(serve(node, arguments.requests)).await?
}

async fn serve(node: Node, requests: Option<u32>) -> anyhow::Result<()> {
    let mut inbox = node.register("files")?;
    let mut served = 0;
    while requests.is_none_or(|requests| served < requests) {
        let request = inbox.recv_message().await;
        let Some((asker, path)) = understood(&request.term) else {
            println!("not understood: {}", request.term);
            continue;
        };
        served += 1;
        if let Some(token) = &request.token {
            println!("{path}, for the request {:?} {:?}", token.label, token.serial);
            dyntrace::put_tag(format!("request {:?}", token.label))?;
        }
        let answer = match dyntrace::fs::read(&path).await {
            Ok(content) => term!({checksum, (path), (crc32(&content)), (content.len())}),
            Err(error) => term!({error, (path), (error.to_string())}),
        };
        inbox.send(asker, answer).await.context("the answer was not sent")?;
        dyntrace::take_tag();
        seq_trace::take_token();
    }
    node.flush().await;
    Ok(())
}

/// `{Pid, checksum, Path}`, the path as a string or a binary.
fn understood(request: &Term) -> Option<(dyntrace::dist::Pid, String)> {
    let Term::Tuple(request) = request else { return None };
    let [Term::Pid(asker), Term::Atom(what), path] = &request.elements[..] else { return None };
    let path = match path {
        Term::ByteList(path) => path.bytes.clone(),
        Term::Binary(path) => path.bytes.clone(),
        _ => return None,
    };
    (what.name == "checksum").then(|| Some((asker.clone(), String::from_utf8(path).ok()?)))?
}

/// The checksum of `erlang:crc32/1`.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    })
}
