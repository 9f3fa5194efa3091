//! The children that write and end without a flush, once with each library.

use std::path::{Path, PathBuf};

use tokio::io::AsyncWriteExt;
use tokio::runtime::{Builder, Runtime};

pub const SIZES: [u64; 3] = [100, 4096, 2_000_000];

/// How a child ends.
pub enum End {
    Return,
    Exit,
}

impl End {
    pub fn name(self) -> &'static str {
        match self {
            End::Return => "return",
            End::Exit => "exit",
        }
    }
}

fn runtime(kind: &str) -> Runtime {
    match kind {
        "current" => Builder::new_current_thread().enable_all().build().unwrap(),
        "multi" => Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap(),
        other => panic!("no runtime is called {other}"),
    }
}

macro_rules! library {
    ($module:ident, $fs:ident) => {
        mod $module {
            use $fs::fs::File;

            use super::*;

            async fn create(path: PathBuf, size: usize) {
                let mut file = File::create(path).await.unwrap();
                file.write_all(&vec![7; size]).await.unwrap();
            }

            async fn files(folder: &Path, size: usize, count: usize) {
                for index in 0..count {
                    create(folder.join(format!("{index:02}")), size).await;
                }
            }

            pub fn run(kind: &str, how: &str, size: usize, count: usize, folder: &Path) {
                let runtime = runtime(kind);
                match how {
                    "return" => runtime.block_on(files(folder, size, count)),
                    "exit" => runtime.block_on(async {
                        files(folder, size, count).await;
                        std::process::exit(0);
                    }),
                    "eight" => runtime.block_on(async {
                        let mut file = File::create(folder.join("eight")).await.unwrap();
                        for _ in 0..8 {
                            file.write_all(b"0123456789abcdef").await.unwrap();
                        }
                    }),
                    "drop-root" => {
                        runtime.block_on(files(folder, size, count));
                        drop(runtime);
                        check(folder, size, count);
                    }
                    "drop-task" => {
                        let path = folder.to_owned();
                        let task = runtime.spawn(async move { files(&path, size, count).await });
                        runtime.block_on(task).unwrap();
                        drop(runtime);
                        check(folder, size, count);
                    }
                    other => panic!("no child is called {other}"),
                }
            }
        }
    };
}

library!(on_tokio, tokio);
library!(on_dyntrace, dyntrace);

/// The runtime has ended, so its files are complete.
fn check(folder: &Path, size: usize, count: usize) {
    for index in 0..count {
        let length = folder.join(format!("{index:02}")).metadata().unwrap().len();
        assert_eq!(length, size as u64, "file {index} when the runtime was dropped");
    }
}

/// `library:runtime:how:size:count`
pub fn run(case: &str, folder: &Path) {
    let parts: Vec<&str> = case.split(':').collect();
    let [library, runtime, how, rest @ ..] = &parts[..] else { panic!("half a case: {case}") };
    let number = |index: usize| rest.get(index).map_or(0, |text| text.parse().unwrap());
    match *library {
        "tokio" => on_tokio::run(runtime, how, number(0), number(1), folder),
        _ => on_dyntrace::run(runtime, how, number(0), number(1), folder),
    }
}
