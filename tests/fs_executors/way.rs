//! The paths through the driver.

use std::io::SeekFrom;

use dyntrace::fs::{self, File};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

/// More than the budget of a task (128).
const TIMES: u64 = 150;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// Awaited on the pool.
    Pool,
    /// Answered from the page cache, if the file system can.
    Inline,
    /// A sync, which shares its call with others.
    Group,
    /// Writes at the cursor, which return once accepted; each waits for the one before.
    Write,
    /// Reads at the cursor.
    Read,
}

impl Way {
    pub const ALL: [Way; 5] = [Way::Pool, Way::Inline, Way::Group, Way::Write, Way::Read];

    pub async fn go(self) {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "0123456789abcdef").unwrap();
        match self {
            Way::Pool => {
                for _ in 0..TIMES {
                    assert_eq!(fs::canonicalize(&path).await.unwrap(), std::fs::canonicalize(&path).unwrap());
                }
            }
            Way::Inline => {
                let file = File::open(&path).await.unwrap();
                file.set_inline(true);
                for _ in 0..TIMES {
                    let (count, buffer) = file.read_at(vec![0; 16], 0).await;
                    assert_eq!((count.unwrap(), &buffer[..]), (16, &b"0123456789abcdef"[..]));
                }
                file.close().await.unwrap();
            }
            Way::Group => {
                let file = File::open(&path).await.unwrap();
                for _ in 0..TIMES {
                    file.sync_data().await.unwrap();
                }
                file.close().await.unwrap();
            }
            Way::Write => {
                let mut file = File::create(&path).await.unwrap();
                for _ in 0..TIMES {
                    file.write_all(b"0123456789abcdef").await.unwrap();
                }
                file.flush().await.unwrap();
                assert_eq!(file.metadata().await.unwrap().len(), TIMES * 16);
                file.close().await.unwrap();
            }
            Way::Read => {
                let mut file = File::open(&path).await.unwrap();
                for turn in 0..TIMES {
                    let mut buffer = [0; 4];
                    file.read_exact(&mut buffer).await.unwrap();
                    if turn % 4 == 3 {
                        file.seek(SeekFrom::Start(0)).await.unwrap();
                    }
                }
                file.close().await.unwrap();
            }
        }
    }
}
