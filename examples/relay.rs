//! A request goes through several hosts: each looks up a file for it and asks the next host, and the answer comes back the same way. The
//! sequential trace token and the user tag of the request go with it to all of them.
//!
//! ```text
//! $ epmd -daemon
//! $ export DYNTRACE=record:traces
//! $ cargo run --features dist --example relay -- --name db@127.0.0.1 &
//! $ cargo run --features dist --example relay -- --name app@127.0.0.1 --next db@127.0.0.1 &
//! $ cargo run --features dist --example relay -- --name web@127.0.0.1 --next app@127.0.0.1 --requests 3
//! $ dyntrace view --token 2 traces
//! ```
//!
//! The program with `--requests` makes them, so start it when the others have said that they wait. At its end it ends the others.

use std::time::Instant;

use anyhow::{Context, bail};
use clap::Parser;
use dyntrace::dist::{Inbox, Node, Pid, Term, term};
use dyntrace::seq_trace::{self, Flags};
use dyntrace::{fs, put_tag, spread_tag};

#[derive(Parser)]
#[command(about = "Passes requests on to the next host, and answers back")]
struct Arguments {
    /// The name of this node.
    #[arg(long)]
    name: String,
    /// The node that is asked next. The last one has none.
    #[arg(long)]
    next: Option<String>,
    /// The cookie that all nodes share.
    #[arg(long, default_value = "shared")]
    cookie: String,
    /// Make this number of requests, instead of waiting for some.
    #[arg(long, requires = "next")]
    requests: Option<i64>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Arguments { name, next, cookie, requests } = Arguments::parse();
    let node = Node::start(&name, cookie).context("the node did not start")?;
    // Tokens and tags are those of a process.
    dyntrace::spawn(async move {
        let mut relay = Relay { inbox: node.register("relay")?, next };
        match requests {
            Some(requests) => relay.make(requests).await?,
            None => {
                println!("{} waits", node.name());
                relay.serve().await?;
            }
        }
        relay.end().await?;
        node.flush().await;
        Ok(())
    })
    .await?
}

struct Relay {
    inbox: Inbox,
    next: Option<String>,
}

impl Relay {
    /// Makes requests, one after the other.
    async fn make(&mut self, requests: i64) -> anyhow::Result<()> {
        spread_tag(true);
        for number in 1..=requests {
            seq_trace::set_token(number, Flags::SEND | Flags::RECEIVE)?;
            put_tag(format!("request {number}"))?;
            let begun = Instant::now();
            let hosts = self.work().await?;
            println!("request {number}: {hosts} hosts, {:?}", begun.elapsed());
        }
        seq_trace::take_token();
        Ok(())
    }

    /// Serves requests until the host before says that it makes no more.
    async fn serve(&mut self) -> anyhow::Result<()> {
        // A request's token and tag come with its message, and go with the messages that are sent for it.
        while let Some(asker) = asker(&self.inbox.recv_message().await.term) {
            let hosts = self.work().await?;
            self.inbox.send(asker, term!({answer, (hosts)})).await.context("the answer was not sent")?;
        }
        Ok(())
    }

    /// Does this host's work for a request, and has the next host do its own. Returns the number of hosts that worked.
    async fn work(&mut self) -> anyhow::Result<i64> {
        fs::metadata(std::env::current_exe()?).await?;
        let Some(next) = self.next.as_deref() else { return Ok(1) };
        let request = term!({request, (self.inbox.pid())});
        self.inbox.send(("relay", next), request).await.with_context(|| format!("{next} was not asked"))?;
        let answer = self.inbox.recv_message().await.term;
        let Some(hosts) = hosts(&answer) else { bail!("{next} answered {answer}") };
        Ok(hosts + 1)
    }

    /// Tells the next host that no requests will come.
    async fn end(self) -> anyhow::Result<()> {
        if let Some(next) = self.next.as_deref() {
            self.inbox.send(("relay", next), term!(done)).await?;
        }
        Ok(())
    }
}

/// The sender of `{request, Sender}`.
fn asker(request: &Term) -> Option<Pid> {
    let Term::Tuple(request) = request else { return None };
    let [Term::Atom(kind), Term::Pid(asker)] = &request.elements[..] else { return None };
    (kind.name == "request").then(|| asker.clone())
}

/// The number in `{answer, Number}`.
fn hosts(answer: &Term) -> Option<i64> {
    let Term::Tuple(answer) = answer else { return None };
    let [Term::Atom(kind), Term::FixInteger(hosts)] = &answer.elements[..] else { return None };
    (kind.name == "answer").then_some(hosts.value.into())
}
