use std::panic::{self, AssertUnwindSafe};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;

use super::*;

static NUMBERS: Slot<Vec<u32>> = Slot::new();

own_slot! {
    impl Own for Vec<u32>, in NUMBERS {
        const NOTHING: Self = Vec::new();

        fn is_nothing(&self) -> bool {
            self.capacity() == 0
        }
    }
}

fn numbers() -> Vec<u32> {
    read(&NUMBERS, |numbers| Some(numbers)).expect("the thread's slot is there, and no other task runs")
}

/// Adds a number to the value in force.
fn add(number: u32) {
    assert!(change(&NUMBERS, |numbers| numbers.push(number)).is_ok());
}

fn scoped<F>(number: u32, future: F) -> Scoped<Vec<u32>, F> {
    Scoped::new(vec![number], future)
}

/// Adds a number in each of so many polls, and another one when it is dropped.
struct Adds(u32);

impl Future for Adds {
    type Output = Vec<u32>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Vec<u32>> {
        add(self.0);
        if self.0 == 0 {
            return Poll::Ready(numbers());
        }
        self.0 -= 1;
        Poll::Pending
    }
}

impl Drop for Adds {
    fn drop(&mut self) {
        add(99);
        assert!(numbers().len() > 1, "the drop is in the scope, too");
    }
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_value_follows_its_future_across_polls_threads_and_its_drop() {
    add(1);
    let mut future = Box::pin(scoped(7, Adds(2)));
    assert_eq!(poll(future.as_mut()), Poll::Pending);
    let mut future = thread::spawn(move || {
        add(2);
        assert_eq!(poll(future.as_mut()), Poll::Pending);
        assert_eq!(numbers(), [2]);
        future
    })
    .join()
    .expect("the assertions hold");
    assert_eq!(poll(future.as_mut()), Poll::Ready(vec![7, 2, 1, 0]));
    assert_eq!(future.value(), &[7, 2, 1, 0]);
    drop(future);
    assert_eq!(numbers(), [1]);
}

#[test]
fn scopes_nest_and_each_puts_back_the_one_around_it() {
    let outer = scoped(1, async {
        let mut inner = pin!(scoped(2, Adds(1)));
        assert_eq!(poll(inner.as_mut()), Poll::Pending);
        add(3);
        assert_eq!(poll(inner), Poll::Ready(vec![2, 1, 0]));
        numbers()
    });
    assert_eq!(poll(pin!(outer)), Poll::Ready(vec![1, 3]));
    assert!(numbers().is_empty());
}

#[test]
fn a_panic_leaves_the_scope() {
    let inner = scoped(2, async {
        add(3);
        panic!("in the inner scope");
    });
    let outer = scoped(1, async {
        let mut inner = Box::pin(inner);
        assert!(panic::catch_unwind(AssertUnwindSafe(|| poll::<Scoped<_, _>>(inner.as_mut()))).is_err());
        assert_eq!(inner.value(), &[2, 3]);
        numbers()
    });
    assert_eq!(poll(pin!(outer)), Poll::Ready(vec![1]));
    assert!(numbers().is_empty());
}

#[test]
fn a_closure_takes_the_value_along() {
    let made = scoped(4, 5).map(|number| {
        add(number);
        number + 1
    });
    let seen = made.run(|number| {
        add(number);
        numbers()
    });
    assert_eq!(seen, [4, 5, 6]);
    assert!(numbers().is_empty());
}

#[test]
fn another_task_that_a_scope_polls_does_not_see_its_value() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let tasks = tokio::task::LocalSet::new();
    let task = tasks.spawn_local(async {
        (read(&NUMBERS, |numbers| Some(numbers)), change(&NUMBERS, |numbers| numbers.push(2)).is_err())
    });
    let seen = runtime.block_on(scoped(1, async {
        let inside = tasks.run_until(task).await.expect("the task does not panic");
        (inside, numbers())
    }));
    assert_eq!(seen, ((None, true), vec![1]));
}

/// A value that outlives the slot of its thread polls a scope: it has none then.
#[test]
fn the_last_destructors_of_a_thread_run_without_a_scope() {
    struct Last;
    impl Drop for Last {
        fn drop(&mut self) {
            let reached = poll(pin!(scoped(1, async { read(&NUMBERS, |numbers| Some(numbers)) })));
            // Which of the two is destroyed first differs between systems.
            assert!(matches!(reached, Poll::Ready(None)) || reached == Poll::Ready(Some(vec![1])));
        }
    }
    thread_local!(static LAST: Last = const { Last });
    let thread = thread::spawn(|| {
        LAST.with(|_| ());
        add(1);
    });
    thread.join().expect("no assertion of a destructor failed");
}
