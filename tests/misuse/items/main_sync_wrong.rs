#[dyntrace::main(flavor = "current_thread")]
fn main() {}
