#[cfg(windows)]
#[dyntrace::traced]
fn answer(of: u32, _handle: usize) -> u32 {
    of
}

#[cfg(not(windows))]
#[dyntrace::traced]
fn answer(of: u32) -> u32 {
    of
}

fn main() {
    #[cfg(not(windows))]
    answer(42);
}
