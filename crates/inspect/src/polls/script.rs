//! The script for bpftrace: it counts in the kernel, so that the program's own pace does not matter, and prints its maps at the end.
//!
//! | map | key | value |
//! |---|---|---|
//! | `@task` | thread | type, id and stack pointer of the task that the thread polls; its type is 0 if it polls none |
//! | `@poll` | thread, stack pointer | begin of a poll that runs; type, id and stack pointer of the task around it |
//! | `@woken` | header and id | when the task was woken: a later task may have the header's memory |
//! | `@times`, `@longest`, `@time` | type | count and sum of polls, the longest, and their steps (`times`) |
//! | `@waits`, `@longest_wait`, `@wait` | type | the same of the times from wakes to polls |
//! | `@wakes` | type of the waker, woken type | count |
//! | `@all_polls`, `@all_waits`, `@all_wakes` | | counts, also of those for whose types `@times`, `@waits` or `@wakes` has no room |
//! | `@no_poll`, `@no_wait` | | count of polls and of wakes for which `@poll`, `@task`, `@jobs` or `@woken` has no room |
//! | `@blind` | | whether there was no room for a poll: since then it is not known which task wakes another |
//! | `@jobs` | type | whether its tasks are jobs of the blocking pool |
//! | `@slow` | | count of slow polls, each of which is printed |
//! | `@stop` | | when the time was over |
//!
//! A type is the address of a task's vtable. Polls are paired with their returns by the stack pointer, as a task can poll others: those
//! of a `LocalSet`.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use dyntrace_folders::process_folder;
use dyntrace_tasks::polls::{Function, Functions};
use dyntrace_terminal::escape;

use super::times;

/// Options of bpftrace. Without `--unsafe` it refuses functions of stripped programs.
pub const OPTIONS: [&str; 4] = ["-f", "json", "--no-warnings", "--unsafe"];

/// Limits of bpftrace, some by their names in old versions and in new ones: keys of a map, and probes.
pub const ENVIRONMENT: [(&str, &str); 4] = [
    ("BPFTRACE_MAP_KEYS_MAX", "16384"),
    ("BPFTRACE_MAX_MAP_KEYS", "16384"),
    ("BPFTRACE_MAX_PROBES", "16384"),
    ("BPFTRACE_MAX_BPF_PROGS", "16384"),
];

/// The program as the script finds it.
pub struct Subject<'a> {
    pub pid: u32,
    pub functions: &'a Functions,
    /// Whether symbols of each image lie in another file, which bpftrace may find or not.
    pub has_debug_file: &'a dyn Fn(usize) -> bool,
    /// Returns a path by which this command can read an image other than the program.
    pub readable: &'a dyn Fn(&Path) -> Option<String>,
}

/// The script that counts for `time`. It prints polls that take `slow` or longer. `stops_when_asked`: SIGUSR1 ends the time.
pub fn script(subject: &Subject<'_>, time: Duration, slow: Option<Duration>, stops_when_asked: bool) -> Result<String> {
    let found = subject.functions;
    let at = |kind: &str, functions: &[Function]| -> Result<String> {
        let points: Result<Vec<String>> =
            functions.iter().map(|function| Ok(format!("{kind}:{}", subject.place(function)?))).collect();
        Ok(points?.join(",\n"))
    };
    let slow = slow.map_or_else(String::new, |slow| {
        format!(
            "\tif ($time >= {}) {{\n\t\t@slow = count();\n\
             \t\tprintf(\"slow %lu %lu %lu %lu\\n\", $type, $id, (uint64)tid, $time);\n\t}}\n",
            slow.as_nanos()
        )
    });
    let marks = found.marks.as_ref().map(|marks| marks.each_ref().map(|mark| at("uprobe", std::slice::from_ref(mark))));
    let [first, last] = marks.context(NOT_IN_FILE)?;
    // bpftrace sets the last probe first. So the returns of all polls are seen whose begins are, and the time begins at the end.
    let mut script = BEGIN.to_owned();
    write!(script, "interval:ms:{}\n{{\n\t@stop = nsecs;\n\texit();\n}}\n", time.as_millis().max(1))?;
    writeln!(script, "{} {{ }}", first?)?;
    write!(script, "{}\n{ENTRY}", at("uprobe", &found.poll)?)?;
    write!(script, "{}\n{}", at("uretprobe", &found.poll)?, RETURN.replace("SLOW", &slow))?;
    // A task that is awake already, or complete, is not woken.
    for (functions, check) in [(&found.wake, "if (*(uint64 *)arg0 & 6) { return; }"), (&found.schedule, "")] {
        if !functions.is_empty() {
            write!(script, "{}\n{}", at("uprobe", functions)?, WAKE.replace("CHECK", check))?;
        }
    }
    if stops_when_asked {
        script += "self:signal:SIGUSR1\n{\n\t@stop = nsecs;\n}\n";
    }
    writeln!(script, "{} {{ }}", last?)?;
    // The pointer at a return is that at the entry, where the call has pushed no address.
    let pushed = if cfg!(target_arch = "x86_64") { "8" } else { "0" };
    Ok(script
        .replace("TIME_STEP", &step("$time"))
        .replace("WAIT_STEP", &step("$wait"))
        .replace("PUSHED", pushed)
        .replace("NO_ROOM", NO_ROOM))
}

/// Whether bpftrace takes the text for this function, and for no other. `has_debug_file`: symbols of its image lie in another file.
pub fn is_clear(function: &Function, has_debug_file: bool) -> bool {
    function.has_symbol || function.in_file == function.offset || !has_debug_file
}

/// Of a program without a function that is clear, and the way out.
pub const UNCLEAR: &str = "has its symbols in another file, and bpftrace may or may not find that";
pub const CLEAR: &str = "trace the program with its symbols, or link it with -Clink-arg=-Wl,-z,separate-code";

/// Of a program without marks.
pub const NOT_IN_FILE: &str = "the functions of the program's tasks are not in its file";

impl Subject<'_> {
    /// bpftrace's text for a function: it takes the number as an address if a symbol covers it, else as an offset in the file.
    fn place(&self, function: &Function) -> Result<String> {
        let Function { image, path, in_file, offset, has_symbol, .. } = function;
        let process = process_folder(self.pid);
        let file = match image {
            0 => format!("{}/exe", process.display()),
            _ => (self.readable)(path).unwrap_or_else(|| format!("{}/root{}", process.display(), path.display())),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@".contains(c);
        ensure!(file.chars().all(is_plain), "bpftrace cannot be told of a file with this name: {}", escape::path(path));
        ensure!(is_clear(function, (self.has_debug_file)(*image)), "{} {UNCLEAR}: {CLEAR}", escape::path(path));
        Ok(format!("{file}:{:#x}", if *has_symbol { in_file } else { offset }))
    }
}

/// Statements that set `$step` to the step of a variable, as `dyntrace_analysis::figures::Steps` has them.
fn step(variable: &str) -> String {
    let mut text = format!("$rest = {variable};\n\t$power = (uint64)0;\n");
    for power in [32, 16, 8, 4, 2, 1] {
        writeln!(text, "\tif ($rest >= {}) {{ $rest = $rest >> {power}; $power = $power + {power}; }}", 1_u64 << power)
            .expect("a String takes all that is written");
    }
    let (bits, steps) = (times::BITS, 1 << times::BITS);
    text + &format!(
        "\t$step = {variable};\n\tif ($power >= {bits}) {{ $step = (($power - {}) << {bits}) + (({variable} >> ($power - {bits})) & {}); }}",
        bits - 1,
        steps - 1
    )
}

/// Tells bpftrace the types of two maps.
const BEGIN: &str = "\
BEGIN
{
	@task[(uint64)0] = ((uint64)0, (uint64)0, (uint64)0);
	@poll[(uint64)0, (uint64)0] = ((uint64)0, (uint64)0, (uint64)0, (uint64)0);
	delete(@task[(uint64)0]);
	delete(@poll[(uint64)0, (uint64)0]);
}
";

const RETURN: &str = "\
{
	if (@stop) { return; }
	$sp = reg(\"sp\") - PUSHED;
	$poll = @poll[tid, $sp];
	if ($poll.0 == 0) { return; }
	$time = nsecs - $poll.0;
	$type = @task[tid].0;
	$id = @task[tid].1;
	delete(@poll[tid, $sp]);
	@task[tid] = ($poll.1, $poll.2, $poll.3);
	@all_polls = count();
	@times[$type] = stats($time);
	@longest[$type] = max($time);
	TIME_STEP
	@time[$type, $step] = count();
SLOW}
";

/// A poll that is not counted.
const NO_ROOM: &str = "delete(@woken[arg0, $id]); @no_poll = count(); @blind = 1; return;";

/// The stack grows down: a task around this one has its frame above. Others are of a poll whose return was not seen.
const ENTRY: &str = "\
{
	if (@stop) { return; }
	$now = nsecs;
	$sp = reg(\"sp\");
	$type = *(uint64 *)(arg0 + 16);
	$id = *(uint64 *)(arg0 + *(uint64 *)($type + 72));
	if (*(uint64 *)(arg0 + 24) == 0) {
		@jobs[$type] = 1;
		if (@jobs[$type] == 0) { NO_ROOM }
	}
	$outer = @task[tid];
	if ($outer.2 > $sp) {
		@poll[tid, $sp] = ($now, $outer.0, $outer.1, $outer.2);
	} else {
		@poll[tid, $sp] = ($now, (uint64)0, (uint64)0, (uint64)0);
	}
	if (@poll[tid, $sp].0 == 0) { NO_ROOM }
	@task[tid] = ($type, $id, $sp);
	if (@task[tid].0 == 0) { delete(@poll[tid, $sp]); NO_ROOM }
	$woken = @woken[arg0, $id];
	if ($woken > 0) {
		delete(@woken[arg0, $id]);
		$wait = $now - $woken;
		@all_waits = count();
		@waits[$type] = stats($wait);
		@longest_wait[$type] = max($wait);
		WAIT_STEP
		@wait[$type, $step] = count();
	}
}
";

const WAKE: &str = "\
{
	if (@stop) { return; }
	CHECK
	$type = *(uint64 *)(arg0 + 16);
	$id = *(uint64 *)(arg0 + *(uint64 *)($type + 72));
	@woken[arg0, $id] = nsecs;
	if (@woken[arg0, $id] == 0) { @no_wait = count(); }
	@all_wakes = count();
	if (@blind == 0) { @wakes[@task[tid].0, $type] = count(); }
}
";

#[cfg(test)]
mod tests {
    use super::*;

    fn function(image: usize, in_file: u64, has_symbol: bool) -> Function {
        let path = if image == 0 { "/app" } else { "/lib/tokio.so" };
        let (address, offset) = (in_file + 0x5000_0000, in_file - 0x1000);
        Function { image, path: path.into(), address, in_file, offset, has_symbol }
    }

    fn functions(has_symbol: bool) -> Functions {
        Functions {
            poll: vec![function(0, 0x2000, has_symbol), function(1, 0x3000, has_symbol)],
            wake: vec![function(0, 0x4000, has_symbol)],
            schedule: Vec::new(),
            marks: Some([function(0, 0x5000, has_symbol), function(0, 0x6000, has_symbol)]),
        }
    }

    fn made(functions: &Functions, library: &str, has_debug_file: bool) -> Result<String> {
        let readable = |_: &Path| Some(library.to_owned());
        let subject = Subject { pid: 47, functions, has_debug_file: &|_| has_debug_file, readable: &readable };
        script(&subject, Duration::from_secs(10), Some(Duration::from_millis(2)), true)
    }

    #[test]
    fn functions_are_named_by_address_or_by_offset() {
        let by_address = made(&functions(true), "/l", true).unwrap();
        assert!(by_address.contains("uprobe:/proc/47/exe:0x2000,\nuprobe:/l:0x3000\n{"), "{by_address}");
        assert!(by_address.contains("uretprobe:/proc/47/exe:0x2000,\nuretprobe:/l:0x3000\n{"), "{by_address}");
        let by_offset = made(&functions(false), "/l", false).unwrap();
        assert!(by_offset.contains("uprobe:/proc/47/exe:0x1000,\nuprobe:/l:0x2000\n{"), "{by_offset}");
        let unclear = made(&functions(false), "/l", true).unwrap_err().to_string();
        assert!(unclear.contains("separate-code"), "{unclear}");
    }

    #[test]
    fn the_marks_are_around_all_probes_of_the_program() {
        let script = made(&functions(true), "/l", false).unwrap();
        let points: Vec<&str> =
            script.lines().filter(|line| line.contains("uprobe:") || line.contains("uretprobe:")).collect();
        assert!(points[0].contains("0x5000") && points.last().unwrap().contains("0x6000"), "{points:?}");
        assert!(script.find("interval:ms:10000").unwrap() < script.find("0x5000").unwrap());
    }

    #[test]
    fn no_name_of_a_file_can_change_the_script() {
        for path in ["/l:0x1 { exit(); } uprobe:/m", "/l\n", "/l\"", "/l ä"] {
            assert!(
                made(&functions(true), path, false).unwrap_err().to_string().contains("a file with this name"),
                "{path}"
            );
        }
    }

    /// A task may be woken and dropped, and a later one begin at its address.
    #[test]
    fn a_wake_is_that_of_one_task() {
        let script = made(&functions(true), "/l", false).unwrap();
        assert_eq!(script.matches("@woken[").count(), script.matches("@woken[arg0, $id]").count());
        let wake = &script[script.find("@woken[arg0, $id] = nsecs").unwrap() - 200..];
        assert!(wake.contains("$id = *(uint64 *)(arg0 + *(uint64 *)($type + 72));"), "{wake}");
    }

    #[test]
    fn nothing_is_left_to_replace() {
        let script = made(&functions(true), "/l", false).unwrap();
        for word in ["TIME_STEP", "WAIT_STEP", "SLOW", "CHECK", "PUSHED"] {
            assert!(!script.contains(word), "{word}: {script}");
        }
        assert!(script.contains("if ($time >= 2000000) {") && script.contains("self:signal:SIGUSR1"), "{script}");
    }
}
