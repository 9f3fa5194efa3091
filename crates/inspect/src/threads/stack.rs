//! The functions on a thread's stack, in lines.

use dyntrace_tasks::threads::{Ending, Frame, Thread};
use dyntrace_terminal::escape;

use crate::own;
use crate::words;

/// Functions that Rust's programs begin with.
const BEGINNINGS: [&str; 4] = ["__rust_begin_short_backtrace", "__rust_try", "_start", "main"];

/// Libraries that Rust's programs begin in.
const LIBRARIES: [&str; 5] = ["[vdso]", "ld-", "libc.", "libc-", "libpthread"];

/// The lines of a thread's functions, innermost first. Runs of functions of the runtime and the standard library, and of
/// functions without a name, take one line, unless `all` is set; the innermost function always has its own.
pub fn lines(thread: &Thread, all: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut hidden = Hidden::default();
    for (index, frame) in thread.frames.iter().enumerate() {
        let is_runtime = is_runtime(frame);
        if !all && index > 0 && (is_runtime || frame.function.is_none()) {
            *(if is_runtime { &mut hidden.runtime } else { &mut hidden.nameless }) += 1;
            continue;
        }
        lines.extend(std::mem::take(&mut hidden).line());
        lines.push(line(frame));
    }
    lines.extend(hidden.line());
    lines.extend(ending(thread.ending).map(|ending| format!("({ending})")));
    lines
}

/// Functions without a line of their own.
#[derive(Default)]
struct Hidden {
    runtime: usize,
    nameless: usize,
}

impl Hidden {
    fn line(self) -> Option<String> {
        let runtime = format!("{} of the runtime and the standard library", words::counted(self.runtime, "function"));
        match (self.runtime, self.nameless) {
            (0, 0) => None,
            (_, 0) => Some(format!("({runtime})")),
            (0, nameless) => Some(format!("({} without a name)", words::counted(nameless, "function"))),
            (_, nameless) => Some(format!("({runtime}, {nameless} without a name)")),
        }
    }
}

fn line(frame: &Frame) -> String {
    let mut line = match &frame.function {
        Some(function) => escape::name(function),
        None => format!("{:#x}", frame.address),
    };
    line += &match &frame.place {
        Some(place) => format!(" at {}", words::place(place)),
        None if frame.image.is_empty() => String::new(),
        None => format!(" in {}", escape::name(&frame.image)),
    };
    line
}

fn is_runtime(frame: &Frame) -> bool {
    if LIBRARIES.iter().any(|library| frame.image.starts_with(library)) {
        return true;
    }
    let Some(function) = &frame.function else { return false };
    BEGINNINGS.contains(&function.as_str()) || own::is_of_runtime(function)
}

/// Why there are no more functions. `None` if these are all.
fn ending(ending: Ending) -> Option<&'static str> {
    match ending {
        Ending::Complete => None,
        Ending::UnknownCode => Some("its callers are not known: no file describes this code"),
        Ending::Cut => Some("the rest of the stack cannot be followed"),
        Ending::NotStopped => Some("no functions: it did not stop to be read"),
        Ending::Traced => Some("no functions: another program traces it, such as a debugger"),
        Ending::Refused => Some("no functions: the kernel refused to hold it"),
        Ending::Ended => Some("no functions: it has ended"),
    }
}
