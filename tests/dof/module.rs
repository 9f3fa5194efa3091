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

dyntrace::module!("worker", version = "1.0.0", unloadable);
