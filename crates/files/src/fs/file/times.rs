//! `WRITE_INFO`: File::set_times.

use std::io;
use std::time::SystemTime;

use super::open_file::File;
use crate::efile::{Command, Request};

/// Times for [`File::set_times`]. Times that are not set stay as they are.
#[derive(Clone, Debug, Default)]
#[must_use = "pass the times to `File::set_times`"]
pub struct FileTimes(std::fs::FileTimes);

impl FileTimes {
    /// Returns times with none set.
    pub fn new() -> FileTimes {
        FileTimes::default()
    }

    /// Sets the time of the last access.
    pub fn set_accessed(self, time: SystemTime) -> FileTimes {
        FileTimes(self.0.set_accessed(time))
    }

    /// Sets the time of the last change of the data.
    pub fn set_modified(self, time: SystemTime) -> FileTimes {
        FileTimes(self.0.set_modified(time))
    }

    /// Sets the creation time.
    #[cfg(target_vendor = "apple")]
    pub fn set_created(self, time: SystemTime) -> FileTimes {
        use std::os::darwin::fs::FileTimesExt;
        FileTimes(self.0.set_created(time))
    }
}

impl File {
    /// Sets the file's times, after the operation in flight has ended: a write would change them.
    pub async fn set_times(&self, times: FileTimes) -> io::Result<()> {
        drop(self.idle().await);
        let request = Request::new(Command::WriteInfo).i1(-1).i2(-1).i3(-1).i4(self.descriptor.fd().into());
        self.run(request, move |file| file.set_times(times.0)).await
    }

    /// Sets the time of the last change of the data, as [`set_times`](File::set_times) does.
    pub async fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.set_times(FileTimes::new().set_modified(time)).await
    }
}
