//! The tag that a wrapped value sees.

use std::collections::BTreeSet;
use std::future::pending;
use std::io::{self, IoSlice, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

use dyntrace::{Tagged, put_tag, spread_tag, take_tag, with_tag};
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite, AsyncWriteExt, ReadBuf,
};
use tokio_stream::{Stream, StreamExt};

use super::{Witness, runtimes, some, tag, tag_data};

/// Notes the tag of each call, under the method's name.
#[derive(Default)]
struct Notes(BTreeSet<(&'static str, Option<String>)>);

impl Notes {
    fn note<R>(mut self: Pin<&mut Self>, method: &'static str, result: R) -> Poll<io::Result<R>> {
        self.0.insert((method, tag()));
        Poll::Ready(Ok(result))
    }
}

impl AsyncRead for Notes {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        into.put_slice(b"x");
        self.note("read", ())
    }
}

impl tokio::io::AsyncBufRead for Notes {
    fn poll_fill_buf(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.note("fill_buf", b"line\n".as_slice())
    }

    fn consume(self: Pin<&mut Self>, count: usize) {
        assert_eq!(count, 5);
        let _ = self.note("consume", ());
    }
}

impl AsyncSeek for Notes {
    fn start_seek(self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        assert_eq!(to, SeekFrom::Start(7));
        let _ = self.note("start_seek", ());
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.note("complete", 7)
    }
}

impl AsyncWrite for Notes {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        self.note("write", from.len())
    }

    fn poll_write_vectored(self: Pin<&mut Self>, _: &mut Context<'_>, from: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.note("write_vectored", from.len())
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.note("flush", ())
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.note("shutdown", ())
    }
}

#[test]
fn every_method_of_readers_and_writers_sees_the_tag() {
    for runtime in runtimes() {
        runtime.block_on(async {
            let mut file = Notes::default().tagged("mine");
            let (mut byte, mut line) = ([0], String::new());
            assert_eq!(file.read(&mut byte).await.unwrap(), 1);
            assert_eq!(file.read_line(&mut line).await.unwrap(), 5);
            assert_eq!((byte, line.as_str()), (*b"x", "line\n"));
            assert_eq!(file.seek(SeekFrom::Start(7)).await.unwrap(), 7);
            assert!(file.is_write_vectored());
            assert_eq!(file.write(b"abc").await.unwrap(), 3);
            assert_eq!(file.write_vectored(&[IoSlice::new(b"a"), IoSlice::new(b"b")]).await.unwrap(), 2);
            file.flush().await.unwrap();
            file.shutdown().await.unwrap();
            assert_eq!(tag(), None);
            let all = [
                "complete", "consume", "fill_buf", "flush", "read", "shutdown", "start_seek", "write", "write_vectored",
            ];
            let seen: Vec<_> = file.get_ref().0.iter().cloned().collect();
            assert_eq!(seen, all.map(|method| (method, some("mine"))));
        });
    }
}

/// Yields the tag that it sees, this many times.
struct Sees(u8, #[expect(dead_code, reason = "it reports its drop")] Witness);

impl Stream for Sees {
    type Item = Option<String>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Option<String>>> {
        let left = self.0.checked_sub(1);
        Poll::Ready(left.map(|left| {
            self.0 = left;
            tag()
        }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.into(), Some(self.0.into()))
    }
}

#[test]
fn a_stream_sees_its_tag_until_it_is_dropped() {
    for runtime in runtimes() {
        runtime.block_on(async {
            let (send, dropped) = mpsc::channel();
            let mut stream = Sees(3, Witness(send)).tagged("mine");
            assert_eq!(stream.size_hint(), (3, Some(3)));
            assert_eq!(stream.next().await, Some(some("mine")));
            // Another task goes on with it, and drops it.
            let rest = tokio::spawn(async move { stream.collect::<Vec<_>>().await });
            assert_eq!(rest.await.unwrap(), [some("mine"), some("mine")]);
            assert_eq!(dropped.recv().unwrap(), some("mine"));
        });
    }
}

#[test]
fn a_value_keeps_the_tag_that_it_sets_itself() {
    let mut value = pin!(with_tag("first", 1));
    value.as_mut().in_scope(|_| put_tag("second").unwrap());
    assert_eq!(value.as_mut().in_scope(|_| tag()), some("second"));
    assert_eq!(tag(), None);

    let value = with_tag("first", 1).map(|value| {
        assert_eq!((tag(), put_tag("second").unwrap().as_deref()), (some("first"), Some("first")));
        value + 1
    });
    assert_eq!((*value.get_ref(), tag()), (2, None));
    assert_eq!(pin!(value).in_scope(|_| tag()), some("second"));
}

#[test]
fn a_panic_in_the_scope_ends_it() {
    put_tag("of the thread").unwrap();
    let (send, dropped) = mpsc::channel();
    let mut value = Box::pin(with_tag("panics", Witness(send)));
    catch_unwind(AssertUnwindSafe(|| value.as_mut().in_scope(|_| panic!("on purpose")))).unwrap_err();
    assert_eq!(tag(), some("of the thread"));
    drop(value);
    assert_eq!(dropped.recv().unwrap(), some("panics"));

    let (send, dropped) = mpsc::channel();
    let value = with_tag("panics", Witness(send));
    catch_unwind(AssertUnwindSafe(|| value.map(|_witness| panic!("on purpose")))).err().expect("the panic");
    assert_eq!((dropped.recv().unwrap(), tag()), (some("panics"), some("of the thread")));
    take_tag();
}

#[test]
fn a_thing_takes_the_current_tag_along() {
    for runtime in runtimes() {
        runtime.block_on(async {
            put_tag("current").unwrap();
            let taken = async { (tag(), tag_data()) }.with_current_tag();
            put_tag("later").unwrap();
            assert_eq!(tokio::spawn(taken).await.unwrap(), (some("current"), some("current")));

            // A received tag becomes an own one.
            spread_tag(true);
            let child = dyntrace::spawn(async {
                assert_eq!((tag(), tag_data()), (None, some("later")));
                tokio::spawn(async { tag() }.with_current_tag()).await.unwrap()
            });
            assert_eq!(child.await.unwrap(), some("later"));
            spread_tag(false);

            // No tag hides that of a process which polls.
            take_tag();
            let untagged = async { tag() }.with_current_tag();
            assert_eq!(with_tag("around", untagged).await, None);
        });
    }
}

#[test]
fn a_thing_with_the_current_tag_is_dropped_with_it() {
    let (send, dropped) = mpsc::channel();
    let body = pin!(with_tag("outer", ())).in_scope(|_| {
        let body = async move {
            let _witness = Witness(send);
            pending::<()>().await;
        };
        let mut body = Box::pin(body.with_current_tag());
        assert!(body.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        body
    });
    std::thread::spawn(move || drop(body)).join().unwrap();
    assert_eq!(dropped.recv().unwrap(), some("outer"));
}
