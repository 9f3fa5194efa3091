//! `READ_LINE`: File::read_line.

use std::future::poll_fn;
use std::io;

use super::cursor::Finished;
use super::open_file::File;

impl File {
    /// Reads up to the end of a line and appends it to `line`, `\n` included. Returns the count of bytes, 0 at the end of the file.
    ///
    /// Each READ_LINE reads as much as the [read-ahead](super::FileOption::ReadAhead), 64 KiB unless set; a line that is buffered already
    /// needs none. Dropping the future loses nothing, and leaves `line` as it was.
    pub async fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<usize> {
        let max_size = self.max_buf_size;
        let cursor = self.cursor.get_mut();
        let (mut searched, mut answered) = (0, None);
        loop {
            let read = match (answered.take(), poll_fn(|cx| cursor.poll_idle(cx)).await) {
                (None, Some(Finished::Read(answer))) => Some(answer),
                (answered, _) => answered,
            };
            let at_end = read.transpose()? == Some(0);
            if cursor.must_write_first() {
                poll_fn(|cx| cursor.poll_written(cx)).await?;
            }
            let unread = cursor.unread();
            let found = unread[searched..].iter().position(|&byte| byte == b'\n');
            let count = match found {
                Some(index) => searched + index + 1,
                None if at_end => unread.len(),
                None => {
                    searched = unread.len();
                    answered = poll_fn(|cx| cursor.poll_begin_read_line(max_size, cx)).await;
                    continue;
                }
            };
            line.extend_from_slice(&unread[..count]);
            cursor.consume(count);
            return Ok(count);
        }
    }
}
