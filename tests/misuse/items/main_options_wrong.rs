#[dyntrace::main(flavor = "single")]
async fn unknown_flavor() {}

#[dyntrace::main(flavor = "current_thread", worker_threads = 2)]
async fn threads_of_one() {}

#[dyntrace::main(worker_threads = 0)]
async fn no_thread() {}

#[dyntrace::main(worker_threads = "two")]
async fn no_number() {}

#[dyntrace::main(start_paused = true)]
async fn paused_threads() {}

#[dyntrace::main(threads = 2)]
async fn unknown() {}

#[dyntrace::main(current_thread)]
async fn without_a_name() {}

#[dyntrace::main(worker_threads)]
async fn without_a_value() {}

#[dyntrace::main(worker_threads = 2, worker_threads = 3)]
async fn twice() {}

#[dyntrace::test]
#[test]
async fn two_tests() {}

#[dyntrace::main]
struct NoFunction;

fn main() {}
