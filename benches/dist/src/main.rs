//! One end of a stream of small messages, `{n, N}` to a registered name; the other is benches/otp/dist_messages.erl.
//!
//! `dist-bench OVER sink NAME` counts received messages; `dist-bench OVER source NAME PEER COUNT` sends, and prints messages a second.
//! OVER is `tcp`, or a directory with `node.pem`, `node.key` and `authority.pem`: then it is TLS.

use std::path::Path;
use std::time::Instant;

use dyntrace::dist::{Error, Node, Options, Term, Tls, term};

const COOKIE: &str = "bench";

#[tokio::main(worker_threads = 2)]
async fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [over, "sink", name] => sink(node(over, name)?).await,
        [over, "source", name, peer, count] => source(node(over, name)?, peer, count.parse().expect("a number")).await,
        _ => panic!("OVER sink NAME, or OVER source NAME PEER COUNT"),
    }
}

fn node(over: &str, name: &str) -> Result<Node, Error> {
    if over == "tcp" {
        return Node::start(name, COOKIE);
    }
    let [certificate, key, authority] =
        ["node.pem", "node.key", "authority.pem"].map(|file| Path::new(over).join(file));
    let tls = Tls::from_pem(certificate, key, authority)?;
    Node::start_with(name, COOKIE, Options { tls: Some(tls), ..Options::default() })
}

async fn sink(node: Node) -> Result<(), Error> {
    let mut inbox = node.register("sink")?;
    // On a worker of the runtime, like a program's tasks.
    dyntrace::spawn(async move {
        loop {
            let request = inbox.recv_message().await;
            let Term::Tuple(request) = request.term else { continue };
            let [_, Term::Pid(source), Term::FixInteger(count)] = &request.elements[..] else { continue };
            for _ in 0..count.value {
                inbox.recv_message().await;
            }
            inbox.send(source, term!(done)).await?;
        }
    })
    .await
    .expect("the sink runs")
}

async fn source(node: Node, peer: &str, count: i32) -> Result<(), Error> {
    let peer = peer.to_owned();
    node.connect(&peer).await?;
    dyntrace::spawn(async move {
        let mut inbox = node.inbox();
        let started = Instant::now();
        inbox.send(("sink", &*peer), term!({count, (inbox.pid()), (count)})).await?;
        for n in 0..count {
            inbox.send(("sink", &*peer), term!({n, (n)})).await?;
        }
        inbox.recv_message().await;
        println!("{:.0}", f64::from(count) / started.elapsed().as_secs_f64());
        Ok(())
    })
    .await
    .expect("the source runs")
}
