//! Waits for thread progress: asynchronous, and in models blocking.

#[cfg(not(loom))]
pub(crate) use dyntrace_probes::thread_progress::wait as progress;

#[cfg(loom)]
pub(crate) async fn progress() -> Option<dyntrace_probes::thread_progress::Late> {
    dyntrace_probes::thread_progress::wait_blocking(std::time::Duration::from_secs(60))
        .expect("models pin for a short time");
    None
}
