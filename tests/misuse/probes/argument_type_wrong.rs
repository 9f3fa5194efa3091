//! An integer of another type: `int` is `i32`, and there is no implicit conversion.

use dyntrace::probes::aio_pool;

fn main() {
    let length: usize = 1;
    aio_pool::add(|| ("#Port<0.1>", length));
}
