//! The shop under tonic: a method for each path, a message without fields in each direction.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use diagnose_bench::{Shop, listen};
use tonic::body::Body;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use tower_service::Service;

type Answer<T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let server = Shops(Arc::new(Shop::open().await?));
    let incoming = TcpIncoming::from(listen().await?);
    Ok(Server::builder().add_service(server).serve_with_incoming(incoming).await?)
}

/// The service, as tonic's code generator writes one.
#[derive(Clone)]
struct Shops(Arc<Shop>);

impl NamedService for Shops {
    const NAME: &'static str = "shop";
}

impl Service<http::Request<Body>> for Shops {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Answer<Self::Response, Infallible>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let path = request.uri().path().trim_start_matches("/shop").to_owned();
        let method = Method { shop: Arc::clone(&self.0), path };
        Box::pin(async move { Ok(Grpc::new(ProstCodec::<(), ()>::default()).unary(method, request).await) })
    }
}

struct Method {
    shop: Arc<Shop>,
    path: String,
}

impl UnaryService<()> for Method {
    type Response = ();
    type Future = Answer<Response<()>, Status>;

    fn call(&mut self, _request: Request<()>) -> Self::Future {
        let (shop, path) = (Arc::clone(&self.shop), self.path.clone());
        Box::pin(async move {
            let _answer = shop.answer(&path).await.map_err(|error| Status::internal(error.to_string()))?;
            Ok(Response::new(()))
        })
    }
}
