#[dyntrace::traced]
fn answer(of: u32) -> u32 {
    of
}

fn main() {
    answer(42);
}
