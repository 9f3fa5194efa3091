//! Systems that cannot tell whether data is cached: no attempts.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::attempt::{Attempt, Miss};
use super::back_off::BackOff;
use super::trial::Trial;
use crate::efile::inode::Inode;

pub(super) const IS_SUPPORTED: bool = false;

#[derive(Clone, Copy, Debug)]
pub(crate) struct FileSystemPlace;

impl FileSystemPlace {
    pub(super) fn of(_: &File) -> FileSystemPlace {
        FileSystemPlace
    }

    pub(super) fn refuses_reads(self) -> bool {
        true
    }

    pub(super) fn would_write_atime(self, _: &File, _: i32) -> bool {
        true
    }

    pub(super) fn reads(self) -> Option<&'static BackOff> {
        None
    }

    pub(super) fn fstats(self) -> Option<&'static BackOff> {
        None
    }

    pub(super) fn writes(self) -> Option<&'static BackOff> {
        None
    }

    pub(super) fn seeks(self) -> Option<&'static BackOff> {
        None
    }

    pub(super) fn detect(self, _: &File) {}

    pub(super) fn closes(self) -> Option<&'static BackOff> {
        None
    }
}

pub(super) fn is_linked(_: &File) -> bool {
    false
}

pub(super) fn can_read(_: i32) -> bool {
    false
}

pub(super) fn read_at(_: FileSystemPlace, _: &File, _: &mut [u8], _: u64, _: &Trial) -> Attempt<usize> {
    Err(Miss::Refused)
}

pub(super) fn read(_: FileSystemPlace, _: &File, _: &mut [u8], _: &Trial) -> Attempt<usize> {
    Err(Miss::Refused)
}

pub(super) fn can_write(_: i32) -> bool {
    false
}

pub(in crate::efile) fn write(_: &File, _: &[u8], _: Option<u64>) -> Attempt<usize> {
    Err(Miss::Refused)
}

pub(crate) fn metadata(_: &Path, _: &mut Trial) -> Attempt<Metadata> {
    Err(Miss::Refused)
}

pub(crate) fn symlink_metadata(_: &Path, _: &mut Trial) -> Attempt<Metadata> {
    Err(Miss::Refused)
}

pub(crate) fn read_link(_: &Path, _: &mut Trial) -> Attempt<PathBuf> {
    Err(Miss::Refused)
}

pub(crate) fn canonicalize(_: &Path, _: &mut Trial) -> Attempt<PathBuf> {
    Err(Miss::Refused)
}

pub(crate) fn can_open(_: OFlags) -> bool {
    false
}

pub(crate) fn open(_: &Path, _: OFlags, _: &mut Trial) -> Attempt<(File, FileSystemPlace)> {
    Err(Miss::Refused)
}

pub(crate) fn read_file(_: &Path, _: &mut Trial) -> Attempt<Vec<u8>> {
    Err(Miss::Refused)
}

pub(in crate::efile) fn inode_of(file: &File) -> Option<Inode> {
    Inode::of(&file.metadata().ok()?)
}

pub(in crate::efile) fn cached_inode(_: &Path) -> Attempt<Option<Inode>> {
    Err(Miss::Refused)
}

pub(in crate::efile) fn detect(_: &File, _: bool) {}

pub(super) fn detected(_: &File) {}
