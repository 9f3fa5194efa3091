//! The program's own functions: those that its user wrote, and can change.

use dyntrace_tasks::listing::{Await, Progress, SourceLine};
use dyntrace_tasks::threads::Frame;

/// Crates of the runtime, of the standard library and of what dyntrace puts around a task: their functions say little of a program.
const RUNTIME: [&str; 14] = [
    "alloc", "core", "dyntrace", "dyntrace_dist", "dyntrace_files", "dyntrace_probes", "dyntrace_processes",
    "dyntrace_resources", "mio", "parking_lot", "parking_lot_core", "std", "tokio", "__rustc",
];

/// Further crates whose functions carry those of programs. They count where no line tells where a function comes from.
const FRAMEWORKS: [&str; 22] = [
    "actix_http", "actix_rt", "actix_server", "actix_service", "actix_web", "addr2line", "axum", "dyntrace_tower",
    "futures_util", "gimli", "h2", "http_body_util", "hyper", "hyper_util", "reqwest", "rustls", "sqlx_core",
    "tokio_stream", "tokio_util", "tonic", "tower", "tracing",
];

/// Functions that Rust's programs begin with.
const BEGINNINGS: [&str; 4] = ["__rust_begin_short_backtrace", "__rust_try", "_start", "main"];

/// Libraries that Rust's programs begin in.
const LIBRARIES: [&str; 5] = ["[vdso]", "ld-", "libc.", "libc-", "libpthread"];

/// A function of the program's own, and the line at which it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Own {
    pub function: String,
    pub place: Option<SourceLine>,
}

/// The innermost function of the program's own on a stack. Of a program that a registry built, it is one of no framework.
pub fn of_stack(frames: &[Frame]) -> Option<Own> {
    let named = |frame: &&Frame| is_own(frame.function.as_deref().unwrap_or_default(), None);
    let frame = frames.iter().find(|frame| is_frame(frame)).or_else(|| frames.iter().find(named))?;
    Some(Own { function: function(frame.function.as_deref()?), place: frame.place.clone() })
}

/// The futures from `root` to `leaf`.
pub fn way<'l>(root: &'l Await, leaf: &Await) -> Vec<&'l Await> {
    let mut way = Vec::new();
    is_way(root, leaf, &mut way);
    way
}

/// Whether a future is the program's own by its line, or by its name where no line tells.
pub fn is_future(future: &Await) -> bool {
    is_own(&future.future, future.place.as_ref())
}

/// Whether a future is the program's own by its line.
fn has_own_line(future: &Await) -> bool {
    future.place.is_some() && is_future(future)
}

/// Whether a function on a stack is the program's own by its line.
pub fn is_frame(frame: &Frame) -> bool {
    frame.place.is_some() && is_own(frame.function.as_deref().unwrap_or_default(), frame.place.as_ref())
}

/// The innermost future of the program's own on the way from `root` to `leaf`, by the same rule.
pub fn of_chain(root: &Await, leaf: &Await) -> Option<Own> {
    let way = way(root, leaf);
    let named = |future: &&&Await| is_own(&future.future, None);
    let future = way.iter().rev().find(|future| has_own_line(future)).or_else(|| way.iter().rev().find(named))?;
    Some(Own { function: function(&future.future), place: future.place.clone() })
}

/// The outermost future of the program's own below `root`, or `root` itself if there is none, or one in each of several branches.
pub fn or_self(root: &Await) -> &Await {
    let mut count = 0;
    outermost(root, &mut count).filter(|_| count == 1).unwrap_or(root)
}

/// The outermost future of the program's own on the way from `root` to `leaf`, or `root` itself.
pub fn before<'l>(root: &'l Await, leaf: &Await) -> &'l Await {
    way(root, leaf).into_iter().find(|future| is_future(future)).unwrap_or(root)
}

/// The last of the outermost futures of the program's own, one for each branch that has any. Adds them to `count`.
fn outermost<'l>(future: &'l Await, count: &mut usize) -> Option<&'l Await> {
    if future.progress == Progress::Returned {
        return None;
    }
    if is_future(future) {
        *count += 1;
        return Some(future);
    }
    future.awaits.iter().filter_map(|inner| outermost(inner, count)).last()
}

/// Whether a future of a framework is outside of the program's own futures on the way to `leaf`, as with a connection of a server.
pub fn is_carried(root: &Await, leaf: &Await) -> bool {
    way(root, leaf).into_iter().position(has_own_line).is_some_and(|first| first > 0)
}

/// Adds the futures from `future` to `leaf` to `way`. Returns whether they lead there.
fn is_way<'l>(future: &'l Await, leaf: &Await, way: &mut Vec<&'l Await>) -> bool {
    if future.progress == Progress::Returned {
        return false;
    }
    way.push(future);
    if std::ptr::eq(future, leaf) || future.awaits.iter().any(|inner| is_way(inner, leaf, way)) {
        return true;
    }
    way.pop();
    false
}

/// Whether the user of the program wrote a function. Without a line, its crate's name tells.
fn is_own(function: &str, place: Option<&SourceLine>) -> bool {
    let is_framework = |krate: &&str| RUNTIME.contains(krate) || FRAMEWORKS.contains(krate);
    let Some(krate) = krate(function).filter(|krate| !is_framework(krate)) else { return false };
    match place {
        Some(place) => is_of_user(&place.file),
        None => !krate.is_empty() && function.contains("::"),
    }
}

/// Whether a function on a stack is of the runtime, the standard library or dyntrace, or of those that each program begins with.
pub fn is_of_runtime(frame: &Frame) -> bool {
    let is_begin = |function: &str| {
        BEGINNINGS.contains(&function) || krate(function).is_some_and(|krate| RUNTIME.contains(&krate))
    };
    LIBRARIES.iter().any(|library| frame.image.starts_with(library)) || frame.function.as_deref().is_some_and(is_begin)
}

/// The place of the outermost function on a stack that is none of the runtime's.
pub fn outermost_frame(frames: &[Frame]) -> Option<usize> {
    frames.iter().rposition(|frame| frame.function.is_some() && !is_of_runtime(frame))
}

/// The crate of a function; of a method its type's.
fn krate(function: &str) -> Option<&str> {
    let path = function.trim_start_matches(['<', '&', '*', '(', '[']);
    let path = path.strip_prefix("mut ").or_else(|| path.strip_prefix("dyn ")).unwrap_or(path);
    let (krate, _) = path.split_once("::")?;
    krate.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_').then_some(krate)
}

/// Whether a file is of the user's workspace. cargo compiles those with paths relative to the workspace; registries' begin with a crate's
/// name and version, once the registry's folder is cut off.
fn is_of_user(file: &str) -> bool {
    let first = file.split('/').next().unwrap_or_default();
    let is_versioned = first
        .rsplit_once('-')
        .is_some_and(|(_, version)| version.starts_with(|first: char| first.is_ascii_digit()) && version.contains('.'));
    let is_std = ["core", "alloc", "std", "library"].contains(&first) || file.starts_with("/rustc/");
    !is_versioned && !is_std && !file.contains("/git/checkouts/") && first != "vendor"
}

/// A function by its path, without the closures and blocks in it.
pub fn function(name: &str) -> String {
    let mut name = name;
    while let Some((outer, inner)) = name.rsplit_once("::")
        && inner.starts_with('{')
    {
        name = outer;
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use dyntrace_tasks::listing::WaitsFor;

    use super::*;
    use crate::sample;

    fn place(file: &str) -> SourceLine {
        SourceLine { file: file.into(), line: 7 }
    }

    #[test]
    fn own_functions_are_those_of_the_workspace() {
        let own = |function, file: Option<&str>| is_own(function, file.map(place).as_ref());
        assert!(own("shop::report", Some("src/main.rs")));
        assert!(own("<shop::Cart as core::fmt::Debug>::fmt", Some("crates/shop/src/cart.rs")));
        assert!(own("shop::report", None));
        assert!(!own("axum::serve::handle_connection::{async block}", Some("axum-0.8.9/src/serve/mod.rs")));
        assert!(!own("sqlx_core::rt::timeout", Some("sqlx-core-0.8.6/src/rt/mod.rs")));
        assert!(!own("<F as axum::handler::Handler<(M,T1),S>>::call", Some("axum-0.8.9/src/handler/mod.rs")));
        assert!(!own("std::thread::sleep", Some("std/src/thread/mod.rs")));
        assert!(!own("tokio::time::sleep", None));
        assert!(!own("main", None));
        assert!(!own("shop::inlined", Some("core/src/hint.rs")));
    }

    #[test]
    fn a_future_of_the_program_stands_for_the_framework_around_it() {
        let future = |name: &str, file: &str, awaits: Vec<Await>| Await {
            future: name.into(),
            place: Some(place(file)),
            awaits,
            ..sample::waiting(WaitsFor::Forever)
        };
        let lock = || future("tokio::sync::mutex::Mutex<T>::lock", "tokio-1.48.0/src/sync/mutex.rs", Vec::new());
        let order = || future("shop::order", "src/main.rs", vec![lock()]);
        let carried = |inner| future("axum::serve::handle_connection", "axum-0.8.9/src/serve/mod.rs", inner);
        assert_eq!(or_self(&carried(vec![order()])).future.as_ref(), "shop::order");
        assert_eq!(or_self(&order()).future.as_ref(), "shop::order");
        assert_eq!(or_self(&carried(vec![lock(), order()])).future.as_ref(), "shop::order");
        let branches = carried(vec![order(), order(), lock()]);
        assert!(std::ptr::eq(or_self(&branches), &raw const branches));
        assert!(std::ptr::eq(before(&branches, &branches.awaits[1].awaits[0]), &raw const branches.awaits[1]));
        assert!(std::ptr::eq(before(&branches, &branches.awaits[2]), &raw const branches));
    }

    #[test]
    fn closures_are_of_their_function() {
        assert_eq!(function("app::serve::{closure}::{closure}"), "app::serve");
        assert_eq!(function("app::serve::{async block}"), "app::serve");
        assert_eq!(function("app::serve"), "app::serve");
    }
}
