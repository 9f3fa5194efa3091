//! Runs an example and reads its tasks.
#![allow(dead_code)] // each test uses a part

pub mod core_file;

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use dyntrace_tasks::cell::HeaderLayout;
use dyntrace_tasks::debug_file;
use dyntrace_tasks::dwarf::Types;
use dyntrace_tasks::future::{Descriptors, Layout, Reader, monotonic_now};
use dyntrace_tasks::listing::{Await, Chain, WaitsFor};
use dyntrace_tasks::memory::{Memory, Unreadable};
use dyntrace_tasks::program::Options;

/// A running example.
pub struct Program {
    child: Child,
    path: PathBuf,
    pub file: Vec<u8>,
    pub memory: ProcessMemory,
    pub bias: u64,
    /// Headers by the names that the program printed.
    pub tasks: HashMap<String, u64>,
    /// The other lines.
    pub lines: Vec<String>,
}

pub struct ProcessMemory(File);

impl Memory for ProcessMemory {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        self.0.read_exact_at(bytes, address).map_err(|_| Unreadable { address })
    }
}

/// The example's file: of this build, or of the one that `ci/tasks` names.
pub fn example(name: &str) -> PathBuf {
    if let Some(programs) = std::env::var_os("DYNTRACE_TASKS_PROGRAMS") {
        return PathBuf::from(programs).join(name);
    }
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let path = profile.join("examples").join(name);
    if !path.exists() {
        let release = if profile.ends_with("release") { &["--release"][..] } else { &[] };
        let status = Command::new(env!("CARGO"))
            .args(["build", "-p", "dyntrace-tasks", "--example", name])
            .args(release)
            .status();
        assert!(status.unwrap().success(), "cannot build the example {name}");
    }
    path
}

/// Whether the programs that `ci/tasks` names have tokio in a library. The reader follows trait objects of the program's own file only.
pub fn has_shared_tokio() -> bool {
    std::env::var_os("DYNTRACE_TASKS_SHOWS").is_some_and(|shows| shows == "shared")
}

/// The emulator for the programs that `ci/tasks` names, if they are of another processor. The emulated program has its addresses in the
/// emulator's process.
fn emulator() -> Option<OsString> {
    std::env::var_os("DYNTRACE_TASKS_EMULATOR")
}

/// Whether the programs run in an emulator.
pub fn are_emulated() -> bool {
    emulator().is_some()
}

impl Program {
    pub fn run(name: &str) -> Program {
        Program::start(name, |command| command)
    }

    pub fn run_with(name: &str, arguments: &[&str]) -> Program {
        Program::start(name, |command| command.args(arguments))
    }

    pub fn run_under(name: &str, arguments: &[&str], environment: [(&str, &str); 2]) -> Program {
        Program::start(name, |command| command.args(arguments).envs(environment))
    }

    pub fn run_in(name: &str, folder: &Path) -> Program {
        Program::start(name, |command| command.current_dir(folder))
    }

    fn start(name: &str, set: impl FnOnce(&mut Command) -> &mut Command) -> Program {
        let path = example(name);
        let mut command = Command::new(emulator().unwrap_or_else(|| path.clone().into()));
        if are_emulated() {
            command.arg(&path);
        }
        set(&mut command);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut tasks = HashMap::new();
        let mut lines = Vec::new();
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            if line == "ready" {
                break;
            }
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["task", name, header] => drop(tasks.insert(name.to_owned(), header.parse().unwrap())),
                _ => lines.push(line),
            }
        }
        let pid = child.id();
        // The first thread may have ended.
        let thread = dyntrace_folders::living_thread(pid).unwrap();
        let maps = std::fs::read_to_string(format!("/proc/{thread}/maps")).unwrap();
        let first = maps.lines().find(|line| line.ends_with(path.to_str().unwrap())).unwrap();
        let start = u64::from_str_radix(first.split('-').next().unwrap(), 16).unwrap();
        let file = std::fs::read(&path).unwrap();
        // The addresses of an ET_EXEC file are those of the process.
        let bias = if file[16] == 2 { 0 } else { start };
        let memory = ProcessMemory(File::open(format!("/proc/{thread}/mem")).unwrap());
        Program { child, path, file, memory, bias, tasks, lines }
    }

    /// Opens it for the reader. The file of an emulator's process is the emulator, so its tasks are those of a core file.
    pub fn open(&self) -> dyntrace_tasks::program::Program {
        use dyntrace_tasks::program::Program;

        if !are_emulated() {
            return Program::attach(self.pid(), Options::default()).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let core = folder.path().join("core");
        core_file::write(self.pid(), &core);
        Program::open_core(&core, &self.path, Options::default()).unwrap()
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the numbers of a printed line.
    pub fn printed(&self, name: &str) -> Vec<u64> {
        let line = self.lines.iter().find(|line| line.contains(name)).unwrap();
        line.split(' ').filter_map(|word| word.parse().ok()).collect()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Calls `read` with a function that reads the chain of the task with a header.
pub fn with_reader(program: &Program, read: impl FnOnce(&Types<'_>, &dyn Fn(u64) -> Chain)) {
    let opened = program.open();
    let sections = debug_file::load(&opened.images()[0], None, &mut Vec::new()).unwrap();
    let types = Types::load(&sections).unwrap();
    let ids: HashMap<u64, u64> = program.tasks.values().enumerate().map(|(id, header)| (*header, id as u64)).collect();
    let descriptors = Descriptors::of(program.pid());
    let reader = Reader {
        memory: &program.memory,
        types: &types,
        bias: program.bias,
        descriptors: Some(&descriptors),
        now: Some(monotonic_now()),
        tasks: &|header| ids.get(&header).copied(),
    };
    read(&types, &|header| {
        let vtable = program.memory.word(header + 0x10).unwrap();
        let poll = program.memory.word(vtable).unwrap() - program.bias;
        let scheduler = program.memory.word(vtable + 0x40).unwrap();
        let polled = types.polled(poll);
        assert!(!polled.is_empty(), "no type polls at {poll:#x}");
        let layout = Layout::of(&types, &HeaderLayout::default(), scheduler, &polled[0]);
        layout.map_or(Chain::NoTypes, |layout| reader.chain(header, &layout, None))
    });
}

/// Reads and prints the chain of each task, and returns them by the tasks' names.
pub fn roots(program: &Program) -> HashMap<String, Await> {
    let mut roots = HashMap::new();
    with_reader(program, |_, chain| {
        for (name, header) in &program.tasks {
            let Chain::Read { root } = chain(*header) else { panic!("no chain of {name}") };
            println!("== {name}\n{}", show(&root, 2));
            roots.insert(name.clone(), root);
        }
    });
    roots
}

/// Prints a chain for people that read a failed test.
pub fn show(shown: &Await, indent: usize) -> String {
    let place = shown.place.as_ref().map(|place| format!("  {place}")).unwrap_or_default();
    let waits = shown.waits_for.as_ref().map(|waits| format!("  {waits:?}")).unwrap_or_default();
    let holds = if shown.holds.is_empty() { String::new() } else { format!("  holds {:?}", shown.holds) };
    let more = if shown.more > 0 { format!("  and {} more", shown.more) } else { String::new() };
    let mut text = format!("{:indent$}{}{place}{waits}{holds}{more}\n", "", shown.future);
    for inner in &shown.awaits {
        text += &show(inner, indent + 2);
    }
    text
}

/// The leaves of a chain, in order.
pub fn leaves(shown: &Await) -> Vec<&WaitsFor> {
    shown.waits_for.iter().chain(shown.awaits.iter().flat_map(leaves)).collect()
}
