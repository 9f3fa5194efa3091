//! A session's filter applies to all events of an operation, on any thread.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::task::{Context, Waker};
use std::time::Instant;

use dyntrace::aio_pool::Pool;
use dyntrace::efile::{Driver, Inline};
use dyntrace::recorder::Filter;
use dyntrace::{fs, process};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::{events_of, traced_by};

/// Runs one operation of each kind with a path of its own through the driver, with the file's name as the tag.
async fn work(path: PathBuf) {
    dyntrace::put_tag(path.file_name().unwrap().to_string_lossy().into_owned()).unwrap();
    let file = fs::File::create(&path).await.unwrap();
    file.sync_data().await.unwrap();
    drop(file);
    assert_eq!(fs::read(&path).await.unwrap(), b"");
    fs::remove_file(&path).await.unwrap();
}

/// Returns the number of recorded events by probe, for a session with a filter and two processes, `mine` and `others`. `filter` gets
/// their working folder and the pid of the first. Checks that no event of the second is recorded.
fn recorded(probes: &[&str], filter: impl FnOnce(&Path, process::Pid) -> Filter) -> BTreeMap<String, usize> {
    let folder = tempfile::tempdir().unwrap();
    let [mine, others] = ["mine", "others"].map(|name| folder.path().join(name));
    let runtime = Builder::new_current_thread().build().unwrap();
    let (tell, told) = oneshot::channel();
    let (begin, begun) = oneshot::channel::<()>();
    let (mine, pid) = runtime.block_on(async {
        let mine = dyntrace::spawn(async {
            tell.send(process::current()).unwrap();
            begun.await.unwrap();
            work(mine).await;
        });
        (mine, told.await.unwrap())
    });
    let events = events_of(probes, filter(folder.path(), pid), || {
        begin.send(()).unwrap();
        runtime.block_on(mine).unwrap();
        runtime.block_on(async { dyntrace::spawn(work(others)).await.unwrap() });
        // A CLOSE that is not awaited ends with the runtime.
        drop(runtime);
    });
    let mut counts = BTreeMap::new();
    for event in events {
        let probe = event.split(' ').next().unwrap();
        if ["efile_drv-", "aio_pool-"].iter().any(|begin| probe.starts_with(begin)) {
            assert!(!event.contains("others"), "{event}");
            *counts.entry(probe.to_owned()).or_default() += 1;
        }
    }
    counts
}

const WHOLE: [&str; 6] = [
    "aio_pool-add",
    "aio_pool-get",
    "efile_drv-entry",
    "efile_drv-int_entry",
    "efile_drv-int_return",
    "efile_drv-return",
];

/// Checks that all probes have this count.
fn assert_whole(counts: &BTreeMap<String, usize>) -> usize {
    let operations = counts.get("efile_drv-entry").copied().unwrap_or_default();
    assert_eq!(*counts, WHOLE.map(|probe| (probe.to_owned(), operations)).into());
    operations
}

fn filter(change: impl FnOnce(&mut Filter)) -> Filter {
    let mut filter = Filter::default();
    change(&mut filter);
    filter
}

#[test]
fn every_event_of_an_operation_or_none() {
    let of_tag = recorded(&[], |_, _| filter(|filter| filter.tag = Some("mi*".into())));
    let all = assert_whole(&of_tag);
    // OPEN, FDATASYNC, CLOSE, READ_FILE, DELETE.
    assert_eq!(all, 5);
    let of_process = recorded(&[], |_, pid| filter(|filter| filter.process = Some(pid)));
    assert_eq!(of_process, of_tag);
    let on_path = recorded(&[], |folder, _| {
        let mine = folder.join("mi*").display().to_string();
        filter(|filter| filter.path = Some(mine.as_str().into()))
    });
    assert!((1..all).contains(&assert_whole(&on_path)), "those of the open file have no path: {on_path:?}");
    let of_nobody = recorded(&[], |_, _| filter(|filter| filter.tag = Some("nobody".into())));
    assert_eq!(of_nobody, BTreeMap::new());
    // The entries are not recorded, but still decide.
    let inside = recorded(&["efile_drv-int_*"], |_, _| filter(|filter| filter.tag = Some("mine".into())));
    let expected = ["efile_drv-int_entry", "efile_drv-int_return"].map(|probe| (probe.to_owned(), all));
    assert_eq!(inside, expected.into());
}

/// A shutdown takes the operations of all tasks out of the queues, on one thread.
#[test]
fn operations_that_a_shutdown_refuses_keep_their_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let mine = folder.path().join("mi*").display().to_string();
    let pool = Pool::builder().threads(0).build();
    let driver = Driver::new(pool.clone()).inline(Inline::Off);
    let events = events_of(&["aio_pool-get"], filter(|filter| filter.path = Some(mine.as_str().into())), || {
        let options = fs::OpenOptions::new().read(true).clone();
        let mut opens = ["mine", "others"].map(|name| Box::pin(options.open_with(&driver, folder.path().join(name))));
        for open in &mut opens {
            assert!(open.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        pool.shutdown();
    });
    let taken = events.iter().filter(|event| event.starts_with("aio_pool-get ")).count();
    assert_eq!(taken, 1, "{events:?}");
}

/// An operation of an earlier session of the same slot is none that a later session has seen, whatever the earlier one decided.
#[test]
fn a_later_session_takes_no_operation_of_an_earlier_one() {
    let folder = tempfile::tempdir().unwrap();
    let pool = Pool::builder().threads(0).build();
    let driver = Driver::new(pool.clone()).inline(Inline::Off);
    let options = fs::OpenOptions::new().read(true).clone();
    let mut open = Box::pin(options.open_with(&driver, folder.path().join("mine")));
    let entries = events_of(&["efile_drv-*", "aio_pool-*"], Filter::default(), || {
        assert!(open.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    });
    assert!(entries.iter().any(|event| event.starts_with("efile_drv-entry ")), "{entries:?}");
    // All conditions but that of the entry are met.
    let all = filter(|filter| filter.command = Some(dyntrace::efile::Command::Open.number().into()));
    let later = events_of(&["efile_drv-*", "aio_pool-*"], all, || {
        pool.shutdown();
        assert!(open.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    });
    assert!(!later.iter().any(|event| event.starts_with("efile") || event.starts_with("aio")), "{later:?}");
}

/// Returns the number of recorded events by probe, of `ALL` operations, in a session limited to three a second. Checks that the others
/// are counted.
fn limited(probes: &[&str]) -> BTreeMap<String, usize> {
    const ALL: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    let runtime = Builder::new_current_thread().build().unwrap();
    let begun = Instant::now();
    let act = || {
        runtime.block_on(async {
            for _ in 0..ALL {
                fs::metadata(folder.path()).await.unwrap();
            }
        });
    };
    let most = filter(|filter| filter.rate = Some(3));
    traced_by(probes, most, act, |(), trace| {
        let mut counts = BTreeMap::<String, usize>::new();
        for event in trace.events().filter(|event| event.class.provider() == "dyntrace") {
            *counts.entry(event.class.probe().to_owned()).or_default() += 1;
        }
        // In clock seconds: the run may begin in one and end in another.
        let seconds = begun.elapsed().as_secs() as usize + 2;
        let recorded = counts["efile_drv-return"];
        assert!((3..=3 * seconds).contains(&recorded), "{counts:?}");
        let losses = trace.losses();
        let [lost] = &losses.discarded[..] else { panic!("{losses:?}") };
        assert_eq!((lost.count as usize, lost.reason()), (ALL - recorded, "their rate exceeded the limit"));
        counts
    })
}

#[test]
fn so_many_whole_operations_in_a_second_and_the_others_counted() {
    assert_whole(&limited(&["efile_drv-*", "aio_pool-*"]));
    let ends = limited(&["efile_drv-return"]);
    assert_eq!(ends.len(), 1, "{ends:?}");
}
