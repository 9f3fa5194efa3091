//! A fixed workload of file operations, one at a time: run under callgrind with the feature `probes` on and off, it shows
//! what probes cost that nobody looks at. One I/O thread (`DYNTRACE_IO_THREADS=1`) makes the count repeatable.

use dyntrace::fs;

const PASSES: usize = 2000;

fn main() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let dir = tempfile::tempdir()?;
    let (one, other) = (dir.path().join("one"), dir.path().join("other"));
    runtime.block_on(async {
        fs::write(&one, "some text").await?;
        for _ in 0..PASSES {
            fs::rename(&one, &other).await?;
            fs::rename(&other, &one).await?;
            fs::metadata(&one).await?;
            let file = fs::File::open(&one).await?;
            let (read, _) = file.read_at(vec![0; 64], 0).await;
            read?;
            file.close().await?;
            dyntrace::p!(1, 2, "pass");
        }
        Ok(())
    })
}
