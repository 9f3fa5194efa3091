//! The events of a recording, as lines. Test programs include it by path.

use std::sync::{Mutex, PoisonError};

use dyntrace::recorder::{Options, Session};
use dyntrace_reader::{Trace, Value};

/// One test at a time, as a session records the whole program.
static ALONE: Mutex<()> = Mutex::new(());

/// Returns the events of dyntrace's probes that `body` has left, one a line, in the order of their times: with `A`, `B`, ... for the
/// pids and `#1`, `#2`, ... for the resources in the order in which they appear, and `TIME` for nanoseconds.
pub fn seen(probes: &[&str], body: impl FnOnce()) -> Vec<String> {
    seen_after(probes, || (), |()| body())
}

/// [`seen`] with a body that receives the result of `before`. No session records `before`.
pub fn seen_after<T>(probes: &[&str], before: impl FnOnce() -> T, body: impl FnOnce(T)) -> Vec<String> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = before();
    let directory = tempfile::tempdir().unwrap();
    let mut options = Options::new(directory.path());
    options.probes = probes.iter().map(|&glob| glob.into()).collect();
    let session = Session::start(options).unwrap();
    body(before);
    session.stop().unwrap();
    let (mut pids, mut resources) = (Vec::new(), Vec::new());
    let number = |all: &mut Vec<Vec<u8>>, text: &[u8]| {
        all.iter().position(|one| one == text).unwrap_or_else(|| {
            all.push(text.to_vec());
            all.len() - 1
        })
    };
    let mut show = |name: &str, value| match value {
        Value::Text(text) if text.starts_with(b"<0.") => {
            char::from(b'A' + u8::try_from(number(&mut pids, &text)).unwrap()).to_string()
        }
        Value::Text(text) if text.starts_with(b"#Ref<") => format!("#{}", number(&mut resources, &text) + 1),
        Value::Text(text) => String::from_utf8_lossy(&text).into_owned(),
        Value::Unsigned(_) if ["polled", "waited"].contains(&name) => "TIME".to_owned(),
        Value::Unsigned(number) => number.to_string(),
        Value::Signed(number) => number.to_string(),
    };
    let trace = Trace::open(directory.path()).unwrap();
    let mut lines = Vec::new();
    for event in trace.events() {
        if let Some(probe) = event.class.name.strip_prefix("dyntrace:") {
            let fields: Vec<String> = event.fields().map(|(name, value)| show(name, value)).collect();
            lines.push(format!("{probe} {}", fields.join(" ")));
        }
    }
    lines
}
