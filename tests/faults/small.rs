//! Small machines: recording takes no resources that the program needs, and counts events that it cannot record.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::Command;
use std::sync::Barrier;
use std::thread;

use dyntrace::recorder::Session;

use crate::support::{
    alone, fire, inside_of, options, program, read_by_babeltrace, read_counted, read_losses, run, stop,
};

const EVENTS: i32 = 2_000;
/// More than the number of rings prepared at the start.
const THREADS: i32 = 40;

/// Has this number of concurrent threads fire, each as its own line.
fn fire_in_threads() {
    let hold = &Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for line in 1..=THREADS {
            scope.spawn(move || {
                (1..=EVENTS).for_each(|number| fire(line, number));
                hold.wait();
            });
        }
    });
}

/// Checks that the trace has the fired events except for the reported losses. Returns the number of its events.
fn assert_counted(trace: &Path) -> u64 {
    let (lines, lost) = read_counted(trace);
    let found = lines.values().map(|numbers| numbers.len() as u64).sum();
    assert_eq!(found + lost, (THREADS * EVENTS) as u64, "{found} found, {lost} counted as lost");
    found
}

/// Runs the test again as a program that starts with these limits, and with none of the descriptors that this process was started with.
fn limited(test: &str, directory: &Path, limits: &'static [(libc::__rlimit_resource_t, libc::rlim_t)]) -> Command {
    let mut program = program(&format!("small::{test}"), directory, &[]);
    // SAFETY: plain data, and system calls without locks.
    unsafe {
        program.pre_exec(move || {
            // Before Linux 5.11 they stay.
            libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
            for &(resource, most) in limits {
                let most = libc::rlimit { rlim_cur: most, rlim_max: most };
                if libc::setrlimit(resource, &most) != 0 {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
    program
}

fn assert_runs(program: &mut Command) -> String {
    let output = program.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}: {}\n{errors}", output.status, String::from_utf8_lossy(&output.stdout));
    errors
}

#[test]
fn the_program_keeps_its_addresses() {
    const LIMITS: [&[(libc::__rlimit_resource_t, libc::rlim_t)]; 2] =
        [&[(libc::RLIMIT_AS, 17 << 30)], &[(libc::RLIMIT_AS, 1 << 30)]];
    let Some(directory) = inside_of() else {
        let _alone = alone();
        for limits in LIMITS {
            let directory = tempfile::tempdir().unwrap();
            let mut program = limited("the_program_keeps_its_addresses", directory.path(), limits);
            // Otherwise each thread's heap would take 64 MiB of addresses.
            assert_runs(program.env("MALLOC_ARENA_MAX", "1"));
        }
        return;
    };
    let left = largest_mapping();
    let trace = directory.join("trace");
    let session = Session::start(options(&trace, "")).unwrap();
    fire_in_threads();
    let now = largest_mapping();
    assert!(now >= left / 2, "{now} bytes of {left} are left");
    stop(session);
    assert!(assert_counted(&trace) > 0);
}

/// Returns the bytes of free addresses, to within a sixteenth.
fn largest_mapping() -> usize {
    (1..=usize::BITS - 2)
        .rev()
        .flat_map(|bits| (16..32).rev().map(move |part| (1_usize << bits) / 32 * part))
        .find(is_free)
        .unwrap_or(0)
}

fn is_free(bytes: &usize) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new, unused mapping, which is unmapped again.
    unsafe {
        let base = libc::mmap(std::ptr::null_mut(), *bytes, libc::PROT_NONE, flags, -1, 0);
        base != libc::MAP_FAILED && libc::munmap(base, *bytes) == 0
    }
}

#[test]
fn the_program_keeps_its_descriptors() {
    const FEW: &[(libc::__rlimit_resource_t, libc::rlim_t)] = &[(libc::RLIMIT_NOFILE, 24)];
    const MANY: &[(libc::__rlimit_resource_t, libc::rlim_t)] = &[(libc::RLIMIT_NOFILE, 1024)];
    let Some(directory) = inside_of() else {
        let _alone = alone();
        for limits in [FEW, MANY] {
            let directory = tempfile::tempdir().unwrap();
            let trace = directory.path().join("trace");
            let mut program = limited("the_program_keeps_its_descriptors", directory.path(), limits);
            assert_runs(program.env("DYNTRACE", format!("record:{}", trace.display())));
            assert!(assert_counted(&trace) > 0);
        }
        return;
    };
    let _ = directory;
    fire_in_threads();
    // The program can open nearly all descriptors itself.
    let most = descriptors();
    let own: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    let others = most - own.len();
    assert!(others <= 8 + most.saturating_sub(256) / 12, "{others} of {most} are not the program's");
    // No file can be opened any more, and the program goes on.
    thread::spawn(|| ()).join().unwrap();
}

fn descriptors() -> usize {
    let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: plain data, valid for writes.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut now) }, 0);
    now.rlim_cur as usize
}

#[test]
fn files_that_may_not_grow_end_no_program() {
    const LIMITS: [&[(libc::__rlimit_resource_t, libc::rlim_t)]; 6] = [
        &[(libc::RLIMIT_FSIZE, 0)],
        &[(libc::RLIMIT_FSIZE, 1000)],
        &[(libc::RLIMIT_FSIZE, 8 << 10)],
        &[(libc::RLIMIT_FSIZE, 20_000)],
        &[(libc::RLIMIT_FSIZE, 100_000)],
        &[(libc::RLIMIT_FSIZE, 1 << 20)],
    ];
    if inside_of().is_some() {
        return fire_in_threads();
    }
    let _alone = alone();
    for (number, limits) in LIMITS.into_iter().enumerate() {
        let directory = tempfile::tempdir().unwrap();
        let trace = directory.path().join("trace");
        let mut program = limited("files_that_may_not_grow_end_no_program", directory.path(), limits);
        let errors = assert_runs(program.env("DYNTRACE", format!("record:{}", trace.display())));
        if errors.contains("dyntrace: ") {
            assert!(number < 4 && errors.contains("os error 27"), "{limits:?}: {errors}");
        } else {
            assert!(assert_counted(&trace) > 0, "{limits:?}");
        }
    }
}

/// The limit is set during a session, before snapshots of larger rings.
#[test]
#[cfg_attr(dyntrace_portable, ignore = "a limit that comes later ends programs there by SIGXFSZ")]
fn files_that_may_not_grow_any_more() {
    let Some(directory) = inside_of() else {
        let _alone = alone();
        let directory = tempfile::tempdir().unwrap();
        return run("small::files_that_may_not_grow_any_more", directory.path(), &[]);
    };
    let (trace, circles) = (directory.join("trace"), directory.join("circles"));
    let stream = Session::start(options(&trace, "")).unwrap();
    let circle = Session::start(options(&circles, ",mode=overwrite,size=1M")).unwrap();
    let most = libc::rlimit { rlim_cur: 50_000, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: plain data.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &most) }, 0);
    fire_in_threads();
    let error = circle.snapshot(directory.join("snapshot")).unwrap().unwrap_err();
    assert_eq!(error.io().raw_os_error(), Some(libc::EFBIG), "{error}");
    stop(circle);
    stop(stream);
    assert!(assert_counted(&trace) > 0);
}

/// No ring can be created any more, and the program is killed.
#[test]
fn events_without_a_ring_are_counted_at_once() {
    let Some(directory) = inside_of() else {
        let _alone = alone();
        let directory = tempfile::tempdir().unwrap();
        let status = program("small::events_without_a_ring_are_counted_at_once", directory.path(), &[]).status();
        assert_eq!(status.unwrap().signal(), Some(libc::SIGKILL));
        let trace = directory.path().join("trace");
        read_by_babeltrace(&trace);
        assert_counted(&trace);
        let losses = read_losses(&trace);
        let ringless = losses.discarded.iter().find(|lost| lost.reason() == "no ring was ready for a thread");
        let recovered = directory.path().join("recovered");
        dyntrace_reader::recover(&trace, &recovered).unwrap();
        assert_eq!(read_losses(&recovered).events(), losses.events());
        // There were never rings for all threads.
        return assert!(ringless.is_some_and(|lost| lost.count >= EVENTS as u64), "{losses:?}");
    };
    let _session = Session::start(options(&directory.join("trace"), "")).unwrap();
    let most = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: plain data.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &most) }, 0);
    fire_in_threads();
    // SAFETY: the program ends.
    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
}

#[test]
fn without_proc() {
    let Some(directory) = inside_of() else {
        let _alone = alone();
        let directory = tempfile::tempdir().unwrap();
        let shell = "mount -t tmpfs none /proc && exec \"$@\"";
        return run(
            "small::without_proc",
            directory.path(),
            &["unshare", "--mount", "--map-root-user", "sh", "-c", shell, "sh"],
        );
    };
    assert!(!Path::new("/proc/self").exists());
    let trace = directory.join("trace");
    let session = Session::start(options(&trace, "")).unwrap();
    fire_in_threads();
    stop(session);
    assert!(assert_counted(&trace) > 0);
}

#[test]
fn memory_that_is_locked() {
    let Some(directory) = inside_of() else {
        let _alone = alone();
        let directory = tempfile::tempdir().unwrap();
        return run("small::memory_that_is_locked", directory.path(), &[]);
    };
    // SAFETY: locks later mappings; a thread's stack may then fail to be mapped.
    assert_eq!(unsafe { libc::mlockall(libc::MCL_FUTURE) }, 0);
    let trace = directory.join("trace");
    // It is refused if the user may not lock this much memory.
    if let Ok(session) = Session::start(options(&trace, ",size=4M")) {
        fire_in_threads();
        stop(session);
        assert!(assert_counted(&trace) > 0);
    }
}

/// Makes the kernel refuse a system call of this thread and those that it starts.
fn refuse(calls: &[libc::c_long], error: i32) {
    let statement = |code: u32, jump_true, jump_false, value| libc::sock_filter {
        code: code as u16,
        jt: jump_true,
        jf: jump_false,
        k: value,
    };
    let mut filter = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for &call in calls {
        filter.push(statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, call as u32));
        filter.push(statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | error as u32));
    }
    filter.push(statement(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW));
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the kernel copies the filter, which is valid.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program), 0);
    }
}

#[test]
fn without_a_thread_more() {
    let Some(directory) = inside_of() else {
        let _alone = alone();
        let directory = tempfile::tempdir().unwrap();
        return run("small::without_a_thread_more", directory.path(), &[]);
    };
    refuse(&[libc::SYS_clone, libc::SYS_clone3], libc::EAGAIN);
    let trace = directory.join("trace");
    let error = Session::start(options(&trace, "")).unwrap_err();
    assert_eq!(error.io().raw_os_error(), Some(libc::EAGAIN), "{error}");
    assert!(!dyntrace::probes::efile_drv::entry::is_enabled());
    fire(1, 1);
}

#[test]
fn without_barriers_in_other_threads() {
    let Some(directory) = inside_of() else {
        let _alone = alone();
        let directory = tempfile::tempdir().unwrap();
        return run("small::without_barriers_in_other_threads", directory.path(), &[]);
    };
    refuse(&[libc::SYS_membarrier, libc::SYS_fallocate, libc::SYS_madvise], libc::EPERM);
    let trace = directory.join("trace");
    let session = Session::start(options(&trace, "")).unwrap();
    fire_in_threads();
    stop(session);
    assert!(assert_counted(&trace) > 0);
}
