//! The example program.

use std::io::ErrorKind;

use anyhow::{Context as _, Result};
use dyntrace::fs;

/// Serves two requests by file operations in the current directory. No file stays.
pub fn run() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().context("cannot start the runtime")?;
    runtime.block_on(async {
        missing_file().await?;
        greeting().await
    })
}

/// A request that fails.
async fn missing_file() -> Result<()> {
    dyntrace::put_tag("some-user-tag")?;
    match fs::rename("old-name", "new-name").await {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other.context("cannot rename old-name"),
    }
}

/// A request that writes, reads and removes a file, and fires an event.
async fn greeting() -> Result<()> {
    dyntrace::put_tag("req-2")?;
    fs::write("greeting", "hello, world").await.context("cannot write greeting")?;
    let file = fs::File::open("greeting").await.context("cannot open greeting")?;
    let (length, _text) = file.read_at(vec![0; 5], 7).await;
    let length = length.context("cannot read greeting")?;
    file.close().await.context("cannot close greeting")?;
    fs::remove_file("greeting").await.context("cannot remove greeting")?;
    dyntrace::p!(length as i64, "greeting", "done");
    Ok(())
}
