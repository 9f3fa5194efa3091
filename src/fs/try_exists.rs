//! `FSTAT`: try_exists.

use std::io;
use std::path::Path;

use super::metadata;

/// Says whether `path` leads to something; see [`Path::try_exists`].
///
/// For probes it is an FSTAT: a path that leads to nothing shows there as a failure, here as `Ok(false)`.
pub async fn try_exists(path: impl AsRef<Path>) -> io::Result<bool> {
    match metadata(path).await {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
