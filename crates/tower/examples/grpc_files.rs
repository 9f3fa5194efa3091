//! Serves the files of a folder over gRPC, by tonic, each call with a tag of its own, and reads some of them as a client.
//!
//! ```console
//! $ dyntrace record -o trace -- target/release/examples/grpc_files docs hanging.md slow_service.md
//! call-1: hanging.md has 10961 bytes, in 1 chunk
//! call-2: slow_service.md has 9244 bytes, in 1 chunk
//! $ dyntrace view trace --tag call-2
//! ```
//!
//! `view` shows all operations of the call: OPEN of the handler, each READ of the streamed answer, and CLOSE. The client sends the tag as
//! the metadata `x-request-id`, which is a header of HTTP. So [`TagLayer`] is the same as for HTTP.
//!
//! In your own program tonic-build generates `messages` and `service` from a `.proto` file, which needs protoc. Here they are written
//! by hand, for the definition:
//!
//! ```proto
//! package files;
//! service Files { rpc Read(ReadRequest) returns (stream Chunk); }
//! message ReadRequest { string path = 1; }
//! message Chunk { bytes data = 1; }
//! ```

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, ensure};
use clap::Parser;
use dyntrace::fs;
use dyntrace_tower::TagLayer;
use http::uri::PathAndQuery;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Stream, StreamExt as _};
use tokio_util::io::ReaderStream;
use tonic::client::Grpc;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Status};
use tonic_prost::ProstCodec;

use messages::{Chunk, ReadRequest};
use service::FilesServer;

/// The most bytes of a chunk.
const CHUNK: usize = 16 << 10;
/// The method's path in HTTP.
const READ: &str = "/files.Files/Read";

/// Serves the files of a folder over gRPC, and reads some of them
#[derive(Parser)]
struct Options {
    folder: PathBuf,
    /// The files to read, by their paths in the folder
    files: Vec<String>,
}

mod messages {
    //! The messages of the definition.

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct ReadRequest {
        #[prost(string, tag = "1")]
        pub path: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub struct Chunk {
        #[prost(bytes = "vec", tag = "1")]
        pub data: Vec<u8>,
    }
}

mod service {
    //! The server's half of the service in the definition.

    use std::convert::Infallible;
    use std::path::Path;
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll};

    use http::{Request, Response};
    use tokio_stream::Stream;
    use tonic::body::Body;
    use tonic::server::{Grpc, NamedService, ServerStreamingService};
    use tonic::{Code, Status};
    use tonic_prost::ProstCodec;
    use tower_service::Service;

    use super::READ;
    use super::messages::{Chunk, ReadRequest};

    type Answer<T> = Pin<Box<dyn Future<Output = T> + Send>>;
    type Chunks = Pin<Box<dyn Stream<Item = Result<Chunk, Status>> + Send>>;

    /// Answers the calls of the service for the files of a folder.
    #[derive(Clone)]
    pub struct FilesServer(pub Arc<Path>);

    impl NamedService for FilesServer {
        const NAME: &'static str = "files.Files";
    }

    impl Service<Request<Body>> for FilesServer {
        type Response = Response<Body>;
        type Error = Infallible;
        type Future = Answer<Result<Response<Body>, Infallible>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request<Body>) -> Self::Future {
            let folder = Arc::clone(&self.0);
            Box::pin(async move {
                if request.uri().path() != READ {
                    return Ok(Status::new(Code::Unimplemented, "the service has Read only").into_http());
                }
                let codec = ProstCodec::<Chunk, ReadRequest>::default();
                Ok(Grpc::new(codec).server_streaming(Read(folder), request).await)
            })
        }
    }

    /// The method.
    struct Read(Arc<Path>);

    impl ServerStreamingService<ReadRequest> for Read {
        type Response = Chunk;
        type ResponseStream = Chunks;
        type Future = Answer<Result<tonic::Response<Chunks>, Status>>;

        fn call(&mut self, request: tonic::Request<ReadRequest>) -> Self::Future {
            let folder = Arc::clone(&self.0);
            Box::pin(async move {
                let chunks = super::read(&folder, &request.get_ref().path).await?;
                Ok(tonic::Response::new(Box::pin(chunks) as Chunks))
            })
        }
    }
}

/// Opens a file below `folder`. The stream reads it while the answer is sent, after this function has returned.
async fn read(folder: &Path, path: &str) -> Result<impl Stream<Item = Result<Chunk, Status>> + use<>, Status> {
    if !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(Status::invalid_argument("the path leaves the folder"));
    }
    let file = fs::File::open(folder.join(path)).await?;
    Ok(ReaderStream::with_capacity(file, CHUNK).map(|data| Ok(Chunk { data: data?.into() })))
}

/// Reads the file by a call with the tag `id`. Returns the number of bytes and of chunks.
async fn fetch(client: &mut Grpc<Channel>, path: &str, id: &str) -> anyhow::Result<(usize, usize)> {
    let mut request = Request::new(ReadRequest { path: path.to_owned() });
    request.metadata_mut().insert("x-request-id", id.parse()?);
    client.ready().await?;
    let codec = ProstCodec::<ReadRequest, Chunk>::default();
    let answer = client.server_streaming(request, PathAndQuery::from_static(READ), codec).await?;
    let mut chunks = answer.into_inner();
    let (mut bytes, mut count) = (0, 0);
    while let Some(chunk) = chunks.message().await? {
        bytes += chunk.data.len();
        count += 1;
    }
    Ok((bytes, count))
}

/// Reads the files by one connection to the server, and prints how many bytes each has.
async fn read_all(server: SocketAddr, files: &[String]) -> anyhow::Result<()> {
    let channel = Endpoint::from_shared(format!("http://{server}"))?.connect().await?;
    let mut client = Grpc::new(channel);
    for (number, path) in files.iter().enumerate() {
        let id = format!("call-{}", number + 1);
        match fetch(&mut client, path, &id).await {
            Ok((bytes, 1)) => println!("{id}: {path} has {bytes} bytes, in 1 chunk"),
            Ok((bytes, chunks)) => println!("{id}: {path} has {bytes} bytes, in {chunks} chunks"),
            Err(error) => println!("{id}: cannot read {path}: {error}"),
        }
    }
    Ok(())
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Options { folder, files } = Options::parse();
    ensure!(folder.is_dir(), "cannot serve {folder:?}: it is not a folder");
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("cannot listen on the loopback address")?;
    let address = listener.local_addr()?;

    let (stop, stopped) = oneshot::channel::<()>();
    let server = Server::builder()
        .layer(TagLayer::new().header("x-request-id"))
        .add_service(FilesServer(folder.into()))
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), async {
            let _ = stopped.await;
        });
    let server = tokio::spawn(server);
    let read = read_all(address, &files).await;
    // Without it, the server would run on.
    drop(stop);
    server.await?.context("cannot serve")?;
    read
}
