//! The recorder sees the probes of a pool whose queues are full.

use dyntrace::aio_pool::{Fault, Job, Operation, Pool, Port};

use super::{events, run};

struct Nothing;

impl Job for Nothing {
    type Output = ();

    fn run(&mut self) {}

    fn settle(&mut self, _: Result<&(), &Fault>) {}
}

fn submit(pool: &Pool, ports: &[Port]) -> Vec<Operation<Nothing>> {
    ports.iter().map(|port| pool.submit(*port, Nothing)).collect()
}

/// Returns the events of the pool's queues, each with the index of its port in `ports`.
fn steps(ports: &[Port], act: impl FnOnce()) -> Vec<String> {
    let number = |text: &str| ports.iter().position(|port| port.to_string() == text);
    let steps = events(act).into_iter().filter_map(|event| {
        let (probe, fields) = event.split_once(' ')?;
        let port = number(fields.split(' ').next()?)?;
        ["aio_pool-add", "port-busy", "port-not_busy"].contains(&probe).then(|| format!("{probe} {port}"))
    });
    steps.collect()
}

#[test]
fn a_pool_is_busy_from_the_first_operation_that_waits_until_there_is_room() {
    let ports: Vec<Port> = (0..6).map(|_| Port::new()).collect();
    let seen = steps(&ports, || {
        let pool = Pool::builder().threads(0).bound(2).build();
        let operations = submit(&pool, &ports[..5]);
        // The first of three waiting operations gets room; the pool stays full, also after the second is dropped.
        assert!(pool.run_one());
        let mut operations = operations.into_iter();
        let [first, second, third, left, last] = std::array::from_fn(|_| operations.next().unwrap());
        drop(left);
        assert!(pool.run_one() && pool.run_one() && pool.run_one() && !pool.run_one());
        for operation in [first, second, third, last] {
            run(operation).unwrap();
        }
        let again = pool.submit(ports[5], Nothing);
        assert!(pool.run_one());
        run(again).unwrap();
    });
    let expected = [
        "aio_pool-add 0", "aio_pool-add 1", "port-busy 2", "aio_pool-add 2", "aio_pool-add 4", "port-not_busy 2",
        "aio_pool-add 5",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn it_can_be_busy_again_and_is_not_after_its_end() {
    let ports: Vec<Port> = (0..3).map(|_| Port::new()).collect();
    let seen = steps(&ports, || {
        let pool = Pool::builder().threads(0).bound(1).build();
        let first = submit(&pool, &ports[..2]);
        while pool.run_one() {}
        let second = submit(&pool, &ports[1..]);
        pool.shutdown();
        drop((first, second));
    });
    let expected = [
        "aio_pool-add 0", "port-busy 1", "aio_pool-add 1", "port-not_busy 1", "aio_pool-add 1", "port-busy 2",
        "port-not_busy 2",
    ];
    assert_eq!(seen, expected);
}

/// The queues may be full although no operation waits in line: the next one would have to wait.
#[test]
fn a_pool_whose_line_is_empty_stays_busy_while_its_queues_are_full() {
    let ports: Vec<Port> = (0..3).map(|_| Port::new()).collect();
    let seen = steps(&ports, || {
        let pool = Pool::builder().threads(0).bound(1).build();
        let mut operations = submit(&pool, &ports[..2]);
        drop(operations.pop());
        operations.extend(submit(&pool, &ports[2..]));
        while pool.run_one() {}
        drop(operations);
    });
    assert_eq!(seen, ["aio_pool-add 0", "port-busy 1", "aio_pool-add 2", "port-not_busy 1"]);
}
