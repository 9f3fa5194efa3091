use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::thread;

use dyntrace_probes::primitives::atomic::Ordering;

use super::*;
use crate::recorder::synthetic::{UUID, babeltrace, create, describe, event, packets as headers, place, write_packet};

/// A circular file of four sub-buffers, which no writer has entered.
fn circle(path: &Path) -> StreamFile {
    let size = 4 * SUB_BUFFER as u64;
    create(path, UUID, 0, size, size).unwrap()
}

fn copy(circle: &StreamFile, path: &Path, uuid: [u8; 16]) -> io::Result<Copied> {
    let (folder, name) = place(path)?;
    super::copy(circle, &folder, name, uuid)
}

fn write(circle: &StreamFile, sequence: u64, content: &[u8]) {
    write_packet(circle, (sequence - 1) % 4 * SUB_BUFFER as u64, SUB_BUFFER as u64, sequence, content);
}

#[test]
fn the_copy_is_a_stream_in_order() {
    let dir = tempfile::tempdir().unwrap();
    describe(dir.path(), "copied");
    let circle = circle(&dir.path().join(".circle"));
    for sequence in 1..=6 {
        write(&circle, sequence, &event(1, &[]).repeat(sequence as usize * 100));
    }
    let path = dir.path().join("ring-1");
    let copied = copy(&circle, &path, UUID).unwrap();
    let bytes = fs::read(&path).unwrap();
    let headers = headers(&bytes).unwrap();
    assert_eq!(headers.iter().map(|header| header.sequence).collect::<Vec<_>>(), [3, 4, 5, 6]);
    assert_eq!(copied, Copied { packets: 4, bytes: bytes.len() as u64, overwritten: 0 });
    assert!(bytes.len() < 4 * SUB_BUFFER, "what is not used is not copied");
    assert!(babeltrace(dir.path()).is_none_or(|lines| lines.len() == 1800));
}

#[test]
fn a_circle_that_nobody_entered_makes_an_empty_stream() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ring-1");
    assert_eq!(copy(&circle(&dir.path().join("circle")), &path, UUID).unwrap(), Copied::default());
    assert_eq!(fs::read(&path).unwrap(), Vec::<u8>::new());
    assert_eq!(
        copy(&circle(&dir.path().join("another")), &path, UUID).unwrap_err().kind(),
        io::ErrorKind::AlreadyExists
    );
    assert!(path.exists());
}

#[test]
fn a_copy_that_cannot_be_written_leaves_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let circle = circle(&dir.path().join("circle"));
    let path = dir.path().join("no folder").join("ring-1");
    assert_eq!(copy(&circle, &path, UUID).unwrap_err().kind(), io::ErrorKind::NotFound);
}

/// A writer takes packets again as fast as it can. Those that are in a copy are nevertheless whole and in order.
#[test]
fn packets_of_a_copy_are_whole() {
    let dir = tempfile::tempdir().unwrap();
    let circle = circle(&dir.path().join("circle"));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for sequence in 1.. {
                write(&circle, sequence, &[sequence as u8; 30_000]);
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        while packets(&circle).any(|packet| packet.sequence() == 0) {
            thread::yield_now();
        }
        let copies: Vec<_> = (0..200)
            .map(|number| {
                let path = dir.path().join(format!("copy-{number}"));
                copy(&circle, &path, UUID).map(|_| fs::read(&path).unwrap())
            })
            .collect();
        done.store(true, Ordering::Relaxed);
        for bytes in copies.into_iter().map(Result::unwrap) {
            let (mut place, mut last) = (0, 0);
            for header in headers(&bytes).unwrap() {
                assert!(header.sequence > last, "{} after {last}", header.sequence);
                let content = &bytes[place + HEADER..place + header.content_size as usize];
                assert!(
                    content.iter().all(|&byte| byte == header.sequence as u8),
                    "packet {} is torn",
                    header.sequence
                );
                (place, last) = (place + header.packet_size as usize, header.sequence);
            }
        }
    });
}
