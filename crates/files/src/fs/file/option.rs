//! `SETOPT`: File::set_option.

use std::future::poll_fn;
use std::io;

use rustix::io::Errno;

use super::cursor::MAX_SIZE;
use super::open_file::File;
use crate::efile::{Command, Request};

/// An option of an open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileOption {
    /// The least bytes that a read at the cursor asks for, from 0 to 2 MiB. Bytes beyond the caller's buffer are kept for the next read.
    ReadAhead(usize),
}

impl FileOption {
    /// Returns the option's number, which is Erlang's.
    pub const fn number(self) -> i32 {
        match self {
            FileOption::ReadAhead(_) => 1,
        }
    }
}

impl File {
    /// Sets an option, after the operation in flight has ended. EINVAL for a value out of range.
    pub async fn set_option(&mut self, option: FileOption) -> io::Result<()> {
        let FileOption::ReadAhead(size) = option;
        let request = Request::new(Command::Setopt).i1(option.number().into()).i2(size as i64);
        let request = request.i3(self.descriptor.fd().into());
        poll_fn(|cx| self.cursor.get_mut().poll_idle(cx)).await;
        self.run(request, move |_| if size <= MAX_SIZE { Ok(()) } else { Err(Errno::INVAL.into()) }).await?;
        self.cursor.get_mut().read_ahead = size;
        Ok(())
    }
}
