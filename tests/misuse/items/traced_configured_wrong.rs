#[dyntrace::traced]
fn answer(of: u32, #[cfg(windows)] _handle: usize) -> u32 {
    of
}

fn main() {
    answer(42);
}
