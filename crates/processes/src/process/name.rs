//! Names of threads.

use std::cell::Cell;
use std::fmt;
use std::ops::Deref;

/// The name of a thread, as `ps`, `gdb` and `perf` show it, cut at [`ThreadName::LIMIT`] bytes. Empty if the thread has none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ThreadName {
    length: u8,
    bytes: [u8; ThreadName::LIMIT],
}

thread_local! {
    static OWN: Cell<Option<ThreadName>> = const { Cell::new(None) };
}

/// Returns the name that the current thread had at the first call.
pub fn thread_name() -> ThreadName {
    OWN.get().unwrap_or_else(|| {
        let name = ThreadName::new(&system_name());
        OWN.set(Some(name));
        name
    })
}

#[cfg(target_os = "linux")]
fn system_name() -> String {
    rustix::thread::name().map_or_else(|_| String::new(), |name| name.to_string_lossy().into_owned())
}

#[cfg(not(target_os = "linux"))]
fn system_name() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}

impl ThreadName {
    /// The longest name in bytes. Linux keeps no more.
    pub const LIMIT: usize = 15;

    fn new(name: &str) -> ThreadName {
        let length = name.floor_char_boundary(name.len().min(ThreadName::LIMIT));
        let mut bytes = [0; ThreadName::LIMIT];
        bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
        ThreadName { length: length as u8, bytes }
    }
}

impl Deref for ThreadName {
    type Target = str;

    fn deref(&self) -> &str {
        str::from_utf8(&self.bytes[..self.length.into()]).unwrap_or_default()
    }
}

impl fmt::Display for ThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for ThreadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn name_of(name: &str) -> ThreadName {
        thread::Builder::new().name(name.to_owned()).spawn(thread_name).unwrap().join().unwrap()
    }

    #[test]
    fn threads_have_their_names() {
        assert_eq!(&*name_of("worker-2"), "worker-2");
        assert_eq!(format!("{:?}, {:>3}", name_of("a\""), name_of("b")), r#""a\"",   b"#);
        assert_eq!(&*name_of(""), "");
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(&*ThreadName::new("a-worker-of-many"), "a-worker-of-man");
        assert_eq!(&*ThreadName::new(&"ä".repeat(8)), "ä".repeat(7));
    }
}
