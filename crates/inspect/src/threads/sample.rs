//! Threads made by hand, with each variant of the answer.

use dyntrace_tasks::listing::SourceLine;
use dyntrace_tasks::threads::{Activity, Ending, Frame, Role, SystemCall, Thread, Threads};

fn frame(function: &str, place: Option<(&str, u32)>) -> Frame {
    Frame {
        address: 0x1234,
        image: "app".into(),
        function: Some(function.into()),
        place: place.map(|(file, line)| SourceLine { file: file.into(), line }),
        inlined: false,
    }
}

fn of_library(function: Option<&str>) -> Frame {
    Frame { image: "libc.so.6".into(), function: function.map(str::to_owned), ..frame("", None) }
}

fn thread(tid: u32, role: Role, activity: Option<Activity>, frames: Vec<Frame>) -> Thread {
    Thread {
        tid,
        name: "tokio-rt-worker".into(),
        role,
        activity,
        task: None,
        owner: None,
        job: None,
        state: 'S',
        system_call: None,
        kernel_function: None,
        cpu_time: Some(4_000_000),
        frames,
        ending: Ending::Complete,
        at: None,
        held: Some(50_000),
    }
}

fn call(number: u64, name: Option<&'static str>, descriptor: Option<i32>) -> Option<SystemCall> {
    Some(SystemCall { number, name, descriptor })
}

/// The functions below those of a worker's task.
fn worker() -> [Frame; 3] {
    [
        frame("tokio::runtime::scheduler::multi_thread::worker::run", Some(("tokio-1.54.1/src/worker.rs", 549))),
        frame(
            "<alloc::boxed::Box<dyn core::ops::function::FnOnce<()>> as core::ops::function::FnOnce<()>>::call_once",
            None,
        ),
        of_library(None),
    ]
}

pub fn threads() -> Threads {
    let polls = |tid, task| {
        let mut frames = vec![
            frame("core::hint::black_box", Some(("core/src/hint.rs", 491))),
            frame("sha2::compress", Some(("sha2-0.10.9/src/sha256.rs", 7))),
            frame("sha2::digest", Some(("sha2-0.10.9/src/lib.rs", 5))),
            frame("app::digest", Some(("src/digest.rs", 17))),
            frame("app::serve::{closure}", Some(("src/main.rs", 40))),
            frame("<tower::util::Oneshot<S> as core::future::Future>::poll", None),
            frame("hyper::proto::poll_loop", Some(("hyper-1.12.0/src/dispatch.rs", 174))),
            frame("axum::serve::handle_connection::{closure}", Some(("axum-0.8.9/src/serve.rs", 400))),
        ];
        frames.extend(worker());
        let thread = thread(tid, Role::Worker, Some(Activity::Polls), frames);
        Thread { state: 'R', task, job: Some(u64::from(tid)), cpu_time: Some(90_000_000_000), ..thread }
    };
    let idle = |tid| {
        let mut frames = vec![of_library(Some("epoll_wait"))];
        frames.extend(worker());
        let thread = thread(tid, Role::Worker, Some(Activity::Idle), frames);
        Thread { system_call: call(232, Some("epoll_wait"), Some(3)), ..thread }
    };
    let bare = |tid, ending| Thread { ending, held: None, ..thread(tid, Role::Runtime, None, Vec::new()) };
    let main = thread(
        1,
        Role::BlockOn,
        Some(Activity::Idle),
        vec![of_library(Some("syscall")), frame("app::main", Some(("src/main.rs", 9))), frame("main", None)],
    );
    let job = thread(
        8,
        Role::Blocking,
        Some(Activity::Runs),
        vec![of_library(Some("read")), frame("app::read\x1b[2J", Some(("src/read.rs", 3)))],
    );
    let nameless = || Frame { function: None, ..frame("", None) };
    let foreign = thread(
        9,
        Role::Other,
        None,
        vec![
            of_library(Some("clock_nanosleep")),
            nameless(),
            nameless(),
            frame("render", None),
            nameless(),
            frame("main", None),
        ],
    );
    let unknown = Frame { image: String::new(), function: None, ..frame("", None) };
    let threads = vec![
        Thread { name: "app".into(), system_call: call(202, Some("futex"), None), ..main },
        polls(2, Some(17)),
        polls(3, Some(18)),
        polls(4, None),
        idle(5),
        idle(6),
        idle(7),
        idle(70),
        Thread { job: Some(31), system_call: call(0, Some("read"), Some(0)), ..job },
        Thread { name: "a\x1b[2J".into(), system_call: call(219, Some("restart_syscall"), None), ..foreign },
        Thread {
            system_call: call(999, None, None),
            cpu_time: None,
            ending: Ending::UnknownCode,
            ..thread(10, Role::Other, None, vec![unknown])
        },
        Thread {
            ending: Ending::Cut,
            ..thread(11, Role::Blocking, Some(Activity::Runs), vec![frame("app::deep", None)])
        },
        Thread { state: 'D', kernel_function: Some("folio_wait".into()), ..bare(12, Ending::NotStopped) },
        Thread { state: 't', ..bare(13, Ending::Traced) },
        bare(14, Ending::Refused),
        Thread { state: 'Z', ..bare(15, Ending::Ended) },
        Thread { state: 'T', ..bare(16, Ending::Refused) },
        Thread { state: 'P', ..bare(17, Ending::Refused) },
    ];
    Threads { threads, notes: vec!["app\x1b[2J: the file has no debug information".to_owned()], ..Threads::default() }
}
