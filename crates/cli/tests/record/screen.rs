//! A terminal for programs under test, which keeps the text of its screen.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, IntoRawFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::fcntl::OFlag;
use nix::libc;
use nix::pty::{Winsize, grantpt, posix_openpt, ptsname_r, unlockpt};
use nix::sys::termios::{Termios, tcgetattr};

const ROWS: usize = 30;
const COLUMNS: usize = 120;

pub struct Screen {
    master: File,
    slave: OwnedFd,
    cells: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// Bytes that are not a whole character or sequence yet.
    begun: Vec<u8>,
    /// All that was written.
    pub written: Vec<u8>,
}

impl Screen {
    pub fn new() -> Screen {
        // Closed in the programs of other tests, as the terminal is gone when its master is closed everywhere.
        let master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(ptsname_r(&master).unwrap());
        let slave = OwnedFd::from(slave.unwrap());
        let size = Winsize { ws_row: ROWS as u16, ws_col: COLUMNS as u16, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: the call reads `size`; the descriptor is open.
        assert_eq!(unsafe { libc::ioctl(slave.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) }, 0);
        // SAFETY: the descriptor has no other owner any more.
        let master = unsafe { File::from_raw_fd(master.into_raw_fd()) };
        let cells = vec![vec![' '; COLUMNS]; ROWS];
        let (begun, written) = (Vec::new(), Vec::new());
        Screen { master, slave, cells, row: 0, column: 0, begun, written }
    }

    /// Makes it the terminal of the command.
    pub fn put(&self, command: &mut Command) {
        let end = || self.slave.try_clone().unwrap();
        command.env("TERM", "xterm-256color").stdin(end()).stdout(end()).stderr(end());
    }

    /// Makes it also the terminal that controls the command, which gets a signal when it is gone.
    pub fn control(&self, command: &mut Command) {
        self.put(command);
        // SAFETY: two system calls, which are safe after fork. Standard input is the terminal by then.
        unsafe {
            command.pre_exec(|| {
                nix::unistd::setsid()?;
                if libc::ioctl(0, libc::TIOCSCTTY, 0) == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
            });
        }
    }

    /// The mode of the terminal.
    pub fn mode(&self) -> Termios {
        tcgetattr(&self.slave).unwrap()
    }

    pub fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    pub fn text(&self) -> String {
        self.cells.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned() + "\n").collect()
    }

    /// Reads until the screen fulfils the condition, and returns its text.
    pub fn until(&mut self, is: impl Fn(&str) -> bool) -> String {
        loop {
            let text = self.text();
            if is(&text) {
                return text;
            }
            self.read();
        }
    }

    /// Reads until the program has written this, such as a sequence that is no text.
    pub fn until_written(&mut self, what: &[u8]) {
        while !self.written.windows(what.len()).any(|part| part == what) {
            self.read();
        }
    }

    fn read(&mut self) {
        let mut piece = [0; 4096];
        let length = self.master.read(&mut piece).unwrap();
        self.written.extend_from_slice(&piece[..length]);
        self.begun.extend_from_slice(&piece[..length]);
        let bytes = std::mem::take(&mut self.begun);
        let mut rest = &bytes[..];
        while let Some(length) = self.take(rest) {
            rest = &rest[length..];
        }
        self.begun = rest.to_vec();
    }

    /// Obeys the first sequence or character. Returns its length; `None` if it is not whole.
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        match *bytes {
            [] | [0x1b] => None,
            [0x1b, b'[', ref rest @ ..] => {
                let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte))?;
                self.obey(str::from_utf8(&rest[..end]).unwrap(), rest[end]);
                Some(end + 3)
            }
            [0x1b, ..] => Some(2),
            [b'\r', ..] => {
                self.column = 0;
                Some(1)
            }
            [b'\n', ..] => {
                self.row = (self.row + 1).min(ROWS - 1);
                Some(1)
            }
            [first, ..] => {
                let length = match first {
                    0..0x80 => 1,
                    0x80..0xe0 => 2,
                    0xe0..0xf0 => 3,
                    _ => 4,
                };
                let text = str::from_utf8(bytes.get(..length)?).unwrap();
                for char in text.chars() {
                    if let Some(cell) = self.cells[self.row].get_mut(self.column) {
                        *cell = char;
                        self.column += 1;
                    }
                }
                Some(length)
            }
        }
    }

    fn obey(&mut self, parameters: &str, command: u8) {
        match command {
            b'H' => {
                let mut places = parameters.split(';').map(|place| place.parse().unwrap_or(1_usize));
                self.row = (places.next().unwrap_or(1) - 1).min(ROWS - 1);
                self.column = (places.next().unwrap_or(1) - 1).min(COLUMNS - 1);
            }
            b'J' if parameters == "2" => self.cells.iter_mut().for_each(|line| line.fill(' ')),
            _ => {}
        }
    }
}
