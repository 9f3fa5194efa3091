//! An operation in flight prevents tokio's paused clock from advancing, as with `tokio::fs`.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep, timeout};

const TIMES: usize = 300;

macro_rules! library {
    ($module:ident, $fs:ident) => {
        mod $module {
            use $fs::fs::{self, File};

            use super::*;

            /// Returns the number of operations that took longer than 5 s by the paused clock, which advances only in idle time.
            async fn timeouts(path: &Path) -> usize {
                const LIMIT: Duration = Duration::from_secs(5);
                let mut count = 0;
                for _ in 0..TIMES {
                    count += usize::from(timeout(LIMIT, fs::read(path)).await.is_err());
                    count += usize::from(timeout(LIMIT, read_and_sync(path)).await.is_err());
                }
                count
            }

            async fn read_and_sync(path: &Path) {
                let mut file = File::options().read(true).write(true).open(path).await.unwrap();
                let mut text = String::new();
                file.read_to_string(&mut text).await.unwrap();
                assert_eq!(text, "text");
                file.sync_data().await.unwrap();
            }

            #[tokio::test(start_paused = true)]
            async fn operations_do_not_time_out() {
                let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
                let path = folder.path().join("file");
                std::fs::write(&path, "text").unwrap();
                assert_eq!(timeouts(&path).await, 0);
                let in_a_task = async move { timeouts(&path).await };
                assert_eq!(tokio::spawn(in_a_task).await.unwrap(), 0);
            }

            /// An accepted write is in flight, awaited or not.
            #[tokio::test(start_paused = true)]
            async fn a_sleep_does_not_overtake_an_accepted_write() {
                let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
                let path = folder.path().join("file");
                for _ in 0..TIMES {
                    let mut file = File::create(&path).await.unwrap();
                    file.write_all(&[7; 100_000]).await.unwrap();
                    sleep(Duration::from_secs(1)).await;
                    assert_eq!(std::fs::metadata(&path).unwrap().len(), 100_000);
                }
            }

            /// The clock advances when no operation is in flight, and the runtime ends.
            #[tokio::test(start_paused = true)]
            async fn the_clock_is_let_go() {
                let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
                let path = folder.path().join("file");
                fs::write(&path, "text").await.unwrap();
                let before = Instant::now();
                sleep(Duration::from_secs(3600)).await;
                assert!(before.elapsed() >= Duration::from_secs(3600));
            }
        }
    };
}

library!(on_tokio, tokio);
library!(on_dyntrace, dyntrace);
