//! `FSTAT`: try_exists.

use std::io;
use std::path::Path;

use super::metadata::metadata;

/// Returns whether `path` exists; see [`Path::try_exists`].
///
/// For probes it is an FSTAT. A path that does not exist is a failure there and `Ok(false)` here.
pub async fn try_exists(path: impl AsRef<Path>) -> io::Result<bool> {
    match metadata(path).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
