#[dyntrace::main(flavor = "current_thread")]
async fn number() -> u32 {
    7
}

fn main() {
    number();
}
