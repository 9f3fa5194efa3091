//! The shop under actix, whose workers have a runtime each.

use std::env;

use actix_web::{App, HttpResponse, HttpServer, web};
use anyhow::Context as _;
use diagnose_bench::{Shop, listen};

#[actix_web::main]
async fn main() -> anyhow::Result<()> {
    let shop = web::Data::new(Shop::open().await?);
    let listener = listen().await?.into_std()?;
    // As tokio's own runtimes read it.
    let threads = env::var("TOKIO_WORKER_THREADS").map_or(Ok(2), |threads| threads.parse())?;
    let app = move || App::new().app_data(shop.clone()).route("/{path}", web::get().to(answer));
    HttpServer::new(app).workers(threads).listen(listener)?.run().await.context("cannot serve")
}

async fn answer(shop: web::Data<Shop>, request: actix_web::HttpRequest) -> actix_web::Result<HttpResponse> {
    Ok(HttpResponse::Ok().body(shop.answer(request.path()).await?))
}
