//! Who shares one call: requests that wait for the same thing to be done.
//!
//! 1. Whoever *joins* an empty group leads it: it must see to it that somebody closes the group once, later.
//! 2. Whoever joins until then is a member, too, and may *leave* again.
//! 3. Who *closes* the group takes the members and only then makes the call: so the call begins after each of them joined.
//!    Who joins from now on is in the next group, and the first of them leads it.
//!
//! Each member is handed out once: to who leaves, or to who closes. A group whose members have all left is closed all the
//! same; who joins meanwhile finds it led.

use std::collections::BTreeMap;
use std::fmt;

use crate::sync::{Mutex, lock};

pub(super) struct Group<M> {
    state: Mutex<State<M>>,
}

struct State<M> {
    /// Somebody will close it.
    led: bool,
    /// By the order in which they joined.
    members: BTreeMap<u64, M>,
    joined: u64,
}

/// Which member one is; not told again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat(u64);

impl<M> Group<M> {
    pub(super) fn new() -> Group<M> {
        Group { state: Mutex::new(State { led: false, members: BTreeMap::new(), joined: 0 }) }
    }

    /// Step 1 or 2. `true`: the group is to be closed, by the caller's doing.
    #[must_use = "who leads must have the group closed"]
    pub(super) fn join(&self, member: M) -> (Seat, bool) {
        let mut state = lock(&self.state);
        let seat = state.joined;
        state.joined += 1;
        state.members.insert(seat, member);
        (Seat(seat), !std::mem::replace(&mut state.led, true))
    }

    /// Gives the member back, unless its group was closed meanwhile.
    pub(super) fn leave(&self, seat: Seat) -> Option<M> {
        lock(&self.state).members.remove(&seat.0)
    }

    /// Step 3.
    pub(super) fn close(&self) -> Vec<M> {
        let mut state = lock(&self.state);
        state.led = false;
        std::mem::take(&mut state.members).into_values().collect()
    }
}

impl<M> fmt::Debug for Group<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").finish_non_exhaustive()
    }
}

#[cfg(all(test, loom))]
mod models {
    use std::sync::Arc;

    use super::*;
    use crate::sync::thread;

    /// What is asked for: everything that was written before the call.
    #[derive(Default)]
    struct Disk {
        written: Mutex<u32>,
        synced: Mutex<u32>,
        calls: Mutex<u32>,
    }

    impl Disk {
        fn write(&self) -> u32 {
            let mut written = lock(&self.written);
            *written += 1;
            *written
        }

        /// What is written while the call runs may or may not be brought to the disk: so it is not.
        fn sync(&self) -> u32 {
            *lock(&self.calls) += 1;
            let begun = *lock(&self.written);
            thread::yield_now();
            let mut synced = lock(&self.synced);
            *synced = begun.max(*synced);
            begun
        }
    }

    /// Joins with what it has written; who leads closes, as the pool would for it. Answers for all members of its group.
    fn write_and_join(disk: &Disk, group: &Group<u32>) -> (Seat, Vec<u32>) {
        let (seat, leads) = group.join(disk.write());
        if !leads {
            return (seat, Vec::new());
        }
        thread::yield_now();
        let members = group.close();
        let reached = disk.sync();
        assert!(members.iter().all(|&written| written <= reached), "the call began before a member joined");
        (seat, members)
    }

    #[test]
    fn loom_group_covers_whoever_joined_and_answers_each_once() {
        loom::model(|| {
            let (disk, group) = (Arc::new(Disk::default()), Arc::new(Group::new()));
            let others: Vec<_> = (0..2)
                .map(|_| {
                    let (disk, group) = (Arc::clone(&disk), Arc::clone(&group));
                    thread::spawn(move || write_and_join(&disk, &group).1)
                })
                .collect();
            let mut answered = write_and_join(&disk, &group).1;
            for other in others {
                answered.extend(other.join().unwrap());
            }
            answered.sort_unstable();
            assert_eq!(answered, [1, 2, 3]);
            assert!((1..=3).contains(&*lock(&disk.calls)));
        });
    }

    /// A member, be it the one who led, leaves at any time: it is handed out once, and the others are answered.
    #[test]
    fn loom_group_is_left_at_any_time() {
        loom::model(|| {
            let (disk, group) = (Arc::new(Disk::default()), Arc::new(Group::new()));
            let (seat, leads) = group.join(disk.write());
            assert!(leads);
            let closer = {
                let (disk, group) = (Arc::clone(&disk), Arc::clone(&group));
                thread::spawn(move || {
                    let members = group.close();
                    disk.sync();
                    members
                })
            };
            let other = {
                let (disk, group) = (Arc::clone(&disk), Arc::clone(&group));
                thread::spawn(move || write_and_join(&disk, &group).1)
            };
            let mut answered: Vec<u32> = group.leave(seat).into_iter().collect();
            answered.extend(closer.join().unwrap());
            answered.extend(other.join().unwrap());
            answered.sort_unstable();
            assert_eq!(answered, [1, 2]);
        });
    }
}
