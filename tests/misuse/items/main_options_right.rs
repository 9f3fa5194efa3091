#[dyntrace::main(flavor = "multi_thread", worker_threads = 2)]
async fn threads() {}

#[dyntrace::main(flavor = "current_thread", start_paused = true)]
async fn paused() {}

#[dyntrace::test]
async fn one_test() {}

fn main() {
    threads();
    paused();
}
