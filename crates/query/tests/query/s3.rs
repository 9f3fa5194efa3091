//! A server that speaks S3, in this process, with its files in a folder.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::thread;

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::TcpListener;

/// The secret is made up.
const KEYS: [&str; 2] = ["tests", "not-a-secret"];

/// A server with the bucket `traces`. It ends with the process.
pub struct Server {
    buckets: TempDir,
    address: SocketAddr,
}

impl Server {
    pub fn start() -> Server {
        let buckets = tempfile::tempdir().unwrap();
        std::fs::create_dir(buckets.path().join("traces")).unwrap();
        let mut service = S3ServiceBuilder::new(FileSystem::new(buckets.path()).unwrap());
        service.set_auth(SimpleAuth::from_single(KEYS[0], KEYS[1]));
        let service = service.build();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            runtime.block_on(async {
                loop {
                    let (socket, _) = listener.accept().await.unwrap();
                    let service = service.clone();
                    tokio::spawn(async move {
                        // A client that is killed is no error.
                        let _ =
                            Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), service).await;
                    });
                }
            });
        });
        Server { buckets, address }
    }

    /// The folder of the bucket.
    pub fn bucket(&self) -> std::path::PathBuf {
        self.buckets.path().join("traces")
    }

    /// Returns a program that knows the server.
    pub fn program(&self, path: &str) -> Command {
        let mut program = clean(path);
        program.env("AWS_ACCESS_KEY_ID", KEYS[0]).env("AWS_SECRET_ACCESS_KEY", KEYS[1]);
        program.env("AWS_ENDPOINT_URL", format!("http://{}", self.address)).env("AWS_ALLOW_HTTP", "true");
        program
    }
}

/// Returns a program without variables for S3.
pub fn clean(path: &str) -> Command {
    let mut program = Command::new(Path::new(path));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AWS_")) {
        program.env_remove(name);
    }
    program
}
