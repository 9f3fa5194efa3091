//! posix_fadvise(2), where the system has it.

use std::fs::File;
use std::io;

use rustix::io::Errno;

/// How a part of a file will be used. The numbers are those of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Advice {
    /// Nothing special.
    Normal = 0,
    /// In no order.
    Random = 1,
    /// From lower offsets to higher ones.
    Sequential = 2,
    /// Soon.
    WillNeed = 3,
    /// Not soon.
    DontNeed = 4,
    /// Once.
    NoReuse = 5,
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_os = "illumos"))]
pub(super) fn advise(file: &File, offset: u64, length: u64, advice: Advice) -> io::Result<()> {
    use rustix::fs::Advice as System;

    let advice = match advice {
        Advice::Normal => System::Normal,
        Advice::Random => System::Random,
        Advice::Sequential => System::Sequential,
        Advice::WillNeed => System::WillNeed,
        Advice::DontNeed => System::DontNeed,
        Advice::NoReuse => System::NoReuse,
    };
    // The kernel counts in i64; larger values would be negative.
    if i64::try_from(offset).is_err() || i64::try_from(length).is_err() {
        return Err(Errno::INVAL.into());
    }
    Ok(rustix::fs::fadvise(file, offset, std::num::NonZeroU64::new(length), advice)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_os = "illumos")))]
pub(super) fn advise(_: &File, _: u64, _: u64, _: Advice) -> io::Result<()> {
    Err(Errno::NOTSUP.into())
}
