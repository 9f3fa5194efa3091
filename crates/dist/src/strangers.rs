//! Strangers: peers in the handshake that have not proved the cookie yet.
//!
//! There are [`PLACES`] for them. If all are taken, a newcomer takes the place of the oldest stranger of the address that has the
//! most, the newcomer counted. So:
//!
//! - Silent connections block no others: they are the oldest.
//! - An address that keeps connecting pushes out only its own strangers. A good peer from another address keeps its place.
//! - A flood from the address of a good peer looks like the peer, so age decides. A stranger keeps its place against newcomers of its
//!   own address for an eighth of [`Options::setup_time`](super::Options::setup_time), which is enough for a handshake. Meanwhile
//!   newcomers of that address wait in a [`Line`], and newcomers of other addresses pass them. If the line is full, it drops the last
//!   newcomer of the address that has the most.
//!
//! IPv6 addresses count by their first 64 bits: one machine may have all addresses with these.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

use dyntrace_probes::primitives::{Mutex, lock};

/// The number of peers that may be in the handshake at once.
const PLACES: usize = 64;

/// The number of newcomers that may wait for a place.
const WAITING: usize = 64;

pub(super) struct Strangers {
    table: Mutex<Table>,
    freed: Notify,
    grace: Duration,
}

#[derive(Default)]
struct Table {
    /// Strangers, the oldest first.
    taken: Vec<Stranger>,
    next: u64,
}

struct Stranger {
    number: u64,
    address: IpAddr,
    since: Instant,
    /// Ends its handshake; `None` until that runs.
    task: Option<AbortHandle>,
}

/// A stranger's place. Dropping it frees the place.
pub(super) struct StrangerPlace {
    strangers: Arc<Strangers>,
    number: u64,
}

/// How a newcomer gets a place.
#[derive(Debug, PartialEq, Eq)]
enum Room {
    Free,
    /// This stranger loses its place.
    Of(usize),
    /// Not before this time, when a stranger is old enough.
    At(Instant),
}

impl Strangers {
    pub(super) fn new(setup_time: Duration) -> Arc<Strangers> {
        Arc::new(Strangers { table: Mutex::default(), freed: Notify::new(), grace: setup_time / 8 })
    }

    /// Returns a place for a newcomer from `address`.
    ///
    /// # Errors
    ///
    /// The time of the next try, if its own address has taken the places recently.
    fn place(self: &Arc<Self>, address: IpAddr) -> Result<StrangerPlace, Instant> {
        let mut table = lock(&self.table);
        let now = Instant::now();
        match table.room(address, now, self.grace) {
            Room::At(until) => return Err(until),
            Room::Free => {}
            Room::Of(oldest) => {
                if let Some(task) = table.taken.remove(oldest).task {
                    task.abort();
                }
            }
        }
        let number = table.next;
        table.next += 1;
        table.taken.push(Stranger { number, address, since: now, task: None });
        Ok(StrangerPlace { strangers: self.clone(), number })
    }
}

/// Newcomers that wait for a place, in order. For one task.
pub(super) struct Line<T> {
    strangers: Arc<Strangers>,
    waiting: Vec<(IpAddr, T)>,
}

impl<T> Line<T> {
    pub(super) fn new(setup_time: Duration) -> Line<T> {
        Line { strangers: Strangers::new(setup_time), waiting: Vec::new() }
    }

    /// Adds a newcomer. If the line is full, drops the last one of the address that has the most.
    pub(super) fn add(&mut self, address: IpAddr, newcomer: T) {
        self.waiting.push((counted(address), newcomer));
        if self.waiting.len() > WAITING {
            let count = |address: IpAddr| self.waiting.iter().filter(|(other, _)| *other == address).count();
            // `max_by_key` takes the last of several.
            let last = self.waiting.iter().enumerate().max_by_key(|(_, (address, _))| count(*address));
            if let Some((last, _)) = last {
                self.waiting.remove(last);
            }
        }
    }

    /// Waits for a place, and returns it with the first newcomer that may have it. Cancellation loses nothing.
    pub(super) async fn next(&mut self) -> (StrangerPlace, T) {
        loop {
            let strangers = self.strangers.clone();
            let freed = strangers.freed.notified();
            let mut until: Option<Instant> = None;
            // If one newcomer of an address is refused, all in the line are.
            let mut refused: Vec<IpAddr> = Vec::new();
            for at in 0..self.waiting.len() {
                let address = self.waiting[at].0;
                if refused.contains(&address) {
                    continue;
                }
                match self.strangers.place(address) {
                    Ok(place) => return (place, self.waiting.remove(at).1),
                    Err(then) => {
                        refused.push(address);
                        until = Some(until.map_or(then, |until| until.min(then)));
                    }
                }
            }
            match until {
                Some(until) => drop(timeout_at(until, freed).await),
                None => std::future::pending().await,
            }
        }
    }
}

impl Table {
    fn room(&self, newcomer: IpAddr, now: Instant, grace: Duration) -> Room {
        if self.taken.len() < PLACES {
            return Room::Free;
        }
        let count = |address: IpAddr| {
            self.taken.iter().filter(|stranger| stranger.address == address).count() + usize::from(address == newcomer)
        };
        // `min_by_key` takes the first of several: the oldest.
        let most = |(_, stranger): &(usize, &Stranger)| usize::MAX - count(stranger.address);
        match self.taken.iter().enumerate().min_by_key(most) {
            None => Room::Free,
            Some((_, oldest)) if oldest.address == newcomer && now < oldest.since + grace => {
                Room::At(oldest.since + grace)
            }
            Some((oldest, _)) => Room::Of(oldest),
        }
    }
}

impl StrangerPlace {
    /// Runs the handshake of the stranger with this place, until it ends or the stranger loses the place.
    pub(super) fn run<F: Future<Output = ()> + Send + 'static>(self, handshake: impl FnOnce(StrangerPlace) -> F) {
        let (strangers, number) = (self.strangers.clone(), self.number);
        // Locked until the task can be aborted: before that neither the task frees the place nor a newcomer takes it.
        let mut table = lock(&strangers.table);
        let task = tokio::spawn(handshake(self));
        if let Some(stranger) = table.taken.iter_mut().find(|stranger| stranger.number == number) {
            stranger.task = Some(task.abort_handle());
        }
    }
}

impl Drop for StrangerPlace {
    fn drop(&mut self) {
        lock(&self.strangers.table).taken.retain(|stranger| stranger.number != self.number);
        self.strangers.freed.notify_one();
    }
}

/// An address as counted.
fn counted(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(1);

    fn address(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    /// Strangers of these addresses, a millisecond apart, the first at `start`.
    fn table(start: Instant, addresses: impl IntoIterator<Item = IpAddr>) -> Table {
        let stranger =
            |(number, address)| Stranger { number, address, since: start + Duration::from_millis(number), task: None };
        Table { taken: (0..).zip(addresses).map(stranger).collect(), next: 1000 }
    }

    #[test]
    fn the_oldest_of_the_address_with_most_goes() {
        let start = Instant::now();
        let flood = || std::iter::repeat_n(address(1), PLACES - 2);
        let with_two = table(start, [address(7), address(8)].into_iter().chain(flood()));
        // Also within the grace: it is another address.
        assert_eq!(with_two.room(address(9), start, GRACE), Room::Of(2));
        assert_eq!(with_two.room(address(7), start, GRACE), Room::Of(2));
        // The flood itself waits, and takes from itself.
        let oldest = start + Duration::from_millis(2);
        assert_eq!(with_two.room(address(1), oldest, GRACE), Room::At(oldest + GRACE));
        assert_eq!(with_two.room(address(1), oldest + GRACE, GRACE), Room::Of(2));
        assert_eq!(table(start, flood()).room(address(1), start, GRACE), Room::Free);
    }

    #[test]
    fn where_all_have_one_the_oldest_goes() {
        let start = Instant::now();
        let all = table(start, (0..PLACES as u8).map(address));
        assert_eq!(all.room(address(200), start, GRACE), Room::Of(0));
        // Its own address has two with it.
        assert_eq!(all.room(address(5), start + 2 * GRACE, GRACE), Room::Of(5));
    }

    #[test]
    fn addresses_of_one_machine_count_together() {
        let address = |text: &str| counted(text.parse().unwrap());
        assert_eq!(address("2001:db8::1"), address("2001:db8::ffff:1:2:3"));
        assert_ne!(address("2001:db8::1"), address("2001:db8:0:1::1"));
        assert_eq!(address("::ffff:10.0.0.1"), address("10.0.0.1"));
        assert_ne!(address("10.0.0.1"), address("10.0.0.2"));
    }

    fn filled(address: IpAddr, grace: Duration) -> (Line<u32>, Vec<StrangerPlace>) {
        let line = Line::new(8 * grace);
        let places = (0..PLACES).map(|_| line.strangers.place(address).unwrap()).collect();
        (line, places)
    }

    /// Longer than the test.
    const LONG: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn a_newcomer_of_the_same_address_waits_for_a_place() {
        let (mut line, mut places) = filled(address(1), LONG);
        line.add(address(1), 1);
        line.add(address(1), 2);
        line.add(address(2), 3);
        // Another address passes.
        let (place, number) = line.next().await;
        assert_eq!(number, 3);
        drop(place);
        let (place, number) = line.next().await;
        assert_eq!(number, 1);
        let freed = tokio::spawn(async move {
            tokio::task::yield_now().await;
            drop(place);
        });
        let (place, number) = line.next().await;
        assert_eq!(number, 2);
        freed.await.unwrap();
        places.push(place);
        drop(places);
        assert!(lock(&line.strangers.table).taken.is_empty());
    }

    #[tokio::test]
    async fn a_newcomer_of_the_same_address_waits_for_the_grace() {
        let grace = Duration::from_millis(50);
        let started = Instant::now();
        let (mut line, _places) = filled(address(1), grace);
        line.add(address(1), 1);
        let (_place, number) = line.next().await;
        assert_eq!(number, 1);
        assert!(started.elapsed() >= grace);
        assert_eq!(lock(&line.strangers.table).taken.len(), PLACES);
    }

    #[tokio::test]
    async fn a_full_line_loses_the_last_of_the_address_with_most() {
        let (mut line, _places) = filled(address(1), LONG);
        line.add(address(1), 0);
        line.add(address(2), 1);
        for number in 2..200 {
            line.add(address(1), number);
        }
        assert_eq!(line.waiting.len(), WAITING);
        assert_eq!(line.waiting[0], (address(1), 0));
        assert_eq!(line.waiting[1], (address(2), 1));
        assert_eq!(line.waiting[WAITING - 1].1, WAITING as u32 - 1);
    }
}
