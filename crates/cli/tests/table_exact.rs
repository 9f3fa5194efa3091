//! `dyntrace ps -p` of a program that keeps a table while its tasks come and go: it lists none twice, none that ended before the reading
//! began, and each that lived through it.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::env;
use std::future::poll_fn;
use std::io::{BufRead as _, BufReader, Lines, Write as _, stdin};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use dyntrace::task::JoinHandle;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::{Id, yield_now};

const VICTIM: &str = "DYNTRACE_TEST_VICTIM";
/// Each spawns a task, awaits it, and spawns the next one.
const LANES: usize = 4;
const STANDING: usize = 100;
/// Standing tasks that end at each mark, and new ones that take their place.
const RENEWED: usize = 20;
const LOOKS: usize = 12;

/// The tasks, as the program itself counts them. The standing ones live until the next mark.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Mark {
    /// The number of the last task of each lane that has ended.
    ended: Vec<u64>,
    /// Their ids.
    ids: Vec<u64>,
    /// The lanes' own ids.
    lanes: Vec<u64>,
    /// The ids of standing tasks, by their numbers.
    standing: BTreeMap<u64, u64>,
}

/// The last task of a lane that has ended.
#[derive(Default)]
struct Ended {
    id: AtomicU64,
    number: AtomicU64,
}

/// Spawns a task that has its tag from the beginning.
fn tagged(tag: String, future: impl Future<Output = ()> + Send + 'static) -> impl Future<Output = JoinHandle<()>> {
    let mut future = Some(future);
    dyntrace::with_tag(tag, poll_fn(move |_| Poll::Ready(dyntrace::spawn(future.take().unwrap()))))
}

async fn passing() {
    yield_now().await;
}

async fn lane(lane: usize, ended: Arc<[Ended; LANES]>) {
    for number in 1.. {
        let task = tagged(format!("lane {lane}, {number}"), passing()).await;
        let id = task.id().to_string().parse().unwrap();
        task.await.unwrap();
        ended[lane].id.store(id, Ordering::SeqCst);
        ended[lane].number.store(number, Ordering::SeqCst);
    }
}

async fn standing(polled: oneshot::Sender<()>) {
    polled.send(()).unwrap();
    loop {
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
}

/// Spawns a standing task, and waits until it has been polled: before that, the table does not know its id.
fn stand(runtime: &Runtime, number: u64) -> JoinHandle<()> {
    let (sender, polled) = oneshot::channel();
    let task = runtime.block_on(tagged(format!("standing {number}"), standing(sender)));
    runtime.block_on(polled).unwrap();
    task
}

/// The program to read. At each line of its standard input it renews standing tasks, and makes a mark.
#[test]
fn victim() {
    if env::var_os(VICTIM).is_none() {
        return;
    }
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let ended = Arc::<[Ended; LANES]>::default();
    let id = |id: Id| id.to_string().parse::<u64>().unwrap();
    let lanes = (0..LANES).map(|number| id(runtime.spawn(lane(number, Arc::clone(&ended))).id())).collect();
    let mut mark = Mark { lanes, ..Mark::default() };
    let mut tasks = VecDeque::new();
    let mut numbers = 0..;
    for _ in stdin().lines() {
        for (number, task) in tasks.drain(..RENEWED.min(tasks.len())) {
            let task: JoinHandle<()> = task;
            task.abort();
            assert!(runtime.block_on(task).unwrap_err().is_cancelled());
            mark.standing.remove(&number);
        }
        while tasks.len() < STANDING {
            let number = numbers.next().unwrap();
            let task = stand(&runtime, number);
            mark.standing.insert(number, id(task.id()));
            tasks.push_back((number, task));
        }
        mark.ids = ended.iter().map(|ended| ended.id.load(Ordering::SeqCst)).collect();
        mark.ended = ended.iter().map(|ended| ended.number.load(Ordering::SeqCst)).collect();
        println!("mark {}", serde_json::to_string(&mark).unwrap());
    }
}

/// Killed when this is dropped.
struct Program {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    _runtime: tempfile::TempDir,
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Program {
    fn start() -> Program {
        let runtime = tempfile::tempdir().unwrap();
        let mut victim = Command::new(env::current_exe().unwrap());
        victim.args(["--exact", "victim", "--nocapture"]).env(VICTIM, "1").env("DYNTRACE", "tasks");
        victim.env("XDG_RUNTIME_DIR", runtime.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = victim.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Program { input: child.stdin.take().unwrap(), output, child, _runtime: runtime }
    }

    fn mark(&mut self) -> Mark {
        self.input.write_all(b"mark\n").unwrap();
        // The test harness writes the beginning of the first line.
        let said = self.output.find_map(|line| Some(line.unwrap().split_once("mark ")?.1.to_owned()));
        serde_json::from_str(&said.expect("the program has ended")).unwrap()
    }

    /// `None`, with the reason on standard error, if the machine does not let programs be read.
    fn listed(&self, stop: bool) -> Option<Value> {
        let mut ps = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
        ps.args(["ps", "--json", "-p", &self.child.id().to_string()]).args(stop.then_some("--stop"));
        let output = ps.output().unwrap();
        let (error, told) = (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        if error.contains("ptrace_scope") || told.contains("ptrace_scope") {
            eprintln!("SKIPPED: {error}{told}");
            return None;
        }
        assert!(matches!(output.status.code(), Some(0 | 5)), "{error}");
        Some(serde_json::from_str(&told).unwrap())
    }
}

/// Slots that changed at each reading: they are left out, which is told.
fn left_out(listed: &Value) -> usize {
    let notes = listed["notes"].as_array().unwrap().iter().map(|note| note.as_str().unwrap());
    let told = notes.filter_map(|note| note.split_once(" slots are left out")?.0.parse::<usize>().ok());
    told.sum()
}

/// Compares the tasks in memory, without jobs, with a mark before the reading. Tasks that have ended, and are being freed, are complete.
fn check_memory(tasks: &[Value], mark: &Mark) {
    let is_task = |task: &&Value| task["address"].is_u64() && task["owner"] != 0;
    let lives = tasks.iter().filter(is_task).filter(|task| task["state"]["complete"] == false);
    let ids: Vec<u64> = lives.map(|task| task["id"].as_u64().unwrap()).collect();
    let different: BTreeSet<u64> = ids.iter().copied().collect();
    assert_eq!(different.len(), ids.len(), "no task twice: {ids:?}");
    let stand: BTreeSet<u64> = mark.standing.values().chain(&mark.lanes).copied().collect();
    assert_eq!(stand.difference(&different).count(), 0, "a task is missing that lived");
    let least = mark.ids.iter().min().unwrap();
    let ended: Vec<_> = different.difference(&stand).filter(|id| *id <= least).collect();
    assert!(ended.is_empty(), "{ended:?} had ended, as had all but {stand:?} up to {least}");
}

/// Compares the tasks of the table with marks before and after the reading, and returns how many tasks of the lanes it has.
fn check_table(listed: &Value, before: &Mark, after: &Mark) -> usize {
    let rows: Vec<&Value> =
        listed["tasks"].as_array().unwrap().iter().filter(|task| !task["table"].is_null()).collect();
    let pids: BTreeSet<&str> = rows.iter().map(|task| task["table"]["pid"].as_str().unwrap()).collect();
    assert_eq!(pids.len(), rows.len(), "no task twice");
    let (mut stood, mut passed) = (BTreeSet::new(), BTreeSet::new());
    for row in rows {
        let tag = row["table"]["tag"].as_str().unwrap();
        if let Some(number) = tag.strip_prefix("standing ") {
            let number: u64 = number.parse().unwrap();
            assert!(stood.insert(number), "{tag}: twice");
            let id = before.standing.get(&number).unwrap_or_else(|| panic!("{tag} had ended"));
            assert_eq!(row["id"], *id, "{tag}");
        } else {
            let (lane, number) = tag.strip_prefix("lane ").and_then(|tag| tag.split_once(", ")).unwrap();
            let (lane, number): (usize, u64) = (lane.parse().unwrap(), number.parse().unwrap());
            assert!(number > before.ended[lane], "{tag} had ended, as had all up to {}", before.ended[lane]);
            assert!(number <= after.ended[lane] + 1, "{tag} had not begun: {} had ended after it", after.ended[lane]);
            assert!(passed.insert((lane, number)), "{tag}: twice");
        }
    }
    let missing = before.standing.keys().filter(|number| !stood.contains(number)).count();
    assert!(missing <= left_out(listed), "{missing} of {STANDING} are missing: {}", listed["notes"]);
    passed.len()
}

#[test]
fn tasks_that_come_and_go_are_listed_exactly() {
    let mut program = Program::start();
    let mut before = program.mark();
    let first = before.ended.clone();
    let mut passed = 0;
    for look in 0..LOOKS {
        let Some(listed) = program.listed(look % 2 == 1) else { return };
        let after = program.mark();
        check_memory(listed["tasks"].as_array().unwrap(), &before);
        passed += check_table(&listed, &before, &after);
        before = after;
    }
    assert!(first.iter().zip(&before.ended).all(|(first, last)| first < last), "{first:?}, {:?}", before.ended);
    assert!(passed > 0, "no look has seen a task that came and went");
}
