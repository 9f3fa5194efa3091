//! The traced programs, and their own counts.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::machine;

/// Runs of `file_storm`: every command once, and concurrent tasks.
pub const STORMS: [&[&str]; 2] = [&["--tasks", "1", "--all-commands"], &["--tasks", "4", "--operations", "64"]];

/// A run whose cached reads and look-ups the calling thread answers.
pub const INLINE: &[&str] = &["--tasks", "4", "--operations", "64", "--inline"];

/// The example `name`, a file of a package or a package of its own: in the folder that ci/ring3 names, or built beside the command.
pub fn example(name: &str) -> PathBuf {
    let beside = || Path::new(env!("CARGO_BIN_EXE_dyntrace")).parent().unwrap().to_owned();
    let folder = env::var_os("DYNTRACE_TRACEES").map_or_else(beside, PathBuf::from);
    let mut places = [folder.join(name), folder.join("examples").join(name)].into_iter();
    places.find(|program| program.exists()).unwrap_or_else(|| {
        panic!("{name} is not built in {}: cargo build --workspace --bins --examples", folder.display())
    })
}

/// The numbers of successful and of failed operations, by command.
pub type Done = BTreeMap<String, (u64, u64)>;

/// The count that `file_storm` prints.
pub fn done(stdout: &str) -> Done {
    let said: Value = stdout.lines().find_map(|line| serde_json::from_str(line).ok()).expect("file_storm prints JSON");
    let commands = said["commands"].as_object().expect("an object of commands");
    let number = |value: &Value| value.as_u64().expect("a count");
    commands.iter().map(|(name, count)| (name.clone(), (number(&count["ok"]), number(&count["failed"])))).collect()
}

/// The lines of the script `messages` on `every_event`.
pub const MESSAGES: &str = "\
send:    <0.1.0> label 1 token {2,3} -> <0.2.0>: 4000000000 words
send:    <0.1.0> label -1 token {-2,-3} -> <0.2.0> at node@host: 5 words
queued:  <0.2.0> label 1 token {2,3}: 5 words, queue len 1
receive: <0.2.0> label 0 token {0,0}: 5 words, queue len 0
";

/// The lines of the script `dist` on `every_event`.
pub const CONNECTIONS: &str = "\
monitor:  nodeup other@host (visible) at node@host: 
output:   node@host -> other@host: 2147483647 bytes
busy:     node@host -> other@host: <0.1.0> waits
not busy: node@host -> other@host
monitor:  nodedown other@host (visible) at node@host: it closed the connection
";

/// The lines of the script `user-probe` on `every_event`.
pub const USER_PROBES: &str = "\
user_trace s1 | hello, world
user_trace s1 | 
user_trace i4s4 <0.1.0> user tag  | 0 0 0 0 | untagged |  |  | 
user_trace i4s4 <0.1.0> user tag req-1 | 1 -2 9223372036854775807 -9223372036854775808 | a | b | c | d
";

/// The lines of the script `user-probe` on `checkout`.
pub const CHECKOUT: &str = "\
user_trace s1 | the shop is open
user_trace i4s4 <0.1.0> user tag Ada | 3 2450 0 0 | paid | card |  | 
user_trace i4s4 <0.2.0> user tag Joe | 0 0 0 0 | left |  |  | 
user_trace i4s4 <0.3.0> user tag Robert | 1 99999 0 0 | refused | card | above the limit | 
";

/// The lines of the script `efile_drv` on `rename_tagged`, with this tracer's port.
pub fn renamed(port: &str) -> String {
    format!(
        "efile_drv enter tag={{1,1}} user tag some-user-tag | RENAME (12) | args: old-name new-name , 0 0 (port {port})
async I/O worker tag={{1,1}} | RENAME (12) | efile_drv-int_entry
async I/O worker tag={{1,1}} | RENAME (12) | efile_drv-int_return
efile_drv return tag={{1,1}} user tag some-user-tag | RENAME (12) | errno 2
"
    )
}

/// The lines of the scripts of `own_provider`.
pub const ORDERS: &str = "\
Ada orders 2
Ada gets 2 after 50 minutes
Joe orders 1
Joe gets 1 after 45 minutes
Robert orders 3
Robert gets 3 after 55 minutes
";

/// The path of `own_provider`'s script in a language.
pub fn orders(extension: &str) -> String {
    machine::workspace().join(format!("examples/own_provider/scripts/orders.{extension}")).display().to_string()
}

/// The trace of `script` by `tracer` on a program that must end with status 0, and the program's output.
pub fn traced(tracer: &str, script: &str, program: &str, arguments: &[&str]) -> (String, String) {
    traced_to_status(0, tracer, script, program, arguments)
}

/// The trace of a user's script on `every_event`, by a tracer with these options.
pub fn traced_by_own(tracer: &str, options: &[&str], file: &str, script: &str) -> String {
    let folder = tempfile::tempdir().expect("a directory for the script");
    let path = folder.path().join(file);
    std::fs::write(&path, script).expect("writing the script");
    let mut command = machine::command(env!("CARGO_BIN_EXE_dyntrace"));
    command.args(["run", "--tracer", tracer]).args(options.iter().map(|option| format!("--tracer-option={option}")));
    let trace = folder.path().join("trace");
    machine::run(command.arg(&path).arg("-o").arg(&trace).arg("--").arg(example("every_event")));
    std::fs::read_to_string(&trace).expect("dyntrace writes the trace")
}

/// The same of a program that must end with `status`.
pub fn traced_to_status(
    status: i32,
    tracer: &str,
    script: &str,
    program: &str,
    arguments: &[&str],
) -> (String, String) {
    traced_with(&[], status, tracer, script, program, arguments)
}

/// The same with options of `dyntrace run`.
pub fn traced_with(
    options: &[&str],
    status: i32,
    tracer: &str,
    script: &str,
    program: &str,
    arguments: &[&str],
) -> (String, String) {
    let folder = tempfile::tempdir().expect("a directory for the trace");
    let trace = folder.path().join("trace");
    let mut command = machine::command_for(tracer, env!("CARGO_BIN_EXE_dyntrace"));
    command.args(["run", "--tracer", machine::name_of(tracer), script]).args(options).arg("-o");
    command.arg(&trace).arg("--").arg(example(program)).args(arguments);
    // A folder without the file old-name.
    let output = command.current_dir(folder.path()).output().expect("dyntrace starts");
    let said = String::from_utf8_lossy(&output.stderr);
    eprintln!("{command:?}: {}: {said}", output.status);
    for word in ["drop", "lost", "error in"] {
        assert!(!said.to_lowercase().contains(word), "{tracer} lost events: {said}");
    }
    assert_eq!(output.status.code(), Some(status), "{tracer}");
    let trace = std::fs::read_to_string(&trace).expect("dyntrace writes the trace");
    (trace, String::from_utf8(output.stdout).expect("the programs print UTF-8"))
}
