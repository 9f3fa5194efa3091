//! A full or read-only disk, and files that cannot grow or be opened.

use std::fs;
use std::path::{Path, PathBuf};

use dyntrace::recorder::Session;

use crate::support::{alone, fire, inside_of, options, read, read_by_babeltrace, run, stop, times};

/// Runs a test again with a private file system at `directory`. Returns false if it cannot be mounted here.
fn with_file_system(test: &str, mount_options: &str) -> bool {
    let directory = tempfile::tempdir().unwrap();
    let own = ["unshare", "--mount", "--map-root-user"];
    let shell = format!("mount -t tmpfs -o {mount_options} none '{}' && exec \"$@\"", directory.path().display());
    let mut trial = std::process::Command::new(own[0]);
    let trial = trial.args(&own[1..]).args(["sh", "-c", &shell, "sh", "true"]).output();
    if !trial.as_ref().is_ok_and(|trial| trial.status.success()) {
        crate::missing::skip("mounts", &format!("{test}: no file system can be mounted here: {trial:?}"));
        return false;
    }
    run(test, directory.path(), &[own[0], own[1], own[2], "sh", "-c", &shell, "sh"]);
    true
}

/// Fires, stops, and compares the trace with the fired events.
fn record_and_compare(session: Session, trace: &Path, events: i32) -> u64 {
    (1..=events).for_each(|number| fire(1, number));
    let summary = stop(session);
    read_by_babeltrace(trace);
    let found = read(trace).remove(&1).unwrap_or_default();
    assert_eq!(found.len() as u64 + summary.status.discarded, events as u64, "what is lost is counted");
    // A shorter event may have room where a long one has none.
    assert!(found[0] == 1 && found.is_sorted_by(|before, next| before < next), "{found:?}");
    summary.status.discarded
}

/// Fills a file system with a file, and returns its path.
fn fill(directory: &Path) -> PathBuf {
    let path = directory.join("filler");
    fs::write(&path, vec![1; 16 << 20]).unwrap_err();
    path
}

#[test]
fn a_full_disk_costs_new_events_and_nothing_else() {
    let Some(directory) = inside_of() else {
        with_file_system("disk::a_full_disk_costs_new_events_and_nothing_else", "size=8m");
        return;
    };
    let trace = directory.join("trace");
    let session = Session::start(options(&trace, "")).unwrap();
    assert!(record_and_compare(session, &trace, 200_000) > 0);
    // Space that the session prepared and did not use is free again.
    fill(&directory);
    let full = Session::start(options(&directory.join("another"), "")).unwrap_err();
    assert!(full.io().raw_os_error() == Some(libc::ENOSPC) && full.to_string().contains("free space"), "{full}");
    // There is room again, and recording continues.
    fs::remove_dir_all(&trace).unwrap();
    let _ = fs::remove_dir_all(directory.join("another"));
    let session = Session::start(options(&trace, ",size=1M")).unwrap();
    assert_eq!(record_and_compare(session, &trace, 1_000), 0);
}

/// The disk fills up during a session, and has room again later.
#[test]
fn a_disk_that_is_full_for_a_while_costs_events_of_that_while() {
    let Some(directory) = inside_of() else {
        with_file_system("disk::a_disk_that_is_full_for_a_while_costs_events_of_that_while", "size=8m");
        return;
    };
    let trace = directory.join("trace");
    let session = Session::start(options(&trace, "")).unwrap();
    let filler = fill(&directory);
    let mut number = 0;
    let mut fire_next = || {
        number += 1;
        fire(1, number);
    };
    let discarded = || session.status().unwrap().discarded;
    while discarded() == 0 {
        fire_next();
    }
    fs::remove_file(&filler).unwrap();
    loop {
        let before = discarded();
        fire_next();
        if discarded() == before {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let summary = stop(session);
    read_by_babeltrace(&trace);
    let found = read(&trace).remove(&1).unwrap();
    assert_eq!(found.len() as u64 + summary.status.discarded, number as u64);
    assert_eq!(*found.last().unwrap(), i64::from(number));
}

#[test]
fn a_disk_that_may_not_be_written_is_refused_by_name() {
    let Some(directory) = inside_of() else {
        with_file_system("disk::a_disk_that_may_not_be_written_is_refused_by_name", "ro");
        return;
    };
    let trace = directory.join("trace");
    let error = Session::start(options(&trace, "")).unwrap_err();
    assert_eq!(error.io().raw_os_error(), Some(libc::EROFS));
    let text = error.to_string();
    assert!(text.contains(trace.to_str().unwrap()) && text.contains("may write to"), "{text}");
    assert!(!dyntrace::probes::efile_drv::entry::is_enabled());
}

#[test]
fn a_file_of_full_size_costs_new_events() {
    let _alone = alone();
    for mode in ["stream", "discard"] {
        let directory = tempfile::tempdir().unwrap();
        let session = Session::start(options(directory.path(), &format!(",size=256K,mode={mode}"))).unwrap();
        let folder = session.status().unwrap().folder;
        assert!(record_and_compare(session, directory.path(), times(20_000, 200_000) as i32) > 0);
        for file in fs::read_dir(folder).unwrap().map(|file| file.unwrap()) {
            assert!(file.metadata().unwrap().len() <= 256 << 10, "{file:?}");
        }
    }
}

#[test]
fn without_descriptors_a_session_is_refused_and_threads_that_come_lose_theirs() {
    let Some(directory) = inside_of() else {
        let directory = tempfile::tempdir().unwrap();
        return run(
            "disk::without_descriptors_a_session_is_refused_and_threads_that_come_lose_theirs",
            directory.path(),
            &[],
        );
    };
    let start = |name| Session::start(options(&directory.join(name), ""));
    let before = limit_descriptors(Some(3));
    let error = start("none").unwrap_err();
    assert_eq!(error.io().raw_os_error(), Some(libc::EMFILE), "{error}");
    assert!(error.to_string().contains("ulimit -n"), "{error}");
    limit_descriptors(Some(before));
    let session = start("some").unwrap();
    // From here on no ring can be created.
    limit_descriptors(Some(3));
    let threads = 100;
    let hold = std::sync::Barrier::new(threads);
    std::thread::scope(|scope| {
        for line in 0..threads as i32 {
            let hold = &hold;
            scope.spawn(move || {
                fire(line, 1);
                hold.wait();
            });
        }
    });
    limit_descriptors(Some(before));
    let discarded = stop(session).status.discarded as usize;
    let found = read(&directory.join("some")).len();
    assert!(found > 0 && discarded > 0 && found + discarded == threads, "{found} found, {discarded} lost");
}

/// Sets the limit of descriptors, and returns the old one.
fn limit_descriptors(limit: Option<libc::rlim_t>) -> libc::rlim_t {
    let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the calls read and write plain data.
    unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &mut now), 0);
        let new = libc::rlimit { rlim_cur: limit.unwrap_or(now.rlim_cur), ..now };
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &new), 0);
    }
    now.rlim_cur
}
