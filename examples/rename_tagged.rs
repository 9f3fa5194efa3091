//! One operation with a user tag: run it under `dyntrace run efile_drv -- target/release/examples/rename_tagged`.
//!
//! It renames `old-name` in the current directory to `new-name`. A missing `old-name` is expected.

use std::io::ErrorKind;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    dyntrace::put_tag("some-user-tag")?;
    match dyntrace::fs::rename("old-name", "new-name").await {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
