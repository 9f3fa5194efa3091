//! Causes for which requests wait, with the evidence of all looks.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde::Serialize;

use crate::own::Own;

/// A cause of less than this share of the time is not told.
const LEAST_SHARE: f64 = 0.02;

/// Nor is one that was seen in fewer looks, or for a smaller part of the watch.
const LEAST_SEEN: u32 = 2;
const LEAST_TIME: f64 = 0.01;

/// A kind of cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// A thread that polls tasks is blocked in a system call.
    BlockingCall,
    /// A poll that computes for long.
    LongPoll,
    /// A lock, which its holder has across an await.
    Lock,
    /// Permits of a semaphore.
    Permits,
    /// Room in a channel.
    FullChannel,
    /// A job of the blocking pool.
    BlockingJob,
    /// A file operation of dyntrace.
    FileOperation,
    /// Another program's answer.
    Peer,
    /// A time.
    Timer,
    /// A message, an event or the end of another task.
    Event,
    /// No thread was free to poll tasks that were woken.
    NoThread,
}

/// A cause for which requests wait.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cause {
    pub kind: CauseKind,
    /// The resource in words: `Mutex`, `fsync`, `127.0.0.1:5432`.
    pub resource: String,
    /// The function to look at: that of the holder, or the one that waits or blocks. Only the holder's has its line here:
    /// [`Evidence::victims`] have those of the others.
    pub own: Option<Own>,
}

impl Cause {
    pub fn new(kind: CauseKind, resource: impl Into<String>, own: Option<Own>) -> Cause {
        Cause { kind, resource: resource.into(), own }
    }

    fn blocks_in(&self, call: &str) -> bool {
        self.kind == CauseKind::BlockingCall && self.resource == call
    }
}

/// A task that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    pub cause: Cause,
    /// The function that waits.
    pub victim: Option<Own>,
    /// The holder of the lock, by its address, and its own wait.
    pub holder: Option<u64>,
    pub holder_waits: Option<String>,
}

/// How much of a cause was seen.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The time of all that waited for it, added up.
    pub time: Duration,
    /// The looks at tasks, or the stays of threads, that saw it.
    pub seen: u32,
    /// The most tasks or threads at once.
    pub most: usize,
    /// The longest time that a thread stayed.
    pub longest: Duration,
    /// The functions that waited, or in which threads stayed, with their time.
    pub victims: BTreeMap<Own, Duration>,
    /// The waits of the lock's holders, with the time of those that waited for them.
    pub holder_waits: BTreeMap<String, Duration>,
}

impl Evidence {
    /// The function to look at, with the line at which it waited longest.
    pub fn own<'e>(&'e self, cause: &'e Cause) -> Option<&'e Own> {
        let own = cause.own.as_ref()?;
        let waited = by_time(&self.victims).into_iter().map(|(victim, _)| victim);
        own.place
            .is_none()
            .then(|| waited.into_iter().find(|victim| victim.function == own.function))
            .flatten()
            .or(Some(own))
    }
}

/// All evidence of a watch.
#[derive(Debug, Default)]
pub struct Causes {
    all: HashMap<Cause, Evidence>,
    /// Time in which threads polled tasks, by looks at tasks.
    pub polled: Duration,
    /// The part of it in which threads were seen to stay in such polls.
    stayed: Duration,
    /// Time in which tasks that held the lock of a cause waited.
    pub holding: Duration,
    /// Time in which tasks were woken, and a thread about to poll them.
    pub woken: Duration,
    /// Time in which tasks came, were polled or ended while they were read.
    pub changed: Duration,
    /// The time of tasks that were found though their runtime counts fewer: others of these have ended meanwhile.
    pub surplus: Duration,
    /// Time in which tasks without types waited: not known to be of requests.
    pub without_types: Duration,
    /// Time of threads of the blocking pool in each system call; of those that ran, under `a CPU`.
    pub pool: BTreeMap<String, Duration>,
}

impl Causes {
    /// Adds a look at tasks, of which these waited. Each stands for the time since the look before.
    pub fn add_look(&mut self, waits: Vec<Wait>, time: Duration) {
        let mut at_once: HashMap<Cause, usize> = HashMap::new();
        for Wait { cause, victim, holder_waits, .. } in waits {
            *at_once.entry(cause.clone()).or_default() += 1;
            let evidence = self.all.entry(cause).or_default();
            evidence.time += time;
            if let Some(victim) = victim {
                *evidence.victims.entry(victim).or_default() += time;
            }
            if let Some(waits) = holder_waits {
                *evidence.holder_waits.entry(waits).or_default() += time;
            }
        }
        for (cause, count) in at_once {
            let evidence = self.all.entry(cause).or_default();
            evidence.seen += 1;
            evidence.most = evidence.most.max(count);
        }
    }

    /// Adds the time of a thread of the blocking pool in a call.
    pub fn add_pool(&mut self, call: &str, time: Duration) {
        *self.pool.entry(call.to_owned()).or_default() += time;
    }

    /// Adds a part of a thread's stay, in the function `at`. `whole`: the stay so far. `is_new`: its first part.
    pub fn add_stay(&mut self, cause: &Cause, at: Option<&Own>, part: Duration, whole: Duration, is_new: bool) {
        self.stayed += part;
        let evidence = self.all.entry(cause.clone()).or_default();
        evidence.time += part;
        if let Some(at) = at {
            *evidence.victims.entry(at.clone()).or_default() += part;
        }
        evidence.seen += u32::from(is_new);
        evidence.longest = evidence.longest.max(whole);
        evidence.most = evidence.most.max(1);
    }

    /// Adds the time of threads that were not held in each call, and that of tasks which were ready meanwhile. Most probably those threads
    /// were in the same functions as the ones that were held there; in polls at most for as long as looks at tasks saw polls. Returns for
    /// each call the factor by which the time of its threads has grown.
    pub fn add_unheld(&mut self, unheld: &BTreeMap<String, [Duration; 2]>) -> BTreeMap<String, f64> {
        let of_threads: Duration = unheld.values().map(|[of_threads, _]| *of_threads).sum();
        let part = ratio(self.running(), of_threads).min(1.0);
        let mut factors = BTreeMap::new();
        for (call, [of_threads, of_tasks]) in unheld {
            let of_threads = of_threads.mul_f64(part);
            self.stayed += of_threads;
            let blocks = |(cause, _): &(&Cause, &mut Evidence)| cause.blocks_in(call);
            let all: Duration = self.all.iter_mut().filter(blocks).map(|(_, evidence)| evidence.time).sum();
            if all.is_zero() {
                // Too little for a cause. It is time of requests nevertheless.
                let cause = Cause::new(CauseKind::BlockingCall, call, None);
                self.all.entry(cause).or_default().time += of_threads + *of_tasks;
                continue;
            }
            let factor = 1.0 + ratio(of_threads + *of_tasks, all);
            for (_, evidence) in self.all.iter_mut().filter(blocks) {
                evidence.time = evidence.time.mul_f64(factor);
                evidence.victims.values_mut().for_each(|time| *time = time.mul_f64(factor));
            }
            factors.insert(call.clone(), 1.0 + ratio(of_threads, all));
        }
        factors
    }

    /// The time in which tasks came, were polled or ended while they were read, as runtimes count their tasks.
    pub fn changed(&self) -> Duration {
        self.changed.saturating_sub(self.surplus)
    }

    /// The time in which threads polled tasks and were not seen to stay: they ran, or were ready for a CPU. Only looks at tasks tell it:
    /// a thread that runs may search for work.
    pub fn running(&self) -> Duration {
        self.polled.saturating_sub(self.stayed)
    }

    /// The time of requests.
    pub fn requests(&self) -> Duration {
        let of_causes: Duration = self.all.values().map(|evidence| evidence.time).sum();
        of_causes + self.running() + self.woken + self.holding + self.changed()
    }

    /// The parts of that time which are no causes, with their shares.
    pub fn rest(&self) -> [(&'static str, f64); 4] {
        let all = self.requests().as_secs_f64().max(f64::MIN_POSITIVE);
        let rest = [
            ("running", self.running()),
            ("woken and about to run", self.woken),
            ("waiting with a lock held", self.holding),
            ("changed while it was read", self.changed()),
        ];
        rest.map(|(name, time)| (name, time.as_secs_f64() / all))
    }

    /// All causes of these kinds, those with the most time first.
    pub fn of(&self, kinds: &[CauseKind]) -> Vec<(&Cause, &Evidence)> {
        let mut all: Vec<_> = self.all.iter().filter(|(cause, _)| kinds.contains(&cause.kind)).collect();
        all.sort_by(|(a, of_a), (b, of_b)| of_b.time.cmp(&of_a.time).then_with(|| a.cmp(b)));
        all
    }

    /// The causes with notable shares of the time, the largest first, each with its share.
    pub fn ranked(&self, watched: Duration) -> Vec<(&Cause, &Evidence, f64)> {
        let all = self.requests().as_secs_f64().max(f64::MIN_POSITIVE);
        let is_notable = |evidence: &Evidence, share: f64| {
            share >= LEAST_SHARE
                && evidence.seen >= LEAST_SEEN
                && evidence.time.as_secs_f64() >= LEAST_TIME * watched.as_secs_f64()
        };
        let share = |evidence: &Evidence| evidence.time.as_secs_f64() / all;
        let ranked = self.all.iter().map(|(cause, evidence)| (cause, evidence, share(evidence)));
        let mut ranked: Vec<_> = ranked.filter(|(_, evidence, share)| is_notable(evidence, *share)).collect();
        ranked.sort_by(|(a, of_a, _), (b, of_b, _)| of_b.time.cmp(&of_a.time).then_with(|| a.cmp(b)));
        ranked
    }
}

/// `part` of `whole`; of nothing, 0.
pub fn ratio(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() { 0.0 } else { part.as_secs_f64() / whole.as_secs_f64() }
}

/// The entries, those with the most time first.
pub fn by_time<K: Ord>(times: &BTreeMap<K, Duration>) -> Vec<(&K, Duration)> {
    let mut times: Vec<(&K, Duration)> = times.iter().map(|(key, time)| (key, *time)).collect();
    times.sort_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(function: &str) -> Option<Own> {
        Some(Own { function: function.into(), place: None })
    }

    fn wait(cause: &Cause, victim: &str, holder_waits: &str) -> Wait {
        Wait { cause: cause.clone(), victim: own(victim), holder: None, holder_waits: Some(holder_waits.into()) }
    }

    #[test]
    fn causes_are_ranked_by_the_time_of_all_that_waited() {
        let second = Duration::from_secs(1);
        let lock = Cause::new(CauseKind::Lock, "Mutex", own("app::hold"));
        let blocks = Cause::new(CauseKind::BlockingCall, "fsync", own("app::sync"));
        let rare = Cause::new(CauseKind::Peer, "10.0.0.1:5432", own("app::ask"));
        let mut causes = Causes::default();
        for _ in 0..3 {
            causes.add_look(vec![wait(&lock, "app::a", "a timer"), wait(&lock, "app::b", "a timer")], second);
            causes.add_stay(&blocks, None, second, second, true);
        }
        causes.add_look(vec![wait(&lock, "app::b", "a client"), wait(&rare, "app::c", "")], second);
        causes.polled = second * 12;
        let ranked = causes.ranked(second * 4);
        let told: Vec<_> = ranked.iter().map(|(cause, evidence, share)| (*cause, evidence.seen, *share)).collect();
        // 7 seconds of 20, and 3; the third was seen in one look only.
        assert_eq!(told, [(&lock, 4, 0.35), (&blocks, 3, 0.15)]);
        let evidence = ranked[0].1;
        assert_eq!(evidence.most, 2);
        assert_eq!(by_time(&evidence.victims)[0].0.function, "app::b");
        assert_eq!(by_time(&evidence.holder_waits), [(&"a timer".into(), second * 6), (&"a client".into(), second)]);
    }

    /// Two functions block threads in `write`, for 3 and 1 seconds, and were looked at twice.
    fn blocked() -> Causes {
        let mut causes = Causes::default();
        for (function, seconds) in [("app::print", 3), ("app::send", 1)] {
            let cause = Cause::new(CauseKind::BlockingCall, "write", own(function));
            let time = Duration::from_secs(seconds);
            causes.add_stay(&cause, cause.own.as_ref(), time, time, true);
            causes.add_stay(&cause, cause.own.as_ref(), Duration::ZERO, time, true);
        }
        causes
    }

    #[test]
    fn stays_that_were_not_looked_at_are_divided_as_those_that_were() {
        let second = Duration::from_secs(1);
        let mut causes = blocked();
        causes.polled = second * 9;
        let unheld =
            BTreeMap::from([("write".to_owned(), [second * 2, second * 2]), ("read".to_owned(), [second, second])]);
        assert_eq!(causes.add_unheld(&unheld), BTreeMap::from([("write".to_owned(), 1.5)]));
        let times: Vec<Duration> = causes.ranked(second).iter().map(|(_, evidence, _)| evidence.time).collect();
        assert_eq!(times, [second * 6, second * 2]);
        // With `read`, which no function explains.
        assert_eq!((causes.running(), causes.requests()), (second * 2, second * 12));
    }

    #[test]
    fn threads_poll_for_as_long_as_tasks_are_polled() {
        let second = Duration::from_secs(1);
        let mut causes = blocked();
        causes.polled = second * 5;
        // Threads that stay somewhere for longer than tasks were polled do something else there.
        causes.add_unheld(&BTreeMap::from([("write".to_owned(), [second * 4, Duration::ZERO])]));
        assert_eq!((causes.running(), causes.requests()), (Duration::ZERO, second * 5));
    }

    #[test]
    fn of_a_quiet_program_there_is_no_cause() {
        let mut causes = Causes::default();
        let lock = Cause::new(CauseKind::Lock, "Mutex", None);
        causes.add_look(vec![wait(&lock, "app::a", "a timer")], Duration::from_millis(100));
        assert_eq!(causes.ranked(Duration::from_secs(10)).len(), 0);
    }
}
