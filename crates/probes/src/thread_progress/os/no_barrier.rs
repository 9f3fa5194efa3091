//! Systems without barriers in other threads: each pin has one of its own.

pub fn register_barrier() -> bool {
    false
}

pub fn barrier() -> bool {
    unreachable!("no barrier was registered")
}
