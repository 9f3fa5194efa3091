//! Work on as many threads as there are cores.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread;

/// Returns the number of threads that run at one time. The standard library reads files of the control group for it.
pub(crate) fn available() -> usize {
    static AVAILABLE: OnceLock<usize> = OnceLock::new();
    *AVAILABLE.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// Runs `each` on this thread and `count - 1` others, each with its number, and returns the answers in the order of the numbers.
pub(crate) fn on_each<R: Send>(count: usize, each: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let each = &each;
    thread::scope(|scope| {
        let others: Vec<_> = (1..count).map(|number| scope.spawn(move || each(number))).collect();
        let own = each(0);
        let others = others.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        std::iter::once(own).chain(others).collect()
    })
}

/// Runs `each` on parts of `items`, of `least` items or more unless there is one part, with the place where each begins. Returns the
/// answers in the order of the parts.
pub(crate) fn on_parts<T: Sync, R: Send>(items: &[T], least: usize, each: impl Fn(usize, &[T]) -> R + Sync) -> Vec<R> {
    let count = available().min(items.len() / least).max(1);
    let length = items.len().div_ceil(count);
    let begin = |number: usize| (number * length).min(items.len());
    on_each(count, |number| each(begin(number), &items[begin(number)..begin(number + 1)]))
}

/// Joins the parts of a list.
pub(crate) fn joined<T>(parts: Vec<Vec<T>>) -> Vec<T> {
    let mut parts = parts.into_iter();
    let mut all = parts.next().unwrap_or_default();
    parts.for_each(|mut part| all.append(&mut part));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_items_in_order() {
        for length in [0, 1, 7, 100, 1001] {
            let items: Vec<usize> = (0..length).collect();
            let parts = on_parts(&items, 3, |begin, part| {
                assert!(part.first().is_none_or(|first| *first == begin));
                part.to_vec()
            });
            assert_eq!(joined(parts), items);
        }
    }
}
