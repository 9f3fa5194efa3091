//! Integers of the declared types, and strings of any kind.

use dyntrace::probes::aio_pool;

fn main() {
    aio_pool::add(|| ("#Port<0.1>", 1));
    aio_pool::add(|| (c"#Port<0.1>", 1));
    aio_pool::add(|| (None::<&str>, 1));
}
