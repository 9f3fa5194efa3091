//! Everything that the reader says of the example `dyntrace_waits`, which uses dyntrace's locks and file operations, is true.

mod program;

use dyntrace::efile::Command;
use dyntrace_tasks::listing::{FileOperation, SemaphoreOf, Stage, WaitsFor};
use program::{Program, leaves, roots};

const LOCKS: [(&str, SemaphoreOf); 12] = [
    ("MutexGuard", SemaphoreOf::Mutex),
    ("OwnedMutexGuard", SemaphoreOf::Mutex),
    ("MappedMutexGuard", SemaphoreOf::Mutex),
    ("OwnedMappedMutexGuard", SemaphoreOf::Mutex),
    ("RwLockReadGuard", SemaphoreOf::RwLock),
    ("OwnedRwLockReadGuard", SemaphoreOf::RwLock),
    ("RwLockWriteGuard", SemaphoreOf::RwLock),
    ("OwnedRwLockWriteGuard", SemaphoreOf::RwLock),
    ("RwLockMappedWriteGuard", SemaphoreOf::RwLock),
    ("OwnedRwLockMappedWriteGuard", SemaphoreOf::RwLock),
    ("SemaphorePermit", SemaphoreOf::Semaphore),
    ("OwnedSemaphorePermit", SemaphoreOf::Semaphore),
];

/// Whether dyntrace itself is compiled with types. A `File` keeps its operation in a box, whose type only dyntrace's own debug
/// information has; CI leaves that out to save space.
fn has_own_types() -> bool {
    option_env!("CARGO_PROFILE_DEV_DEBUG").is_none_or(|debug| ["2", "full", "true"].contains(&debug))
}

/// The waits of the futures by hand, without addresses.
fn by_hand(program: &Program) -> Vec<Vec<String>> {
    let roots = roots(program);
    let kind = |waits: &&WaitsFor| match waits {
        WaitsFor::Channel { channel, address: Some(_) } => (*channel).to_owned(),
        other => format!("{other:?}"),
    };
    ["by_hand", "around"].map(|name| leaves(&roots[name]).iter().map(kind).collect()).into()
}

/// A process has a waker of its own while the program keeps a table of its tasks. It is taken for the task's.
#[test]
fn a_program_with_a_table_shows_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let of_run = |run: &str, tasks: &str| {
        let place = folder.path().join(run);
        std::fs::create_dir(&place).unwrap();
        let environment = [("XDG_RUNTIME_DIR", place.to_str().unwrap()), ("DYNTRACE", tasks)];
        let mut program = Program::run_under("dyntrace_waits", &[place.to_str().unwrap()], environment);
        // In a process, the program prints where its own waker is.
        program.tasks.retain(|name, _| ["by_hand", "around"].contains(&&**name));
        let is_kept = place.join("dyntrace").join(format!("{}.tasks", program.pid())).exists();
        (by_hand(&program), is_kept)
    };
    let (without, kept) = (of_run("without", ""), of_run("kept", "tasks"));
    assert_eq!((without.1, kept.1), (false, true));
    assert_eq!(kept.0, without.0);
    assert!(kept.0.iter().all(|leaves| leaves.iter().all(|leaf| leaf == "mpsc") && !leaves.is_empty()), "{kept:?}");
}

#[test]
fn locks_of_dyntrace_and_its_file_operations_are_true() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::run_with("dyntrace_waits", &[folder.path().to_str().unwrap()]);
    let roots = roots(&program);
    let leaf = |name: &str| {
        let leaves = leaves(&roots[name]);
        assert_eq!(leaves.len(), 1, "leaves of {name}");
        leaves[0]
    };

    for (lock, owner) in LOCKS {
        let holder = &roots[lock];
        assert!(holder.future.ends_with("::holds"), "{}", holder.future);
        let [guard] = &holder.holds[..] else { panic!("guards of {lock}") };
        assert!(guard.guard.starts_with(lock) && guard.variable == "guard", "{guard:?}");
        let WaitsFor::Semaphore { address, of, name, .. } = leaf(&format!("for_{lock}")) else {
            panic!("no semaphore")
        };
        assert_eq!((*address, *of), (guard.semaphore, owner), "{lock}");
        assert_eq!(name.as_deref(), (lock == "MutexGuard").then_some("till"), "{lock}");
        // The program prints the lines of its calls that lock.
        let taken = guard.taken.as_ref().map(|taken| u64::from(taken.line));
        let shared = lock.ends_with("ReadGuard") || owner == SemaphoreOf::Semaphore;
        assert_eq!(taken, (!shared).then(|| program.printed(&format!("takes {lock} "))[0]), "{lock}");
    }

    let file = |name: &str| match leaf(name) {
        WaitsFor::File(operation) => FileOperation::clone(operation),
        other => panic!("no file operation: {other:?}"),
    };
    let path = |name: &str| vec![folder.path().join(name).to_str().unwrap().to_owned()];
    let command = |operation: &FileOperation| {
        Command::ALL.iter().copied().find(|command| command.number() == operation.command).unwrap()
    };
    // One thread of the pool is in the call, by the kernel's account.
    let caller = |operation: &FileOperation| {
        let [caller] = &operation.callers[..] else { panic!("callers: {operation:?}") };
        let comm = std::fs::read_to_string(format!("/proc/{}/task/{}/comm", program.pid(), caller.tid)).unwrap();
        assert!(comm.trim_end() == caller.name && comm.starts_with("dyntrace-"), "{caller:?}");
        caller.system_call
    };

    let opens = file("opens");
    assert_eq!((command(&opens), &opens.paths, opens.descriptor), (Command::Open, &path("opened"), None));
    assert_eq!((opens.user_tag.as_deref(), opens.stage), (Some("order-7"), Some(Stage::Running)));
    assert!(opens.id.is_some_and(|id| id.thread > 0 && id.tag > 0));
    assert_eq!(caller(&opens), "openat");
    assert_eq!(roots["opens"].user_tag.as_deref(), Some("order-7"));

    let whole = file("reads_whole");
    assert_eq!((command(&whole), &whole.paths, whole.user_tag.as_deref()), (Command::ReadFile, &path("whole"), None));
    assert_eq!(caller(&whole), "openat");
    assert_eq!(roots["reads_whole"].user_tag, None);

    if has_own_types() {
        let reads = file("reads");
        assert_eq!((command(&reads), &reads.paths, reads.stage), (Command::Read, &path("read"), Some(Stage::Running)));
        let link = format!("/proc/{}/fd/{}", program.pid(), reads.descriptor.unwrap());
        assert_eq!(std::fs::read_link(link).unwrap(), folder.path().join("read"));
        assert_eq!(caller(&reads), "read");

        let writes = file("writes");
        assert_eq!((command(&writes), writes.stage), (Command::Write, None));
    } else {
        assert_eq!([leaf("reads"), leaf("writes")], [&WaitsFor::UnknownLeaf; 2]);
    }

    let syncs = file("syncs");
    assert_eq!((command(&syncs), &syncs.paths, syncs.stage), (Command::Fdatasync, &path("synced"), None));
    assert_eq!(syncs.callers, []);

    let queued = file("queued");
    assert_eq!((command(&queued), &queued.paths, queued.stage), (Command::Open, &path("queued"), Some(Stage::Queued)));
    assert_eq!(queued.callers, []);

    let WaitsFor::Join { address, .. } = leaf("joins") else { panic!("{:?}", leaf("joins")) };
    assert_eq!(*address, program.tasks["joined"]);
    let WaitsFor::Channel { channel: "mpsc", .. } = leaf("receives") else { panic!("{:?}", leaf("receives")) };
    let WaitsFor::Semaphore { of: SemaphoreOf::Channel, .. } = leaf("sends") else { panic!("{:?}", leaf("sends")) };

    let WaitsFor::Job { job, stage: Stage::Running } = leaf("computes") else { panic!("{:?}", leaf("computes")) };
    assert_eq!(&**job, "Sleeps");
}
