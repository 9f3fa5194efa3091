//! DTrace. On Linux it gets the process to trace as a number in its script.
//!
//! Given a process by `-p`, DTrace 2.0.7 stops it by ptrace until DTrace is ready, and again whenever the process starts a thread.
//! Meanwhile DTrace looks for the probes repeatedly, sometimes in the file of another library. Then it attaches twice and reports every
//! event twice, or never resumes the process. DTrace does not stop a process whose number the script names (`dyntrace4711:::`).
//! The other effects of `-p` come from here and from the session:
//!
//! 1. The number takes the place of `$target`.
//! 2. DTrace attaches to probes before it takes their events. The last clause says when it does both.
//! 3. DTrace does not end with the process: the session interrupts it, and the kernel does if this process is killed.
//!
//! A signal that arrives while DTrace waits for room in the pipe of its output costs text: the write fails with EINTR, the C library drops
//! up to 4096 bytes of its buffer, and DTrace goes on and succeeds. So the session interrupts DTrace between two writes only.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "elsewhere.rs")]
mod leaf;

pub use leaf::{BY_NUMBER, Stopped, end_with_this_thread, when_ended};

use crate::script::{Part, parts};
use crate::tracer::TracerKind;

use super::marks::Mark;

/// Returns `script` for process `pid`, which prints `mark` when it begins. (Steps 1 and 2.)
pub fn script_for(script: &str, pid: u32, mark: &Mark) -> String {
    let pid = pid.to_string();
    let numbered = parts(script, TracerKind::Dtrace).map(|part| match part {
        Part::Code(code) => code.replace("$target", &pid),
        Part::Text(other) | Part::Comment(other) => other.to_owned(),
    });
    numbered.collect::<String>() + &format!("\nBEGIN\n{{\n\tprintf(\"{}\");\n}}\n", mark.ready())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_stands_where_the_target_was() {
        let script = "/* $target \" */ a$target:::b { printf(\"$target \\\" $target\", $target); }";
        let mark = Mark::new();
        let text = script_for(script, 47, &mark);
        let (first, last) = text.split_once('\n').unwrap();
        assert_eq!(first, "/* $target \" */ a47:::b { printf(\"$target \\\" $target\", 47); }");
        assert_eq!(last, format!("BEGIN\n{{\n\tprintf(\"{}\");\n}}\n", mark.ready()));
    }
}
