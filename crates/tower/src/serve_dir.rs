//! Files for tower-http's `ServeDir`, by `dyntrace::fs`.

use std::fs::Metadata;
use std::io::{self, SeekFrom};
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};

use dyntrace::fs;
use tokio::io::{AsyncRead, AsyncSeek, ReadBuf};
use tower_http::services::fs::{Backend, File};

type Answer<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send + 'a>>;

/// Reads the files of tower-http's [`ServeDir`](tower_http::services::ServeDir) by [`dyntrace::fs`], so that tracers see them.
///
/// ```
/// use axum::Router;
/// use dyntrace_tower::{FsBackend, TagLayer};
/// use tower_http::services::fs::ServeDir;
///
/// let files = ServeDir::with_backend("public", FsBackend);
/// let app: Router = Router::new().fallback_service(files).layer(TagLayer::new());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct FsBackend;

impl Backend for FsBackend {
    type File = BackendFile;
    type Metadata = Metadata;
    type OpenFuture = Answer<'static, BackendFile>;
    type MetadataFuture = Answer<'static, Metadata>;

    fn open(&self, path: PathBuf) -> Self::OpenFuture {
        Box::pin(async { Ok(BackendFile { file: fs::File::open(path).await? }) })
    }

    fn metadata(&self, path: PathBuf) -> Self::MetadataFuture {
        Box::pin(fs::metadata(path))
    }
}

/// A file of [`FsBackend`].
pub struct BackendFile {
    file: fs::File,
}

impl File for BackendFile {
    type Metadata = Metadata;
    type MetadataFuture<'a> = Answer<'a, Metadata>;

    fn metadata(&self) -> Self::MetadataFuture<'_> {
        Box::pin(self.file.metadata())
    }
}

impl AsyncRead for BackendFile {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.file).poll_read(context, into)
    }
}

impl AsyncSeek for BackendFile {
    fn start_seek(mut self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        Pin::new(&mut self.file).start_seek(to)
    }

    fn poll_complete(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Pin::new(&mut self.file).poll_complete(context)
    }
}
