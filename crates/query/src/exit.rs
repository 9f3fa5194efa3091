//! The exit statuses, which are those of the command `dyntrace`.

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;

/// Wrong use: unknown options, wrong SQL. (clap's number.)
pub const USAGE: u8 = 2;
/// A page was written, and events of its data set were lost.
pub const LOSSY: u8 = 3;
/// A page was written, and recordings of its data set are damaged.
pub const DAMAGED: u8 = 4;
/// There is no such data set, or it cannot be read.
pub const NO_TRACE: u8 = 66;

/// An error, and the exit status for it.
#[derive(Debug)]
pub struct Failure {
    pub status: u8,
    pub error: anyhow::Error,
}

impl Failure {
    pub fn new(status: u8, error: impl Into<anyhow::Error>) -> Failure {
        Failure { status, error: error.into() }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure { status: 1, error }
    }
}

impl From<DataFusionError> for Failure {
    fn from(error: DataFusionError) -> Failure {
        let way = match error.find_root() {
            DataFusionError::ResourcesExhausted(_) => {
                "; allow more by --memory, or ask about fewer hosts, dates or columns"
            }
            _ => "",
        };
        Failure { status: status(&error), error: anyhow::anyhow!("{}{way}", error.strip_backtrace()) }
    }
}

/// Returns the status for an error of the engine: whether the files are to blame, or the query.
fn status(error: &DataFusionError) -> u8 {
    match error.find_root() {
        DataFusionError::ParquetError(_) | DataFusionError::ObjectStore(_) | DataFusionError::IoError(_) => NO_TRACE,
        DataFusionError::ArrowError(error, _) => match **error {
            ArrowError::ParquetError(_) | ArrowError::IoError(..) => NO_TRACE,
            _ => USAGE,
        },
        DataFusionError::SQL(..)
        | DataFusionError::Plan(_)
        | DataFusionError::SchemaError(..)
        | DataFusionError::NotImplemented(_)
        | DataFusionError::Execution(_) => USAGE,
        _ => 1,
    }
}
