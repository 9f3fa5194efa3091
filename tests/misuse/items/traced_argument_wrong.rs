#[dyntrace::traced(secret(pasword))]
fn log_in(name: &str, password: &str) -> bool {
    name == password
}

fn main() {
    log_in("a", "b");
}
