//! A pipeline of three processes: they read files, count their lines and words, and write the report. Each file is a request with its
//! own sequential trace token (labels from 42 on) and user tag; both go with it through all stages:
//!
//!     dyntrace run messages -- target/release/examples/pipeline [FILE ...]
//!     dyntrace run efile_by_tag -- target/release/examples/pipeline [FILE ...]
//!     dyntrace record -o trace -- target/release/examples/pipeline; dyntrace view --token 42 trace
//!
//! Without files it creates three. It prints the report.

use std::path::PathBuf;

use anyhow::Context;
use clap::Parser;
use dyntrace::mailbox::{Address, Mailbox, Options};
use dyntrace::seq_trace::{self, Flags};
use dyntrace::{fs, put_tag, spread_tag};
use tokio::io::AsyncWriteExt;

/// Counts lines and words of files, in three stages.
#[derive(Parser)]
struct Arguments {
    /// The files; without, three small files are created.
    files: Vec<PathBuf>,
}

/// The messages between stages.
struct Job {
    path: PathBuf,
}

struct Text {
    path: PathBuf,
    text: String,
}

struct Counted {
    path: PathBuf,
    lines: usize,
    words: usize,
}

async fn read(mut jobs: Mailbox<Job>, next: Address<Text>) -> anyhow::Result<()> {
    while let Some(Job { path }) = jobs.recv().await {
        let text = fs::read_to_string(&path).await.with_context(|| format!("reading {}", path.display()))?;
        next.send(Text { path, text }).await?;
    }
    Ok(())
}

async fn count(mut texts: Mailbox<Text>, next: Address<Counted>) -> anyhow::Result<()> {
    while let Some(Text { path, text }) = texts.recv().await {
        let (lines, words) = (text.lines().count(), text.split_whitespace().count());
        next.send(Counted { path, lines, words }).await?;
    }
    Ok(())
}

async fn report(mut counts: Mailbox<Counted>, path: PathBuf) -> anyhow::Result<()> {
    let mut report = fs::File::create(&path).await.with_context(|| format!("creating {}", path.display()))?;
    while let Some(Counted { path, lines, words }) = counts.recv().await {
        let line = format!("{lines} lines, {words} words: {}\n", path.display());
        report.write_all(line.as_bytes()).await.context("writing the report")?;
        // Awaited here, with the token and tag of this file.
        report.flush().await.context("writing the report")?;
    }
    Ok(())
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Arguments { mut files } = Arguments::parse();
    let folder = tempfile::tempdir().context("making a folder for the report")?;
    if files.is_empty() {
        for (name, text) in
            [("poem", "roses are red\nviolets are blue\n"), ("list", "milk\nbread\n"), ("note", "hello\n")]
        {
            let path = folder.path().join(name);
            std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
            files.push(path);
        }
    }
    let report_path = folder.path().join("report");

    let path = report_path.clone();
    let (reporter, reporting) = Options::new().bounded(16).spawn(async move |counts| report(counts, path).await);
    let (counter, counting) = Options::new().bounded(16).spawn(async move |texts| count(texts, reporter).await);
    let (reader, reading) = Options::new().bounded(16).spawn(async move |jobs| read(jobs, counter).await);

    spread_tag(true);
    for (label, path) in (42..).zip(files) {
        seq_trace::set_token(label, Flags::SEND | Flags::RECEIVE)?;
        put_tag(format!("file {}", path.display()))?;
        if reader.send(Job { path }).await.is_err() {
            // A stage has failed; awaiting it returns the error.
            break;
        }
    }
    // Each stage ends when it has no senders left.
    drop(reader);
    for stage in [reading, counting, reporting] {
        stage.await??;
    }
    print!("{}", fs::read_to_string(&report_path).await.context("reading the report")?);
    Ok(())
}
