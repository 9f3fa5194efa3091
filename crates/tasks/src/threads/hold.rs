//! Holds one thread for less than a millisecond, by ptrace.

use std::io;
use std::marker::PhantomData;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use libc::{c_int, c_void, iovec, pid_t};

use super::registers::Registers;

/// How long a thread may take to stop. It needs a CPU for that, and runs until then. One in uninterruptible sleep does not stop.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why a thread was not held.
#[derive(Debug)]
pub(super) enum NotHeld {
    /// It has ended.
    Ended,
    /// The kernel refuses.
    Refused(io::Error),
    /// It did not stop in time.
    NotStopped,
}

/// A thread that is held until this is dropped. Only the thread that made this may use it: the kernel asks for that.
pub(super) struct Held {
    tid: pid_t,
    /// The signal that the thread receives when it runs on, if its stop was that of a signal; else 0.
    signal: c_int,
    own_thread: PhantomData<*const ()>,
}

/// Holds thread `tid` while `read` runs. Returns also the moment when the reader saw it stand, and the time from then until it ran on.
///
/// A thread of the reader's does it and ends then: at its end the kernel lets go of a thread that did not stop in time.
pub(super) fn hold<T: Send>(
    tid: u32,
    read: impl FnOnce(&Held) -> T + Send,
) -> Result<(T, SystemTime, Duration), NotHeld> {
    let tid = pid_t::try_from(tid).map_err(|_| NotHeld::Ended)?;
    let hold = || {
        keep_the_cpu();
        request(libc::PTRACE_SEIZE, tid, 0)?;
        let begun = Instant::now();
        request(libc::PTRACE_INTERRUPT, tid, 0)?;
        let held = Held { tid, signal: stopped(tid, begun)?, own_thread: PhantomData };
        let (at, stood) = (SystemTime::now(), Instant::now());
        let answer = read(&held);
        drop(held);
        Ok((answer, at, stood.elapsed()))
    };
    thread::scope(|scope| {
        let holder = thread::Builder::new().spawn_scoped(scope, hold).map_err(NotHeld::Refused)?;
        holder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

impl Held {
    /// Reads the thread's registers. `None` if the kernel does not give them.
    pub(super) fn registers(&self) -> Option<Registers> {
        // SAFETY: the registers are numbers, for which zeros are a value.
        let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        let whole = self.set(libc::NT_PRSTATUS, (&raw mut registers).cast(), size_of_val(&registers))?;
        let call = if cfg!(target_arch = "aarch64") { self.call_of_aarch64() } else { None };
        (whole == size_of_val(&registers)).then(|| Registers::of(&registers, call))
    }

    /// aarch64 keeps the number of the system call outside of the registers.
    fn call_of_aarch64(&self) -> Option<c_int> {
        const NT_ARM_SYSTEM_CALL: c_int = 0x404;
        let mut number: c_int = -1;
        let read = self.set(NT_ARM_SYSTEM_CALL, (&raw mut number).cast(), size_of_val(&number))?;
        (read == size_of_val(&number)).then_some(number)
    }

    /// Reads a set of registers into the `length` bytes at `bytes`. Returns the number of bytes that the kernel wrote.
    fn set(&self, set: c_int, bytes: *mut c_void, length: usize) -> Option<usize> {
        let mut target = iovec { iov_base: bytes, iov_len: length };
        // SAFETY: the kernel writes at most `length` bytes; both callers pass the size of a local variable of theirs.
        let done = unsafe { libc::ptrace(libc::PTRACE_GETREGSET, self.tid, set as usize, &raw mut target) };
        (done == 0).then_some(target.iov_len)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // It fails only if the thread was killed meanwhile.
        let _ = request(libc::PTRACE_DETACH, self.tid, self.signal);
    }
}

/// Lets no ordinary thread take the CPU from this one: on a busy machine, a thread would be held for milliseconds. Needs
/// root, or CAP_SYS_NICE; without, the thread keeps its priority.
fn keep_the_cpu() {
    // SAFETY: these parameters are numbers, for which zeros are a value.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = 1;
    // SAFETY: the kernel reads the parameters from a local variable. 0 is the calling thread, which ends soon.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
}

/// Waits until the thread stands. Returns the signal that it must receive afterwards; 0 for none.
fn stopped(tid: pid_t, begun: Instant) -> Result<c_int, NotHeld> {
    loop {
        let mut status = 0;
        // SAFETY: the kernel writes the status into a local variable.
        match unsafe { libc::waitpid(tid, &raw mut status, libc::__WALL | libc::WNOHANG) } {
            0 if begun.elapsed() > PATIENCE => return Err(NotHeld::NotStopped),
            // A yield would let others run for milliseconds on a busy machine.
            0 => thread::sleep(between(begun.elapsed())),
            -1 => return Err(refusal()),
            _ if libc::WIFSTOPPED(status) && status >> 16 == libc::PTRACE_EVENT_STOP => return Ok(0),
            // A signal was on its way: the thread must still receive it.
            _ if libc::WIFSTOPPED(status) => return Ok(libc::WSTOPSIG(status)),
            _ => return Err(NotHeld::Ended),
        }
    }
}

/// How long the reader sleeps between two looks. Looks are rare once the thread waits for a CPU: it may need the reader's.
fn between(waited: Duration) -> Duration {
    Duration::from_micros(match waited.as_micros() {
        0..200 => 5,
        200..5000 => 50,
        _ => 500,
    })
}

/// The type of `ptrace`'s requests, in which C libraries differ.
#[cfg(target_env = "gnu")]
type Request = libc::c_uint;
#[cfg(not(target_env = "gnu"))]
type Request = c_int;

fn request(request: Request, tid: pid_t, data: c_int) -> Result<(), NotHeld> {
    // SAFETY: these requests take no address: the kernel reads and writes no memory of this process.
    let done = unsafe { libc::ptrace(request, tid, 0_usize, usize::try_from(data).unwrap_or(0)) };
    if done == 0 { Ok(()) } else { Err(refusal()) }
}

fn refusal() -> NotHeld {
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ESRCH | libc::ECHILD) => NotHeld::Ended,
        _ => NotHeld::Refused(error),
    }
}
