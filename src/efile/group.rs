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
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::sync::thread;

    /// What is asked for: that everything written before be brought to the disk. `std`'s atomics, of which loom knows
    /// nothing: it is the steps of the group that are to be ordered in every way.
    #[derive(Default)]
    struct Disk {
        written: AtomicU32,
    }

    impl Disk {
        fn write(&self) -> u32 {
            self.written.fetch_add(1, Ordering::SeqCst) + 1
        }

        /// How much was written when the call began: no more is certain to be on the disk after it.
        fn sync(&self) -> u32 {
            self.written.load(Ordering::SeqCst)
        }
    }

    /// Joins with what it has written; who leads closes, as the pool would for it, and answers for all members.
    fn write_and_join(disk: &Disk, group: &Group<u32>) -> Vec<u32> {
        let (_, leads) = group.join(disk.write());
        if !leads {
            return Vec::new();
        }
        let members = group.close();
        let reached = disk.sync();
        assert!(members.iter().all(|&written| written <= reached), "the call began before a member joined");
        members
    }

    #[test]
    fn loom_group_covers_whoever_joined_and_answers_each_once() {
        loom::model(|| {
            let (disk, group) = (Arc::new(Disk::default()), Arc::new(Group::new()));
            let others = [(); 2].map(|()| {
                let (disk, group) = (Arc::clone(&disk), Arc::clone(&group));
                thread::spawn(move || write_and_join(&disk, &group))
            });
            let mut answered = write_and_join(&disk, &group);
            for other in others {
                answered.extend(other.join().unwrap());
            }
            answered.sort_unstable();
            assert_eq!(answered, [1, 2, 3]);
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
                let group = Arc::clone(&group);
                thread::spawn(move || group.close())
            };
            let other = {
                let (disk, group) = (Arc::clone(&disk), Arc::clone(&group));
                thread::spawn(move || write_and_join(&disk, &group))
            };
            let mut answered: Vec<u32> = group.leave(seat).into_iter().collect();
            answered.extend(closer.join().unwrap());
            answered.extend(other.join().unwrap());
            answered.sort_unstable();
            assert_eq!(answered, [1, 2]);
        });
    }
}
