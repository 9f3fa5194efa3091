//! Groups of requests that wait for the same system call and share it.
//!
//! 1. The request that *joins* an empty group leads it: it must have the group closed once, later.
//! 2. Requests that join until then are members, too, and may *leave* again.
//! 3. A thread *closes* the group: it takes the members and only then makes the call. So the call begins after each of them joined.
//!    Requests that join from now on are in the next group, and the first of them leads it.
//!
//! Each member is handed out once: to the thread that has it leave, or to the one that closes the group. A group that all members
//! have left is still closed, and requests that join before that are its members.

use std::collections::BTreeMap;
use std::fmt;

use dyntrace_probes::primitives::{Mutex, lock};

pub(super) struct Group<M> {
    state: Mutex<GroupState<M>>,
}

struct GroupState<M> {
    /// A leader will have it closed.
    led: bool,
    /// In the order in which they joined.
    members: BTreeMap<u64, M>,
    joined: u64,
}

/// Names one member; not used again.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemberId(u64);

impl<M> Group<M> {
    pub(super) fn new() -> Group<M> {
        Group { state: Mutex::new(GroupState { led: false, members: BTreeMap::new(), joined: 0 }) }
    }

    /// Step 1 or 2. Returns `true` if the caller must have the group closed.
    #[must_use = "the leader must have the group closed"]
    pub(super) fn join(&self, member: M) -> (MemberId, bool) {
        let mut state = lock(&self.state);
        let id = state.joined;
        state.joined += 1;
        state.members.insert(id, member);
        (MemberId(id), !std::mem::replace(&mut state.led, true))
    }

    /// Returns the member, unless its group was closed meanwhile.
    pub(super) fn leave(&self, id: MemberId) -> Option<M> {
        lock(&self.state).members.remove(&id.0)
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

    use dyntrace_probes::primitives::thread;

    use super::*;

    /// A disk to which all earlier writes are synced. `std`'s atomics, which loom does not see: the model is about the group's
    /// steps.
    #[derive(Default)]
    struct Disk {
        written: AtomicU32,
    }

    impl Disk {
        fn write(&self) -> u32 {
            self.written.fetch_add(1, Ordering::SeqCst) + 1
        }

        /// Returns how much was written when the call began: only so much is certain to be on the disk after it.
        fn sync(&self) -> u32 {
            self.written.load(Ordering::SeqCst)
        }
    }

    /// Joins with its write number. A leader closes the group, as the pool would for it, and returns all members.
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

    /// A member, even the leader, leaves at any time: it is handed out once, and the others complete.
    #[test]
    fn loom_group_is_left_at_any_time() {
        loom::model(|| {
            let (disk, group) = (Arc::new(Disk::default()), Arc::new(Group::new()));
            let (id, leads) = group.join(disk.write());
            assert!(leads);
            let closer = {
                let group = Arc::clone(&group);
                thread::spawn(move || group.close())
            };
            let other = {
                let (disk, group) = (Arc::clone(&disk), Arc::clone(&group));
                thread::spawn(move || write_and_join(&disk, &group))
            };
            let mut answered: Vec<u32> = group.leave(id).into_iter().collect();
            answered.extend(closer.join().unwrap());
            answered.extend(other.join().unwrap());
            answered.sort_unstable();
            assert_eq!(answered, [1, 2]);
        });
    }
}
