//! The role of a thread in a runtime, by the functions on its stack.

use super::answer::{Activity, Frame, Role};

/// tokio's names for workers and threads of the blocking pool, in all versions that the reader knows.
const NAMES: [&str; 2] = ["tokio-runtime-w", "tokio-rt-worker"];

/// Functions of tokio 1.38 to 1.54 that only threads with a role are in.
const ROLES: [(&str, Role); 4] = [
    ("tokio::runtime::scheduler::multi_thread::worker::run", Role::Worker),
    ("tokio::runtime::blocking::pool::Inner::run", Role::Blocking),
    ("tokio::runtime::scheduler::current_thread::CoreGuard::block_on", Role::BlockOn),
    ("tokio::runtime::park::CachedParkThread::block_on", Role::BlockOn),
];

/// Returns the role of a thread.
pub(super) fn role(name: &str, frames: &[Frame]) -> Role {
    let role = |frame: &Frame| ROLES.iter().find(|(prefix, _)| is(frame, prefix)).map(|(_, role)| *role);
    // The innermost: a worker runs on a thread of the blocking pool.
    frames.iter().find_map(role).unwrap_or(if NAMES.iter().any(|tokios| name.starts_with(tokios)) {
        Role::Runtime
    } else {
        Role::Other
    })
}

/// Returns a thread's activity for its runtime. `None` if its functions do not tell.
pub(super) fn activity(role: Role, frames: &[Frame]) -> Option<Activity> {
    let in_any = |prefixes: &[&str]| frames.iter().any(|frame| prefixes.iter().any(|prefix| is(frame, prefix)));
    match role {
        Role::Worker if in_any(&["tokio::runtime::scheduler::multi_thread::worker::Context::run_task"]) => {
            Some(Activity::Polls)
        }
        Role::Worker if in_any(&["tokio::runtime::scheduler::multi_thread::worker::Context::park"]) => {
            Some(Activity::Idle)
        }
        // Of an idle thread of the pool no function of a task is on the stack.
        Role::Blocking if in_any(&["tokio::runtime::blocking::pool::Task::run", "tokio::runtime::task::"]) => {
            Some(Activity::Runs)
        }
        Role::Blocking
            if in_any(&["tokio::loom::std::parking_lot::Condvar", "tokio::loom::std::mutex", "std::sync::"]) =>
        {
            Some(Activity::Idle)
        }
        Role::BlockOn
            if in_any(&[
                "tokio::runtime::park::CachedParkThread::park",
                "tokio::runtime::park::Inner::park",
                "tokio::runtime::scheduler::current_thread::Context::park",
            ]) =>
        {
            Some(Activity::Idle)
        }
        _ => None,
    }
}

/// Whether the frame's function is the one named `prefix`, with or without parameters and closures.
fn is(frame: &Frame, prefix: &str) -> bool {
    frame.function.as_deref().is_some_and(|function| {
        let function = function.trim_start_matches('<');
        function.starts_with(prefix)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(functions: &[&str]) -> Vec<Frame> {
        let frame = |function: &&str| Frame {
            address: 1,
            image: "app".into(),
            function: Some((*function).to_owned()),
            place: None,
            inlined: false,
        };
        functions.iter().map(frame).collect()
    }

    #[test]
    fn functions_tell_the_role() {
        let worker = stack(&[
            "app::work",
            "tokio::runtime::scheduler::multi_thread::worker::Context::run_task::{closure}",
            "tokio::runtime::scheduler::multi_thread::worker::run",
            "tokio::runtime::blocking::pool::Inner::run",
        ]);
        assert_eq!(role("main", &worker), Role::Worker);
        assert_eq!(activity(Role::Worker, &worker), Some(Activity::Polls));
        assert_eq!(role("tokio-rt-worker", &worker[3..]), Role::Blocking);
        let job = stack(&[
            "std::sync::poison::mutex::Mutex<T>::lock",
            "tokio::runtime::task::harness::Harness<T,S>::poll",
            "tokio::runtime::blocking::pool::Inner::run",
        ]);
        assert_eq!(activity(Role::Blocking, &job), Some(Activity::Runs));
        assert_eq!(role("tokio-rt-worker", &[]), Role::Runtime);
        assert_eq!(role("main", &worker[..1]), Role::Other);
        assert_eq!(activity(Role::Other, &worker), None);
    }
}
