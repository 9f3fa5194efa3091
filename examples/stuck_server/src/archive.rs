//! The archive. The fault: nothing limits the time that its disk may take.

use std::sync::Arc;

use axum::http::StatusCode;
use dyntrace::fs::File;
use tokio::io::AsyncReadExt;

use crate::{Answer, Bank};

/// Reads a file of the archive.
pub async fn read(bank: Arc<Bank>, name: String) -> Answer {
    // A name with a slash would lead out of the folder.
    if name.starts_with('.') || name.contains('/') {
        return Err((StatusCode::NOT_FOUND, format!("{name:?} is no name of the archive\n")));
    }
    let failed = |error| (StatusCode::NOT_FOUND, format!("cannot read {name:?} of the archive: {error}\n"));
    let mut file = File::open(bank.archive.join(&name)).await.map_err(failed)?;
    let mut text = String::new();
    file.read_to_string(&mut text).await.map_err(failed)?;
    Ok(text)
}
