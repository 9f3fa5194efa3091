//! The functions on a thread's stack, in lines.

use dyntrace_tasks::threads::{Ending, Frame, Thread};
use dyntrace_terminal::escape;

use crate::own;
use crate::words;

/// The lines of a thread's functions, innermost first. Unless `all` is set, runs of functions of the runtime and the standard library, and
/// of functions without a name, take one line. Where the program's own functions are on the stack, so do those of other libraries, but for
/// the outermost one and those that its own functions call. The innermost function always has its own line.
pub fn lines(thread: &Thread, all: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut hidden = Hidden::default();
    let has_own = thread.frames.iter().any(own::is_frame);
    let outermost = own::outermost_frame(&thread.frames);
    let is_beside_own = |index: usize| thread.frames.iter().skip(index).take(2).any(own::is_frame);
    for (index, frame) in thread.frames.iter().enumerate() {
        let count = match &frame.function {
            _ if all || index == 0 => None,
            _ if own::is_of_runtime(frame) => Some(&mut hidden.runtime),
            None => Some(&mut hidden.nameless),
            Some(_) if has_own && Some(index) != outermost && !is_beside_own(index) => Some(&mut hidden.libraries),
            Some(_) => None,
        };
        if let Some(count) = count {
            *count += 1;
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
    libraries: usize,
    nameless: usize,
}

impl Hidden {
    fn line(self) -> Option<String> {
        let Hidden { runtime, libraries, nameless } = self;
        let named = match (runtime, libraries) {
            (0, 0) => None,
            (0, libraries) => Some(format!("{} of libraries", words::counted(libraries, "function"))),
            (runtime, 0) => {
                Some(format!("{} of the runtime and the standard library", words::counted(runtime, "function")))
            }
            (runtime, libraries) => Some(format!("{} functions of libraries and the runtime", runtime + libraries)),
        };
        match (named, nameless) {
            (None, 0) => None,
            (Some(named), 0) => Some(format!("({named})")),
            (None, nameless) => Some(format!("({} without a name)", words::counted(nameless, "function"))),
            (Some(named), nameless) => Some(format!("({named}, {nameless} without a name)")),
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
