//! Files that cannot seek behave as with tokio, or better: a step fails only where it fails with tokio, no bytes of the peer
//! are lost, and all bytes before a successful flush arrive.

use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::of_dyntrace::{Kind as Ours, Step};
use crate::of_tokio::Kind as Theirs;
use crate::{of_dyntrace, of_tokio};

type Outcome = (Vec<String>, Vec<u8>);

fn on_runtime(play: impl AsyncFnOnce(&Path) -> Outcome) -> Outcome {
    let place = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(play(place.path()));
    // Does not wait for a read that never ends with tokio.
    runtime.shutdown_background();
    outcome
}

/// A step that takes longer counts as never ending.
const LONG: Duration = Duration::from_secs(60);
/// A read that tokio does not end within this time counts as never ending. If it is only late, less is compared.
const SHORT: Duration = Duration::from_millis(300);

const KINDS: [(Ours, Theirs); 4] = [
    (Ours::Stream, Theirs::Stream),
    (Ours::Packets, Theirs::Packets),
    (Ours::Terminal, Theirs::Terminal),
    (Ours::Fifo, Theirs::Fifo),
];

/// dyntrace fails only where tokio fails, with the same kind. The exception is a new length, where tokio may return the error
/// of the seek before it.
fn no_worse(what: &str, steps: &[Step], ours: &Outcome, theirs: &Outcome) {
    for (step, ours_told) in ours.0.iter().enumerate() {
        let theirs_told = theirs.0.get(step).map(String::as_str);
        let fails = |told: &str| told.chars().next().is_some_and(char::is_uppercase) && told != "Ok" || told == "never";
        assert!(
            !fails(ours_told)
                || theirs_told.is_none_or(|theirs| {
                    theirs == ours_told || matches!(steps[step], Step::SetLen) && fails(theirs)
                }),
            "{what}, step {step}: ours {:?}, tokio's {:?}",
            ours.0,
            theirs.0
        );
    }
}

#[test]
fn each_sequence_on_each_kind() {
    for (kind, theirs) in KINDS {
        for (index, steps) in of_dyntrace::SEQUENCES.iter().enumerate() {
            let what = format!("{kind:?}, {steps:?}");
            let ours = on_runtime(async |place| of_dyntrace::play(kind, steps, place, LONG).await);
            let theirs =
                on_runtime(async |place| of_tokio::play(theirs, of_tokio::SEQUENCES[index], place, SHORT).await);
            println!("{what}\n  ours {ours:?}\n  tokio's {theirs:?}");
            no_worse(&what, steps, &ours, &theirs);
            if kind == Ours::Fifo {
                // Written bytes come back, as reads and writes share one stream.
                continue;
            }
            let (mut sent, mut written, mut read) = (String::new(), String::new(), String::new());
            for (step, told) in steps.iter().zip(&ours.0) {
                match step {
                    Step::Peer(text) => sent += text,
                    Step::Write(text) => {
                        assert_eq!(told, "Ok", "{what}: {ours:?}");
                        written += text;
                    }
                    Step::Read(_) => read += told,
                    Step::Flush => assert_eq!(told, "Ok", "{what}: {ours:?}"),
                    _ => {}
                }
            }
            assert_eq!(read, sent, "{what}: every byte of the peer is read once, in order");
            assert_eq!(String::from_utf8_lossy(&ours.1), written, "{what}: every accepted byte arrives");
        }
    }
}

#[test]
fn an_error_at_the_peers_side_is_told_once_and_the_file_goes_on() {
    for (index, (kind, steps)) in of_dyntrace::BROKEN.iter().enumerate() {
        let (theirs_kind, theirs_steps) = of_tokio::BROKEN[index];
        let ours = on_runtime(async |place| of_dyntrace::play(*kind, steps, place, LONG).await);
        let theirs = on_runtime(async |place| of_tokio::play(theirs_kind, theirs_steps, place, LONG).await);
        assert_eq!(ours, theirs, "{kind:?}, {steps:?}");
        assert!(
            ours.0.iter().any(|told| told == "BrokenPipe" || told == "Uncategorized"),
            "{ours:?}: no error was tried"
        );
    }
}

/// tokio drops bytes for which a non-blocking socket has no room. dyntrace keeps them, and reads meanwhile, as the peer may read only
/// after its own bytes are read.
#[tokio::test]
async fn bytes_that_a_full_socket_refuses_are_kept_while_reads_go_on() {
    let (ours, mut peer) = std::os::unix::net::UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    let mut ours = dyntrace::fs::File::from(std::os::fd::OwnedFd::from(ours));
    let data: Vec<u8> = (0..1_500_000u32).map(|n| (n % 251) as u8).collect();
    ours.write_all(&data).await.unwrap();
    assert_eq!(ours.flush().await.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    peer.write_all(b"01234").unwrap();
    let mut read = [0; 5];
    ours.read_exact(&mut read[..2]).await.unwrap();
    ours.read_exact(&mut read[2..]).await.unwrap();
    assert_eq!(&read, b"01234");
    let reader = std::thread::spawn(move || {
        let mut arrived = Vec::new();
        peer.read_to_end(&mut arrived).unwrap();
        arrived
    });
    while let Err(error) = ours.flush().await {
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    }
    ours.close().await.unwrap();
    assert!(reader.join().unwrap() == data, "everything arrives once, in order");
}
