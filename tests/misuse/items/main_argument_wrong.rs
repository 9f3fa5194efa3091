#[dyntrace::main(flavor = "current_thread")]
async fn main(number: u32) {}
