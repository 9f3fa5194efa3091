//! The exit statuses, which are those of the command `dyntrace`.

use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
pub use dyntrace_terminal::exit::{DAMAGED, Failure, LOSSY, NO_TRACE, USAGE};

/// Returns the failure for an error of the engine.
pub fn of_engine(error: DataFusionError) -> Failure {
    let way = match error.find_root() {
        DataFusionError::ResourcesExhausted(_) => {
            "; allow more by --memory, or ask about fewer hosts, dates or columns"
        }
        _ => "",
    };
    Failure::new(status(&error), anyhow::anyhow!("{}{way}", error.strip_backtrace()))
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
