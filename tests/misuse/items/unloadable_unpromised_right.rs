dyntrace::module!("pricing", version = "1");

fn main() {}
