#![forbid(unsafe_code)]

dyntrace::module!(
    "pricing",
    version = "1",
    unloadable = unsafe { dyntrace::code::Unloadable::new() }
);

fn main() {}
