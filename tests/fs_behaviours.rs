//! Edge cases of tokio's documented behaviour: each row runs with `tokio::fs` and with `dyntrace::fs`, and the outcomes are compared.
//! A row states expected differences, which `dyntrace::fs` documents.

use std::fmt::Debug;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};

fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

fn length(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

/// Waits until a condition holds, and returns true.
fn in_the_end(condition: impl Fn() -> bool) -> bool {
    for _ in 0..6000 {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

macro_rules! library {
    ($module:ident, $fs:ident) => {
        mod $module {
            use $fs::fs::{self, File, OpenOptions};

            use super::*;

            const SIZE: usize = 1_000_000;

            async fn accept(path: &Path) -> File {
                let mut file = File::create(path).await.unwrap();
                let mut done = 0;
                while done < SIZE {
                    done += file.write(&vec![7; SIZE - done]).await.unwrap();
                }
                file
            }

            pub fn runtime_drop(path: &Path) -> bool {
                for runtime in [current_thread(), multi_thread()] {
                    drop(runtime.block_on(accept(path)));
                    drop(runtime);
                    if length(path) != SIZE as u64 {
                        return false;
                    }
                }
                true
            }

            pub fn shutdown_timeout(path: &Path) -> bool {
                let runtime = multi_thread();
                let place = path.to_owned();
                let task = runtime.spawn(async move { drop(accept(&place).await) });
                runtime.block_on(task).unwrap();
                runtime.shutdown_timeout(Duration::from_secs(60));
                length(path) == SIZE as u64
            }

            /// The write is not awaited but completes while the process lives; in tokio only if it had started.
            pub fn shutdown_background(path: &Path) -> bool {
                let runtime = current_thread();
                let mut file = runtime.block_on(accept(path));
                runtime.block_on(file.flush()).unwrap();
                runtime.shutdown_background();
                length(path) == SIZE as u64
            }

            pub fn destructor_in_a_task(path: &Path) -> bool {
                struct Removes(std::path::PathBuf);
                impl Drop for Removes {
                    fn drop(&mut self) {
                        futures::executor::block_on(fs::remove_file(&self.0)).unwrap();
                    }
                }
                std::fs::write(path, "text").unwrap();
                let removes = Removes(path.to_owned());
                let runtime = current_thread();
                runtime.block_on(async { tokio::spawn(async move { drop(removes) }).await.unwrap() });
                !path.exists()
            }

            /// Measures the progress of another task while one awaits operations one after the other.
            pub fn budget(path: &Path) -> bool {
                std::fs::write(path, "text").unwrap();
                let turns = Arc::new(AtomicUsize::new(0));
                let (counts, path) = (Arc::clone(&turns), path.to_owned());
                current_thread().block_on(async move {
                    let other = tokio::spawn(async move {
                        loop {
                            counts.fetch_add(1, Ordering::Relaxed);
                            tokio::task::yield_now().await;
                        }
                    });
                    for _ in 0..1000 {
                        fs::metadata(&path).await.unwrap();
                    }
                    other.abort();
                });
                turns.load(Ordering::Relaxed) > 7
            }

            pub fn nothing_before_the_first_poll(path: &Path) -> bool {
                drop(fs::write(path, "text"));
                !path.exists()
            }

            /// Drops a future after its first poll: in the end its operation is done or not, never partly.
            pub fn cancelled_while_it_runs(path: &Path) -> bool {
                let runtime = current_thread();
                let guard = runtime.enter();
                {
                    let mut future = pin!(accept(path));
                    let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                }
                drop(guard);
                drop(runtime);
                !path.exists() || in_the_end(|| [0, SIZE as u64].contains(&length(path)))
            }

            pub fn try_clone_with_a_write_in_flight(path: &Path) -> u64 {
                current_thread().block_on(async {
                    let file = accept(path).await;
                    let mut clone = file.try_clone().await.unwrap();
                    clone.stream_position().await.unwrap()
                })
            }

            pub fn into_std_with_a_write_in_flight(path: &Path) -> u64 {
                current_thread().block_on(async { accept(path).await.into_std().await.metadata().unwrap().len() })
            }

            pub fn try_into_std_after_a_flush(path: &Path) -> bool {
                current_thread().block_on(async {
                    let mut file = accept(path).await;
                    file.flush().await.unwrap();
                    file.try_into_std().is_ok()
                })
            }

            pub fn read_after_a_write(path: &Path) -> String {
                current_thread().block_on(async {
                    let mut file =
                        OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path).await.unwrap();
                    file.write_all(b"0123456789").await.unwrap();
                    file.rewind().await.unwrap();
                    let mut text = String::new();
                    file.read_to_string(&mut text).await.unwrap();
                    text
                })
            }

            pub fn start_seek_with_a_write_in_flight(path: &Path) -> bool {
                current_thread().block_on(async {
                    let mut file = accept(path).await;
                    file.seek(std::io::SeekFrom::Start(3)).await.unwrap() == 3
                })
            }
        }
    };
}

library!(on_tokio, tokio);
library!(on_dyntrace, dyntrace);

/// Runs a row with both libraries, and compares.
fn row<T: PartialEq + Debug>(name: &str, expected: T, tokio: fn(&Path) -> T, dyntrace: fn(&Path) -> T) {
    for (library, try_it) in [("tokio", tokio), ("dyntrace", dyntrace)] {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        assert_eq!(try_it(&folder.path().join("file")), expected, "{name}, with {library}");
    }
}

macro_rules! rows {
    ($($name:ident => $expected:expr),* $(,)?) => {
        $(#[test]
        fn $name() {
            row(stringify!($name), $expected, on_tokio::$name, on_dyntrace::$name);
        })*
    };
}

rows! {
    runtime_drop => true,
    shutdown_timeout => true,
    shutdown_background => true,
    destructor_in_a_task => true,
    budget => true,
    nothing_before_the_first_poll => true,
    cancelled_while_it_runs => true,
    try_clone_with_a_write_in_flight => 1_000_000,
    into_std_with_a_write_in_flight => 1_000_000,
    try_into_std_after_a_flush => true,
    read_after_a_write => "0123456789".to_owned(),
    start_seek_with_a_write_in_flight => true,
}
