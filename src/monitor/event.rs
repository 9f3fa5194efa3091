//! Events.

use std::fmt;
use std::panic::Location;

use super::kind::Kind;
use super::limits::Limit;
use dyntrace_files::aio_pool::Port;
use dyntrace_processes::process::Pid;

/// A subject has crossed the limit of a kind.
///
/// Fields that do not apply to the kind, or are not known, are `None`. It is displayed as one line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The kind.
    pub kind: Kind,
    /// The amount that was found: nanoseconds if the kind's limit [is a time](Kind::is_time), else a number.
    pub amount: u64,
    /// The limit, likewise.
    pub limit: u64,
    /// The task that is polled or waits, or that has the mailbox.
    pub process: Option<Pid>,
    /// The function of the task.
    pub function: Option<&'static str>,
    /// The place where the task was spawned.
    pub spawned: Option<&'static Location<'static>>,
    /// The user tag of the task.
    pub tag: Option<String>,
    /// The operation that waits, as `Mutex::lock`.
    pub operation: Option<&'static str>,
    /// The thing that it waits for: `#Ref<0.N>`, its name, or the pid of a process.
    pub resource: Option<String>,
    /// The place of the wait.
    pub place: Option<&'static Location<'static>>,
    /// The port.
    pub port: Option<Port>,
    /// The thread that polls the task. `None` if the poll ended before its thread could be looked at.
    pub thread: Option<Thread>,
}

/// A thread in a poll that lasts, as the kernel shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Thread {
    /// The kernel's id.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// The kernel's letter: `R` on a CPU or ready for one, `S` asleep, `D` in uninterruptible sleep, `T` stopped.
    pub state: Option<char>,
    /// The system call that it is in: its name, or its number.
    pub system_call: Option<String>,
    /// The kernel's function that it sleeps in.
    pub kernel_function: Option<String>,
}

impl Event {
    #[cfg(recorded)]
    pub(super) fn new(kind: Kind, amount: u64, limit: u64) -> Event {
        Event {
            kind,
            amount,
            limit,
            process: None,
            function: None,
            spawned: None,
            tag: None,
            operation: None,
            resource: None,
            place: None,
            port: None,
            thread: None,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = Limit(self.kind, self.limit);
        let seconds = || self.amount as f64 / 1e9;
        write!(f, "{}:", self.kind)?;
        if let Some(process) = self.process {
            write!(f, " {process}")?;
        }
        if let Some(tag) = &self.tag {
            write!(f, " {tag}")?;
        }
        if let Some(function) = self.function {
            write!(f, " {function}")?;
        }
        let amount = self.amount;
        match self.kind {
            Kind::LongSchedule => write!(f, " is polled since {:.3} s (limit {limit})", seconds())?,
            Kind::LongWait => write!(f, " waits since {:.3} s (limit {limit})", seconds())?,
            Kind::LongMessageQueue => write!(f, " has {amount} messages (limit {limit})")?,
            Kind::BusyPort => {
                let port = self.port.map(|port| port.to_string()).unwrap_or_default();
                write!(f, " {port} has {amount} jobs that have not started (limit {limit})")?;
            }
            Kind::LongBlockingQueue => write!(f, " {amount} closures wait for a thread (limit {limit})")?,
            Kind::TooManyTasks => write!(f, " the table has {amount} tasks (limit {limit})")?,
        }
        if let Some(resource) = &self.resource {
            write!(f, " for {resource}")?;
        }
        if let Some(operation) = self.operation {
            write!(f, " in {operation}")?;
        }
        if let Some(place) = self.place {
            write!(f, " at {}:{}", place.file(), place.line())?;
        }
        match &self.thread {
            Some(thread) => write!(f, " on {thread}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread {} ({})", self.id, self.name)?;
        if let Some(state) = self.state {
            write!(f, ", {state}")?;
        }
        match (&self.system_call, &self.kernel_function) {
            (Some(call), _) => write!(f, ", in {call}"),
            (None, Some(function)) => write!(f, ", in the kernel's {function}"),
            (None, None) => Ok(()),
        }
    }
}

#[cfg(all(test, recorded))]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line() {
        let here = Location::caller();
        let place = format!("{}:{}", here.file(), here.line());
        let thread = Thread {
            id: 4711,
            name: "worker".to_owned(),
            state: Some('S'),
            system_call: Some("clock_nanosleep".to_owned()),
            kernel_function: Some("hrtimer_nanosleep".to_owned()),
        };
        let process = Some(Pid::numbered(7));
        let polled = Event {
            process,
            tag: Some("req-1".to_owned()),
            function: Some("shop::pay"),
            thread: Some(thread),
            ..Event::new(Kind::LongSchedule, 120_000_000, 100_000_000)
        };
        let waits = Event {
            process,
            operation: Some("Mutex::lock"),
            resource: Some("#Ref<0.3>".to_owned()),
            place: Some(here),
            ..Event::new(Kind::LongWait, 5_250_000_000, 5_000_000_000)
        };
        for (event, line) in [
            (
                polled,
                "long_schedule: <0.7.0> req-1 shop::pay is polled since 0.120 s (limit 100ms) on thread 4711 (worker), S, \
                 in clock_nanosleep",
            ),
            (
                waits,
                &format!("long_wait: <0.7.0> waits since 5.250 s (limit 5s) for #Ref<0.3> in Mutex::lock at {place}"),
            ),
            (
                Event { process, ..Event::new(Kind::LongMessageQueue, 1201, 1000) },
                "long_message_queue: <0.7.0> has 1201 messages (limit 1000)",
            ),
            (
                Event::new(Kind::LongBlockingQueue, 300, 256),
                "long_blocking_queue: 300 closures wait for a thread (limit 256)",
            ),
            (Event::new(Kind::TooManyTasks, 11, 10), "too_many_tasks: the table has 11 tasks (limit 10)"),
        ] {
            assert_eq!(event.to_string(), line);
        }
    }
}
