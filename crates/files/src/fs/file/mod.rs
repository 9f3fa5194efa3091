//! Open files.

mod advise;
mod buffer;
mod convert;
mod cursor;
mod ipread;
pub(super) mod open_file;
mod option;
mod positional;
mod read_line;
mod streams;
mod times;
#[cfg(all(feature = "tokio-fs", not(loom)))]
mod tokio_file;
mod vectored;

pub use advise::Advice;
pub use open_file::File;
pub use option::FileOption;
pub use times::FileTimes;
