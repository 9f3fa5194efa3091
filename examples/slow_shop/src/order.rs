//! Orders. The fault: each waits until the disk has it.

use std::io;
use std::path::Path;

use tokio::fs::OpenOptions;
use tokio::io::AsyncWriteExt;

/// The bytes of an order.
const ORDER: &[u8] = &[b'o'; 16 << 20];

pub async fn placed(orders: &Path) -> io::Result<String> {
    let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(orders).await?;
    file.write_all(ORDER).await?;
    file.sync_all().await?;
    Ok("ordered\n".to_owned())
}
