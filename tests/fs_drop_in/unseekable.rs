// Files that cannot seek: the result of each step, and the bytes that arrive at the peer.

/// A kind of file, and its other end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Stream,
    Packets,
    Terminal,
    /// Opened for reading and writing, so that it is its own peer.
    Fifo,
}

#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// The peer sends bytes.
    Peer(&'static str),
    /// A read of ten bytes is started and dropped. It stays in flight, as nothing was sent.
    Abandon,
    Read(usize),
    Write(&'static str),
    WriteMany(usize),
    Flush,
    Sync,
    Seek,
    SetLen,
    Clone,
    PeerStopsReading,
}

/// The sequences to try with each kind.
pub const SEQUENCES: &[&[Step]] = {
    use Step::*;
    &[
        // Read-ahead, then writes,
        &[Abandon, Peer("0123456789"), Read(1), Write("abc"), Flush, Write("def"), Flush, Read(9)],
        &[Abandon, Peer("0123456789"), Read(1), Write("abc"), Write("def"), Flush, Read(4), Write("ghi"), Read(5)],
        &[Abandon, Peer("0123456789"), Write("abc"), Flush, Read(10), Write("def"), Flush],
        // or a seek, a new length, a clone.
        &[Abandon, Peer("0123456789"), Read(1), Seek, Read(9), Write("abc"), Flush],
        &[Abandon, Peer("0123456789"), Read(1), SetLen, Read(9), Write("abc"), Flush],
        &[Abandon, Peer("0123456789"), Read(1), Clone, Read(9), Write("abc"), Flush],
        &[Abandon, Peer("0123456789"), Read(1), Sync, Write("abc"), Sync, Read(9)],
        // Without read-ahead.
        &[Peer("0123456789"), Read(10), Write("abc"), Flush, Peer("x"), Read(1), Write("def"), Flush],
        &[Seek, Write("abc"), Flush, SetLen, Write("def"), Flush],
    ]
};

/// The faults at the peer's side.
pub const BROKEN: &[(Kind, &[Step])] = {
    use Step::*;
    &[
        (
            Kind::Stream,
            &[Peer("0123456789"), PeerStopsReading, Write("abc"), Flush, Read(4), Flush, Read(6), Write("def"), Flush, Flush],
        ),
        (Kind::Stream, &[Peer("01"), PeerStopsReading, Write("abc"), Read(1), Read(1), Flush, Flush]),
        (Kind::Packets, &[WriteMany(1 << 20), Flush, Write("abc"), Flush, Peer("01"), Read(2)]),
        (Kind::Packets, &[WriteMany(1 << 20), Peer("01"), Read(2), Flush, Write("abc"), Flush]),
    ]
};

/// Returns the file, and its peer, which reads without blocking.
fn open_kind(kind: Kind, place: &Path) -> (fs::File, std::fs::File) {
    let pair = |kind| {
        let mut pair = [0; 2];
        // SAFETY: the array has room for two descriptors.
        assert_eq!(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, pair.as_mut_ptr()) }, 0);
        pair
    };
    let [ours, peer] = match kind {
        Kind::Stream => pair(libc::SOCK_STREAM),
        Kind::Packets => pair(libc::SOCK_SEQPACKET),
        Kind::Terminal => {
            let (mut peer, mut ours) = (0, 0);
            let null = std::ptr::null_mut();
            // SAFETY: both are valid for writes; the other arguments may be null.
            unsafe {
                assert_eq!(libc::openpty(&mut peer, &mut ours, null, null as *mut _, null as *mut _), 0);
                let mut raw = std::mem::zeroed();
                assert_eq!(libc::tcgetattr(ours, &mut raw), 0);
                libc::cfmakeraw(&mut raw);
                assert_eq!(libc::tcsetattr(ours, libc::TCSANOW, &raw), 0);
            }
            [ours, peer]
        }
        Kind::Fifo => {
            let path = place.join(format!("{:?}", std::time::Instant::now()));
            assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
            let open = || std::fs::File::options().read(true).write(true).open(&path).unwrap();
            [open(), open()].map(std::os::fd::IntoRawFd::into_raw_fd)
        }
    };
    // SAFETY: both descriptors are new and have no other owner.
    let (ours, peer) = unsafe { (fs::File::from_raw_fd(ours), std::fs::File::from_raw_fd(peer)) };
    if kind != Kind::Fifo {
        // The two openings of a FIFO share the pipe but not the flags.
        rustix::io::ioctl_fionbio(&peer, true).unwrap();
    }
    (ours, peer)
}

/// Runs the steps, and returns their results and the bytes that arrived at the peer. Abandons a read that takes longer than `limit`.
pub async fn play(kind: Kind, steps: &[Step], place: &Path, limit: Duration) -> (Vec<String>, Vec<u8>) {
    let (mut file, mut peer) = open_kind(kind, place);
    let mut told = Vec::new();
    for step in steps {
        let told_of = |answer: io::Result<String>| answer.unwrap_or_else(|error| format!("{:?}", error.kind()));
        let none = |answer: io::Result<()>| answer.map(|()| "Ok".to_owned());
        told.push(match *step {
            Step::Peer(text) => told_of(none(peer.write_all(text.as_bytes()))),
            Step::Abandon => {
                assert!(poll_once(pin!(file.read(&mut [0; 10]))).is_pending());
                "Ok".to_owned()
            }
            Step::Read(count) => {
                let mut bytes = vec![0; count];
                // tokio loses bytes in some sequences; this read would then never end.
                let read = tokio::time::timeout(limit, file.read_exact(&mut bytes)).await;
                match read {
                    Ok(read) => told_of(read.map(|_| String::from_utf8_lossy(&bytes).into_owned())),
                    Err(_) => "never".to_owned(),
                }
            }
            Step::Write(text) => told_of(none(file.write_all(text.as_bytes()).await)),
            Step::WriteMany(count) => told_of(none(file.write_all(&vec![b'x'; count]).await)),
            Step::Flush => told_of(none(file.flush().await)),
            Step::Sync => told_of(none(file.sync_all().await)),
            Step::Seek => told_of(none(file.seek(SeekFrom::Current(0)).await.map(drop))),
            Step::SetLen => told_of(none(file.set_len(0).await)),
            Step::Clone => told_of(none(file.try_clone().await.map(drop))),
            Step::PeerStopsReading => told_of(none(rustix::net::shutdown(&peer, rustix::net::Shutdown::Read).map_err(From::from))),
        });
        if told.last().is_some_and(|told| told == "never") {
            break;
        }
    }
    let mut arrived = Vec::new();
    if kind != Kind::Fifo {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = peer.read(&mut bytes) {
            arrived.extend_from_slice(&bytes[..count]);
        }
    }
    // Ends a read that is still in flight.
    let _ = peer.write_all(b"end of the test");
    (told, arrived)
}
