//! Tests the reader with notes made by hand, and with files that are not ELF.

use dyntrace_terminal::say;
use proptest::prelude::*;

use super::*;

/// A description as the assembler makes it.
fn description(addresses: [u64; 3], strings: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = addresses.iter().flat_map(|address| address.to_le_bytes()).collect();
    bytes.extend_from_slice(strings);
    bytes
}

#[test]
fn a_note_is_read() {
    let bytes = description([0x55e3, 0x2000, 0x4010], b"dyntrace\0efile_drv__int_entry\0-4@%eax -4@%ecx -4@%edx\0");
    let note = Note::parse(&bytes, true, Endianness::Little).unwrap();
    assert_eq!((note.provider.as_str(), note.tool_name().as_str()), ("dyntrace", "efile_drv-int_entry"));
    assert_eq!((note.location, note.base, note.semaphore), (0x55e3, 0x2000, Some(0x4010)));
    assert_eq!(note.operands.len(), 3);
}

#[test]
fn a_note_without_a_semaphore_and_without_arguments() {
    let note = Note::parse(&description([1, 2, 0], b"p\0n\0\0"), true, Endianness::Little).unwrap();
    assert_eq!((note.semaphore, note.operands.len()), (None, 0));
}

#[test]
fn a_note_that_ends_too_soon() {
    let whole = description([1, 2, 3], b"provider\0name\0-4@%eax\0");
    for end in 0..whole.len() {
        assert_eq!(Note::parse(&whole[..end], true, Endianness::Little), None, "cut at {end}");
    }
}

#[test]
fn a_note_follows_its_base() {
    let mut note = Note::parse(&description([0x100, 0x2000, 0x300], b"p\0n\0\0"), true, Endianness::Little).unwrap();
    note.move_to(0x2040);
    assert_eq!((note.location, note.semaphore), (0x140, Some(0x340)));
}

/// This test's own program: a valid ELF file on all systems with notes.
#[cfg(target_os = "linux")]
fn own_program() -> Vec<u8> {
    std::fs::read(std::env::current_exe().unwrap()).unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn a_damaged_program_never_panics() {
    let whole = own_program();
    assert!(Object::parse(&*whole).is_ok());
    for end in [0, 1, 15, 16, 63, 64, 65, 200, 1000, whole.len() / 2, whole.len() - 1] {
        let _ = Object::parse(&whole[..end]);
    }
    // Every byte of the header at its extremes.
    let mut bytes = whole;
    for at in 0..64 {
        let sound = bytes[at];
        for value in [0x00, 0x7f, 0x80, 0xff] {
            bytes[at] = value;
            let _ = Object::parse(&*bytes);
        }
        bytes[at] = sound;
    }
}

#[test]
fn a_fifo_or_device_is_refused_at_once() {
    assert!(matches!(Object::read(Path::new("/dev/null")), Err(Error::NotRegular(_))));
    assert!(matches!(Object::read(Path::new("/")), Err(Error::NotRegular(_))));
    assert!(matches!(Object::read(Path::new("/nonexistent/file")), Err(Error::Open { .. })));
}

/// A filter of system calls, or a damaged disk, says nothing about the file.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_the_kernel_does_not_read_may_be_elf() {
    use nix::libc::{ENOSYS, EPERM, SYS_lseek, SYS_pread64};
    let read = |calls: &'static [nix::libc::c_long], error| {
        let read = move || crate::filtered::refuse(calls, error).map(|()| Object::read(Path::new("/proc/self/exe")));
        std::thread::spawn(read).join().unwrap()
    };
    match (read(&[SYS_lseek], EPERM), read(&[SYS_pread64], ENOSYS)) {
        (Ok(without_seek), Ok(without_read)) => {
            without_seek.unwrap();
            let error = without_read.unwrap_err();
            let Error::Open { source, .. } = error else { panic!("{error}") };
            assert_eq!(source.raw_os_error(), Some(ENOSYS));
        }
        (Err(error), _) | (_, Err(error)) => say!("left out: calls cannot be filtered here: {error}"),
    }
}

/// Holes take no room on the disk, and would take memory.
#[test]
fn a_file_that_says_it_has_gigabytes_of_sections_is_damaged() {
    use std::os::unix::fs::FileExt as _;
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut header = [0; 128];
    header[..20].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0");
    header[20] = 1;
    // Section headers are behind this one; the first of them says how many.
    (header[40], header[52], header[58]) = (64, 64, 64);
    header[64 + 32..64 + 40].copy_from_slice(&(1_u64 << 27).to_le_bytes());
    file.as_file().write_all_at(&header, 0).unwrap();
    file.as_file().set_len(1 << 34).unwrap();
    assert!(matches!(Object::read(file.path()), Err(Error::Damaged { .. })));
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>, is_64: bool) {
        let _ = Object::parse(&*bytes);
        let _ = Note::parse(&bytes, is_64, Endianness::Big);
        operand::parse_all(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn arbitrary_bytes_behind_an_elf_header_never_panic(class in 1_u8..3, bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        let mut file = vec![0x7f, b'E', b'L', b'F', class, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        file.extend(bytes);
        let _ = Object::parse(&*file);
    }
}
