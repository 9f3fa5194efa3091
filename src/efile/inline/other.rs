//! Systems that cannot tell whether data is cached: no attempts.

use std::fs::{File, Metadata};
use std::path::Path;

use rustix::fs::OFlags;

use super::{Attempt, Miss};

pub(super) fn can_read(_: i32) -> bool {
    false
}

pub(super) fn refuses_reads(_: &File) -> bool {
    true
}

pub(super) fn read_at(_: &File, _: &mut [u8], _: u64) -> Attempt<usize> {
    Err(Miss::Refused)
}

pub(super) fn read(_: &File, _: &mut [u8]) -> Attempt<usize> {
    Err(Miss::Refused)
}

pub(crate) fn metadata(_: &Path) -> Attempt<Metadata> {
    Err(Miss::Refused)
}

pub(crate) fn symlink_metadata(_: &Path) -> Attempt<Metadata> {
    Err(Miss::Refused)
}

pub(crate) fn can_open(_: OFlags) -> bool {
    false
}

pub(crate) fn open(_: &Path, _: OFlags) -> Attempt<File> {
    Err(Miss::Refused)
}

pub(crate) fn read_file(_: &Path) -> Attempt<Vec<u8>> {
    Err(Miss::Refused)
}

pub(super) fn detect(_: &File) {}
