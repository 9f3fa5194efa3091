dyntrace::module!("pricing", version = "1", unloadable);

fn main() {}
