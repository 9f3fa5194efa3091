//! `dyntrace ps`, `tree` and `why` of a running program that keeps a table of its tasks: what both sources tell is told of the same task.
#![cfg(target_os = "linux")]

#[path = "../../../tests/common/example.rs"]
mod example;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::future::pending;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use dyntrace::process;
use serde_json::Value;
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::yield_now;

use example::example;

const VICTIM: &str = "DYNTRACE_TEST_VICTIM";
const REQUESTS: u64 = 12;
const STRANGERS: u64 = 3;
/// The request that wakes another task.
const WAKES: u64 = 5;
const STANDING: u64 = 50;
const LOOKS: usize = 10;

/// Says which task it is and how often it was polled, and waits for ever. Perhaps it wakes another one before.
async fn request(number: u64, told: Arc<AtomicU64>, wakes: Option<oneshot::Sender<()>>) {
    dyntrace::put_tag(format!("request {number}")).unwrap();
    for _ in 0..number {
        yield_now().await;
    }
    if let Some(wakes) = wakes {
        wakes.send(()).unwrap();
    }
    println!("task {} {} {} {number}", process::current(), tokio::task::id(), number + 1);
    told.fetch_add(1, Ordering::Relaxed);
    dyntrace::wait("the lock", pending::<()>()).await;
}

async fn part(told: Arc<AtomicU64>) {
    println!("part {} {}", process::current(), tokio::task::id());
    told.fetch_add(1, Ordering::Relaxed);
    pending().await
}

async fn whole(told: Arc<AtomicU64>, woken: oneshot::Receiver<()>) {
    println!("whole {} {}", process::current(), tokio::task::id());
    woken.await.unwrap();
    let parts = (process::child(part(Arc::clone(&told))), process::child(part(told)));
    tokio::join!(parts.0, parts.1);
}

async fn hanging() {
    println!("hangs {} {}", process::current(), tokio::task::id());
    loop {
        std::thread::park();
    }
}

async fn standing(number: u64) {
    dyntrace::put_tag(format!("standing {number}")).unwrap();
    println!("task {} {} {number}", process::current(), tokio::task::id());
    loop {
        dyntrace::put_tag(format!("standing {number}")).unwrap();
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
}

/// Tasks that stand, while others come and go.
fn storm() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let entered = runtime.enter();
    let standing: Vec<_> = (0..STANDING).map(|number| dyntrace::spawn(standing(number))).collect();
    drop(entered);
    for _ in 0..4 {
        runtime.spawn(async {
            loop {
                dyntrace::spawn(yield_now()).await.unwrap();
            }
        });
    }
    for task in standing {
        runtime.block_on(task).unwrap();
    }
}

/// The program to read. Its runtime is blocked at the end, so that no task changes while it is read.
#[test]
fn victim() {
    match env::var(VICTIM) {
        Ok(program) if program == "storm" => return storm(),
        Ok(_) => {}
        Err(_) => return,
    }
    Builder::new_current_thread().build().unwrap().block_on(async {
        let (sender, receiver) = mpsc::channel();
        dyntrace::spawn_blocking(move || {
            sender.send((process::current(), tokio::task::id())).unwrap();
            loop {
                std::thread::park();
            }
        });
        let (pid, id) = receiver.recv().unwrap();
        println!("job {pid} {id}");
        for _ in 0..100 {
            dyntrace::spawn(yield_now()).await.unwrap();
        }
        let told = Arc::new(AtomicU64::new(0));
        for _ in 0..STRANGERS {
            tokio::spawn(pending::<()>());
        }
        let (wakes, woken) = oneshot::channel();
        dyntrace::spawn(whole(Arc::clone(&told), woken));
        let mut wakes = Some(wakes);
        for number in 0..REQUESTS {
            dyntrace::spawn(request(number, Arc::clone(&told), wakes.take_if(|_| number == WAKES)));
        }
        while told.load(Ordering::Relaxed) < REQUESTS + 2 {
            yield_now().await;
        }
        let hanging = dyntrace::spawn(hanging());
        // Not polled any more.
        dyntrace::spawn(request(99, told, None));
        hanging.await.unwrap();
    });
}

/// Killed when this is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Program {
    child: Killed,
    /// Pid and tokio's id by the first word of what the program said.
    said: BTreeMap<String, (String, u64)>,
    /// Pid, tokio's id, polls and tag.
    requests: Vec<(String, u64, u64, String)>,
    parts: Vec<String>,
    runtime: tempfile::TempDir,
}

/// `None`, with the reason on standard error, if the machine does not let programs be read.
fn dyntrace(program: &Child, command: &str, arguments: &[&str]) -> Option<String> {
    let mut dyntrace = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
    let pid = program.id().to_string();
    let Output { status, stdout, stderr } = dyntrace.args([command, "-p", &pid]).args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&stderr);
    let told = String::from_utf8(stdout).unwrap();
    if error.contains("ptrace_scope") || told.contains("ptrace_scope") {
        eprintln!("SKIPPED: {error}{told}");
        return None;
    }
    // Part of the tasks may be unknown: these programs have no debug information.
    assert!(matches!(status.code(), Some(0 | 5)), "{command} {arguments:?}: {error}");
    Some(told)
}

impl Program {
    fn start(file: &Path, tasks: &str) -> Program {
        let runtime = tempfile::tempdir().unwrap();
        let mut victim = Command::new(file);
        victim.args(["--exact", "victim", "--nocapture"]).env(VICTIM, "tasks").env("DYNTRACE", tasks);
        let child = victim.env("XDG_RUNTIME_DIR", runtime.path()).stdout(Stdio::piped()).spawn().unwrap();
        let (said, requests, parts) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut program = Program { child: Killed(child), said, requests, parts, runtime };
        const WORDS: [&str; 5] = ["task", "job", "part", "whole", "hangs"];
        for line in BufReader::new(program.child.0.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            // The test harness writes the beginning of the first line.
            let words: Vec<_> = line.split(' ').skip_while(|word| !WORDS.contains(word)).collect();
            let number = |text: &str| text.parse::<u64>().unwrap();
            match words[..] {
                ["task", pid, id, polls, request] => {
                    program.requests.push((pid.to_owned(), number(id), number(polls), format!("request {request}")));
                }
                ["part", pid, _] => program.parts.push(pid.to_owned()),
                [what, pid, id] => {
                    program.said.insert(what.to_owned(), (pid.to_owned(), number(id)));
                    if what == "hangs" {
                        break;
                    }
                }
                _ => {}
            }
        }
        assert_eq!((program.requests.len() as u64, program.parts.len(), program.said.len()), (REQUESTS, 2, 3));
        program
    }

    fn dyntrace(&self, command: &str, arguments: &[&str]) -> Option<String> {
        dyntrace(&self.child.0, command, arguments)
    }

    /// Compares both sources with what the program said of its tasks, and returns the listing.
    fn check(&self) -> Option<Value> {
        let listed: Value = serde_json::from_str(&self.dyntrace("ps", &["--json"])?).unwrap();
        let tasks = listed["tasks"].as_array().unwrap();
        let task = |pid: &str| {
            let found: Vec<_> = tasks.iter().filter(|task| task["table"]["pid"] == pid).collect();
            assert_eq!(found.len(), 1, "{pid} in {tasks:?}");
            found[0]
        };
        for (pid, id, polls, tag) in &self.requests {
            let task = task(pid);
            assert_eq!((&task["id"], task["address"].is_u64()), (&Value::from(*id), true));
            assert_eq!(task["state"]["running"], false);
            let table = &task["table"];
            assert_eq!(
                (&table["id"], &table["polls"], &table["tag"]),
                (&(*id).into(), &(*polls).into(), &(&**tag).into())
            );
            assert_eq!((&table["function"], &table["state"]), (&"table::request".into(), &"idle".into()));
            // A task that yields is woken by its runtime, whose only thread polls it.
            let woken_by = if *polls > 1 { format!("thread {}", table["thread"]).into() } else { Value::Null };
            assert_eq!(table["woken_by"], woken_by);
            let wait = &table["waits_for"];
            assert_eq!((&wait["operation"], &wait["resource"]), (&"wait".into(), &"the lock".into()));
            assert!(wait["place"].as_str().unwrap().contains("tests/table.rs:"));
            let chain = &task["chain"];
            match chain["known_by"].as_str().unwrap() {
                "read" => assert_eq!(chain["root"]["future"], "table::request", "{task}"),
                known_by => assert_eq!(known_by, "no_types", "{task}"),
            }
        }
        for (what, kind) in [("job", "blocking"), ("whole", "future"), ("hangs", "future")] {
            let (pid, id) = &self.said[what];
            let task = task(pid);
            assert_eq!((&task["id"], &task["table"]["kind"]), (&(*id).into(), &kind.into()), "{what}");
            assert_eq!(task["owner"] == 0, what == "job");
        }
        assert_eq!(task(&self.said["hangs"].0)["state"]["running"], true);
        let tag = format!("request {WAKES}");
        let (waker, ..) = self.requests.iter().find(|(.., known)| *known == tag).unwrap();
        assert_eq!(task(&self.said["whole"].0)["table"]["woken_by"], **waker);
        // Futures that are no tasks of their own have the id of the task that polls them.
        for pid in &self.parts {
            let task = task(pid);
            assert!(task["id"].is_null() && task["address"].is_null());
            assert_eq!(task["table"]["id"], self.said["whole"].1);
        }
        let table = &listed["table"];
        assert_eq!(table["file"].as_str().unwrap().rsplit('/').next().unwrap(), format!("{}.tasks", self.child.0.id()));
        // The requests, three of the others, both parts, and one that was not polled, whose pid only types in memory tell.
        let count = REQUESTS + 3 + 2 + 1;
        let unpolled = u64::from(task(&self.requests[0].0)["chain"]["known_by"] != "read");
        assert_eq!((&table["tasks"], &table["only_here"]), (&count.into(), &2.into()));
        assert_eq!(table["unpolled"], unpolled);
        assert_eq!((&table["tasks_elsewhere"], &table["jobs_elsewhere"]), (&STRANGERS.into(), &0.into()));
        let strangers = tasks.iter().filter(|task| task["table"].is_null());
        assert_eq!(strangers.count() as u64, STRANGERS + unpolled);
        Some(listed)
    }
}

#[test]
fn both_sources_are_of_the_same_task() {
    let program = Program::start(&env::current_exe().unwrap(), "tasks");
    if program.check().is_none() {
        return;
    }
    let ps = program.dyntrace("ps", &["--all"]).unwrap();
    let (pid, id, polls, tag) = &program.requests[7];
    let line = ps.lines().find(|line| line.contains(pid)).unwrap();
    for part in [&format!("{id}  {pid}  idle  "), "table::request", &format!("  {tag}  "), &format!("  {polls}  ")] {
        assert!(line.contains(part), "{part}: {ps}");
    }
    assert!(line.contains("  wait the lock for ") && line.contains("tests/table.rs:"), "{ps}");
    assert!(ps.contains(&format!("\n{STRANGERS} tasks are not in the table: ")), "{ps}");
    let part = ps.lines().find(|line| line.contains(&program.parts[0])).unwrap();
    assert!(part.starts_with("-  ") || part.trim_start().starts_with("- "), "{ps}");
    let alike = program.dyntrace("ps", &[]).unwrap();
    let polls: u64 = program.requests.iter().map(|(.., polls, _)| polls).sum();
    let line = alike.lines().find(|line| line.contains("table::request")).unwrap();
    for part in ["12  ", "  (12 different)  ", &format!("  {polls}  ")] {
        assert!(line.contains(part), "{part}: {alike}");
    }

    let row = format!("table: {pid}, tag {tag}, table::request spawned at ");
    for chosen in [pid, tag, &id.to_string()] {
        for command in ["tree", "why"] {
            let told = program.dyntrace(command, &[chosen]).unwrap();
            let line = told.lines().find(|line| line.starts_with("table: ")).unwrap();
            assert!(line.starts_with(&row) && line.contains(" in wait the lock for "), "{command} {chosen}: {told}");
            assert_eq!(told.matches("table: ").count(), 1, "{told}");
        }
    }
}

/// While tasks come and go, each task that stands has its own row, in looks that stop the program and in others. A slot may be left out
/// that changed at each reading, which is told.
#[test]
fn tasks_that_stand_keep_their_rows_in_a_storm() {
    let runtime = tempfile::tempdir().unwrap();
    let mut victim = Command::new(env::current_exe().unwrap());
    victim.args(["--exact", "victim", "--nocapture"]).env(VICTIM, "storm").env("DYNTRACE", "tasks");
    let mut program = Killed(victim.env("XDG_RUNTIME_DIR", runtime.path()).stdout(Stdio::piped()).spawn().unwrap());
    let lines = BufReader::new(program.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.filter_map(|line| {
        let words: Vec<&str> = line.split(' ').skip_while(|word| *word != "task").collect();
        let [_, pid, id, number] = words[..] else { return None };
        Some((id.parse::<u64>().unwrap(), (pid.to_owned(), format!("standing {number}"))))
    });
    let standing: BTreeMap<u64, (String, String)> = said.take(STANDING as usize).collect();
    let mut joined = 0;
    for look in 0..LOOKS {
        let stop: &[&str] = if look % 2 == 0 { &["--json"] } else { &["--json", "--stop"] };
        let Some(ps) = dyntrace(&program.0, "ps", stop) else { return };
        let listed: Value = serde_json::from_str(&ps).unwrap();
        let tasks = listed["tasks"].as_array().unwrap();
        let left_out =
            listed["notes"].as_array().unwrap().iter().any(|note| note.as_str().unwrap().contains("are left out"));
        for (id, (pid, tag)) in &standing {
            let found: Vec<_> = tasks.iter().filter(|task| task["id"] == *id).collect();
            let [task] = &found[..] else { panic!("{id} is there {} times", found.len()) };
            let table = &task["table"];
            if table.is_null() {
                assert!(left_out, "{id} has no row: {}", listed["notes"]);
            } else {
                assert_eq!((&table["pid"], &table["tag"]), (&(&**pid).into(), &(&**tag).into()));
                joined += 1;
            }
            assert!(tasks.iter().filter(|task| task["table"]["pid"] == **pid).count() <= 1);
        }
    }
    assert!(joined > LOOKS as u64 * STANDING * 9 / 10, "{joined}");
}

/// Needs no right to read the program's memory.
#[test]
fn the_table_alone_is_read_if_asked_for() {
    let program = Program::start(&env::current_exe().unwrap(), "tasks");
    let listed: Value = serde_json::from_str(&program.dyntrace("ps", &["--json", "--table"]).unwrap()).unwrap();
    let tasks = listed["tasks"].as_array().unwrap();
    assert_eq!((tasks.len() as u64, &listed["notes"]), (REQUESTS + 3 + 2 + 1, &Value::Array(Vec::new())));
    assert!(tasks.iter().all(|task| task["address"].is_null()), "{listed}");
    for (pid, id, polls, tag) in &program.requests {
        let found: Vec<_> = tasks.iter().map(|task| &task["table"]).filter(|table| table["pid"] == **pid).collect();
        let [table] = found[..] else { panic!("{pid} is there {} times", found.len()) };
        assert_eq!((&table["id"], &table["polls"], &table["tag"]), (&(*id).into(), &(*polls).into(), &(&**tag).into()));
    }
    let ps = program.dyntrace("ps", &["--table"]).unwrap();
    let line = ps.lines().find(|line| line.contains("table::request *")).unwrap();
    // One has not been polled, and is in another line.
    assert!(line.starts_with("   12  ") && line.contains("  wait the lock for "), "{ps}");
    let (pid, .., tag) = &program.requests[7];
    for command in ["tree", "why"] {
        let told = program.dyntrace(command, &[tag, "--table"]).unwrap();
        assert!(told.contains(pid) && told.contains(" in wait the lock for "), "{command}: {told}");
    }

    let mut without = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
    let output = without.args(["ps", "--table", "-p", &std::process::id().to_string()]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(65) && error.contains("start it with DYNTRACE=tasks"), "{error}");
}

/// Without symbols and debug information, the table still names the functions and the waits.
#[test]
fn a_stripped_program_tells_its_waits() {
    let folder = tempfile::tempdir().unwrap();
    let stripped = folder.path().join("stripped");
    fs::copy(env::current_exe().unwrap(), &stripped).unwrap();
    match Command::new("strip").arg(&stripped).status() {
        Ok(status) => assert!(status.success()),
        Err(error) => return eprintln!("SKIPPED: strip: {error}"),
    }
    let program = Program::start(&stripped, "tasks");
    let Some(listed) = program.check() else { return };
    for task in listed["tasks"].as_array().unwrap().iter().filter(|task| !task["address"].is_null()) {
        assert_eq!((&task["future"]["known_by"], &task["chain"]["known_by"]), (&"address".into(), &"no_types".into()));
    }
    let ps = program.dyntrace("ps", &[]).unwrap();
    let line = ps.lines().find(|line| line.contains("table::request *")).unwrap();
    assert!(line.trim_start().starts_with("12  ") && line.contains("  wait the lock for "), "{ps}");
    let why = program.dyntrace("why", &[]).unwrap();
    assert!(why.contains("12 tasks wait at ") && why.contains(" in wait the lock for "), "{why}");
    assert!(why.contains(", tag (12 different), table::request spawned at "), "{why}");
}

/// Adds the pid and the line of each holder that a lock has noted.
fn noted(value: &Value, found: &mut BTreeSet<(String, u64)>) {
    if let Value::Object(fields) = value {
        if let Some(holder) = fields.get("holder").filter(|holder| !holder.is_null()) {
            assert!(holder["place"]["file"].as_str().unwrap().ends_with("examples/held.rs"), "{holder}");
            found.insert((holder["pid"].as_str().unwrap().to_owned(), holder["place"]["line"].as_u64().unwrap()));
        }
        fields.values().for_each(|value| noted(value, found));
    } else if let Value::Array(values) = value {
        values.iter().for_each(|value| noted(value, found));
    }
}

/// A process that no task of tokio's polls is in the table only, whether or not memory can be read.
#[test]
fn a_program_without_a_runtime_tells_its_waits() {
    let runtime = tempfile::tempdir().unwrap();
    let mut by_hand = Command::new(example("by_hand"));
    let child = by_hand.env("DYNTRACE", "tasks").env("XDG_RUNTIME_DIR", runtime.path()).stdout(Stdio::piped());
    let mut program = Killed(child.spawn().unwrap());
    let lines = BufReader::new(program.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said: Vec<String> = lines.take_while(|line| line != "it waits").collect();
    let [pid] = &said[..] else { panic!("{said:?}") };
    let Some(ps) = dyntrace(&program.0, "ps", &["--json"]) else { return };
    let listed: Value = serde_json::from_str(&ps).unwrap();
    let tasks = listed["tasks"].as_array().unwrap();
    let [task] = &tasks[..] else { panic!("{ps}") };
    let table = &task["table"];
    assert!(task["id"].is_null() && table["id"].is_null() && table["pid"] == **pid, "{ps}");
    assert_eq!((&table["polls"], &table["waits_for"]["resource"]), (&1.into(), &"the postman".into()));
    for command in ["ps", "tree", "why"] {
        let told = dyntrace(&program.0, command, &[]).unwrap();
        assert!(
            told.contains(pid) && told.contains("wait the postman for ") && told.contains("by_hand::waits"),
            "{told}"
        );
    }
    assert!(dyntrace(&program.0, "why", &[pid]).unwrap().contains("wait the postman for "));
}

/// Locks of `dyntrace::sync`, in a program whose types are always described, wait, deadlock and name their holders as the program says itself.
#[test]
fn locks_tell_their_holders() {
    let runtime = tempfile::tempdir().unwrap();
    let mut held = Command::new(example("held"));
    let child = held.env("DYNTRACE", "tasks").env("XDG_RUNTIME_DIR", runtime.path()).stdout(Stdio::piped());
    let mut program = Killed(child.spawn().unwrap());
    let lines = BufReader::new(program.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said: Vec<Vec<String>> =
        lines.take_while(|line| line != "all wait").map(|line| line.split(' ').map(str::to_owned).collect()).collect();
    let [cook, morning, evening] = &said[..] else { panic!("{said:?}") };
    let Some(why) = dyntrace(&program.0, "why", &["--json"]) else { return };
    let why: Value = serde_json::from_str(&why).unwrap();
    let mut found = BTreeSet::new();
    noted(&why["tasks"], &mut found);
    let own = |words: &Vec<String>| (words[1].clone(), words[3].parse().unwrap());
    assert_eq!(found, BTreeSet::from([cook, morning, evening].map(own)));
    assert_eq!(why["deadlocks"].as_array().unwrap().len(), 1, "{why}");
    let steps = why["deadlocks"][0]["steps"].as_array().unwrap();
    let ids: BTreeSet<String> = steps.iter().map(|step| step["task"].to_string()).collect();
    assert_eq!(ids, BTreeSet::from([morning[2].clone(), evening[2].clone()]));

    let text = dyntrace(&program.0, "why", &[]).unwrap();
    let place = |words: &Vec<String>| format!(", taken at crates/tasks/examples/held.rs:{}", words[3]);
    for holder in [cook, morning, evening] {
        let told = text.lines().find(|line| line.contains(&format!("the lock says: held by {} for ", holder[1])));
        assert!(told.is_some_and(|line| line.ends_with(&place(holder))), "{holder:?}: {text}");
    }
    // The reader waits for the cook, whose own wait follows.
    let reads = text.split("\n\n").find(|part| part.contains("held::read spawned at")).unwrap();
    assert!(reads.contains(&format!("└─ held by task {}, idle: held::cook (RwLockWriteGuard", cook[2])), "{reads}");
    assert!(reads.contains("for timer in "), "{reads}");
}

/// Its memory is shown as that of a program without a table.
#[test]
fn a_table_that_cannot_be_read_is_a_note() {
    let program = Program::start(&env::current_exe().unwrap(), "tasks");
    let table = program.runtime.path().join(format!("dyntrace/{}.tasks", program.child.0.id()));
    // The program has the file mapped, so it is written in place.
    let file = fs::OpenOptions::new().write(true).open(table).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"no table", 0).unwrap();
    let Some(ps) = program.dyntrace("ps", &[]) else { return };
    assert!(ps.contains("\nnote: cannot read its table of tasks /") && !ps.contains("  PID  "), "{ps}");
    let listed: Value = serde_json::from_str(&program.dyntrace("ps", &["--json"]).unwrap()).unwrap();
    assert!(listed["table"].is_null() && listed["tasks"].as_array().unwrap().len() as u64 > REQUESTS);
}
