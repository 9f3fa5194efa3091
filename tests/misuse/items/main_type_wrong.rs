#[dyntrace::main(flavor = "current_thread")]
async fn number() -> u32 {
    "seven"
}

fn main() {
    number();
}
