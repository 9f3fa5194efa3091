fn main() {
    dyntrace::p!("a", 1i64);
}
