//! The `dyntrace` command.
fn main() {}
