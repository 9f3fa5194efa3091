//! One order of one client: from the request to the answer.

use std::future::Future;
use std::os::unix::net::UnixStream;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use dyntrace_probes::thread_progress::os::without_signals;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use super::order::Order;
use super::perform::perform;
use crate::recorder::control::clients::{ClientLimit, ClosedInChildren, parts, say};
use crate::recorder::control::protocol::Record;
use dyntrace_processes::unpark;

/// The limit of concurrent orders. More are refused.
const MOST: usize = 16;
/// The interval between checks that the client is connected.
const LOOK: Duration = Duration::from_millis(50);
/// How long a client may take to read a part of its answer.
const PATIENCE: Duration = Duration::from_secs(5);

static ORDERS: ClientLimit = ClientLimit::new(MOST);

/// Serves a client on a thread of its own. The server's thread, which calls this, does not block.
pub(super) fn serve(stream: UnixStream, order: Record) {
    let Some(place) = ORDERS.acquire() else {
        say(&stream, Err(format!("the limit of {MOST} concurrent orders is reached: wait for one of them")));
        return;
    };
    let stream = Arc::new(stream);
    let own = Arc::clone(&stream);
    let started = without_signals(|| {
        thread::Builder::new().name("dyntrace-code".into()).spawn(move || {
            let _place = place;
            let _closed = ClosedInChildren::new(&*own);
            carry_out(&own, &order);
        })
    });
    if let Err(error) = started {
        say(&stream, Err(format!("cannot start a thread for the order: {error}")));
    }
}

fn carry_out(stream: &UnixStream, order: &Record) {
    let answer = match Order::read(order) {
        Ok(order) => while_listening(stream, perform(order)),
        Err(why) => Some(Err(why)),
    };
    let prepared = stream.set_nonblocking(false).and_then(|()| stream.set_write_timeout(Some(PATIENCE)));
    let (Some(answer), Ok(())) = (answer, prepared) else { return };
    match answer {
        Err(why) => drop(say(stream, Err(why))),
        Ok(records) => drop(parts(records).into_iter().all(|part| say(stream, Ok(part)))),
    }
}

/// Polls the future on this thread. `None` if the client disconnects first.
fn while_listening<T>(stream: &UnixStream, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let waker = unpark::waker();
    loop {
        if let Poll::Ready(answer) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(answer);
        }
        thread::park_timeout(LOOK);
        match recv(stream, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Ok((_, 1..)) | Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(_) | Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[test]
    fn an_order_ends_with_its_client() {
        let (here, there) = UnixStream::pair().unwrap();
        assert_eq!(while_listening(&here, async { 17 }), Some(17));
        drop(there);
        assert_eq!(while_listening(&here, pending::<u32>()), None);
    }
}
