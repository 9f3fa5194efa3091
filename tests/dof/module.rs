//! A module, which has probes of its own.

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
    // SAFETY: no thread, no reference into it and no code of it outlives a call of its exports.
    unloadable = unsafe { dyntrace::code::Unloadable::new() }
);
