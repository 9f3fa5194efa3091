//! A module with probes of its own.

#[dyntrace::export]
fn status() -> String {
    format!("{:?}", dyntrace::sdt::register())
}

#[dyntrace::export]
fn work() -> bool {
    dyntrace::user_trace::s1("from the module");
    dyntrace::probes::user_trace::s1::is_enabled()
}

dyntrace::module!(
    "worker",
    version = "1.0.0",
    // SAFETY: no thread, reference or code of the module outlives a call of its exports.
    unloadable = unsafe { dyntrace::code::Unloadable::new() }
);
