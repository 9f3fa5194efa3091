//! Prints the bytes that the recorder writes for one request of a file server, as JSON: all probes of the request together, and each
//! probe alone. A request has a user tag of its own and is OPEN, FSTAT, three READs and CLOSE of a file of 96 KiB.

use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::pin::Pin;

use dyntrace::fs::File;
use dyntrace::recorder::{Glob, Options, Session};
use tokio::io::{AsyncRead, ReadBuf};

const REQUESTS: u64 = 1000;

/// The probes of a request.
const PROBES: [&str; 7] = [
    "dyntrace:*",
    "dyntrace:aio_pool-add",
    "dyntrace:aio_pool-get",
    "dyntrace:efile_drv-entry",
    "dyntrace:efile_drv-int_entry",
    "dyntrace:efile_drv-int_return",
    "dyntrace:efile_drv-return",
];

fn main() -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("served.html");
    std::fs::write(&path, [b'x'; 96 << 10])?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut fields = Vec::new();
    for probe in PROBES {
        let mut options = Options::new(folder.path().join("trace"));
        options.probes = vec![Glob::from(probe)];
        let session = Session::start(options).map_err(io::Error::other)?;
        for number in 0..REQUESTS {
            let tag = format!("request-{number:06}");
            runtime.block_on(dyntrace::with_tag(tag, request(&path)))?;
        }
        let status = session.status().ok_or_else(|| io::Error::other("the session has ended"))?;
        fields.push(format!("{probe:?}: {}", status.bytes / REQUESTS));
    }
    println!("{{{}}}", fields.join(", "));
    Ok(())
}

async fn request(path: &Path) -> io::Result<()> {
    let mut file = File::open(path).await?;
    file.metadata().await?;
    let mut piece = vec![0; 32 << 10];
    for _ in 0..3 {
        let mut piece = ReadBuf::new(&mut piece);
        poll_fn(|cx| Pin::new(&mut file).poll_read(cx, &mut piece)).await?;
    }
    Ok(())
}
