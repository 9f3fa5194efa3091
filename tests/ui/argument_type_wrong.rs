//! A number of another type: `int` is `i32`, and nothing is converted silently.

use dyntrace::probes::aio_pool;

fn main() {
    let length: usize = 1;
    aio_pool::add(|| ("#Port<0.1>", length));
}
