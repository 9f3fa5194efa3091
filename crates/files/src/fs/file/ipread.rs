//! `IPREAD`: File::ipread.

use std::io;
use std::os::unix::fs::FileExt;

use rustix::io::Errno;

use super::open_file::File;
use crate::efile::{Command, Request};

impl File {
    /// Reads through a pointer, in one operation: at `offset` a header of two big-endian 32-bit numbers, the size and the offset of the
    /// data, then the data.
    ///
    /// Returns `None` if the size is above `max_size` or the file ends before the header or the data do. Does not move the cursor. This
    /// is Erlang's `ipread_s32bu_p32bu`.
    pub async fn ipread(&self, offset: u64, max_size: u32) -> io::Result<Option<Vec<u8>>> {
        let request = self.descriptor.request_with_flags(Command::Ipread).i3(offset as i64).i4(max_size.into());
        let work = move |file: &std::fs::File, request: &Request, (): &mut ()| {
            let answer = none_at_end(read(file, offset, max_size));
            answer.inspect(|data| request.add_moved(data.as_ref().map_or(0, Vec::len) as u64))
        };
        self.run_with(request, (), work).await.0
    }
}

fn read(file: &std::fs::File, offset: u64, max_size: u32) -> io::Result<Option<Vec<u8>>> {
    let mut header = [0; 8];
    file.read_exact_at(&mut header, offset)?;
    let [s0, s1, s2, s3, p0, p1, p2, p3] = header;
    let (size, pointer) = (u32::from_be_bytes([s0, s1, s2, s3]), u32::from_be_bytes([p0, p1, p2, p3]));
    if size > max_size {
        return Ok(None);
    }
    let mut data = Vec::new();
    data.try_reserve_exact(size as usize).map_err(|_| Errno::NOMEM)?;
    data.resize(size as usize, 0);
    file.read_exact_at(&mut data, pointer.into())?;
    Ok(Some(data))
}

fn none_at_end<T>(answer: io::Result<Option<T>>) -> io::Result<Option<T>> {
    match answer {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        answer => answer,
    }
}
