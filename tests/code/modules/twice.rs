//! A module with two exports of one name.
#![cfg(target_os = "linux")]

mod bread {
    #[dyntrace::export]
    fn bake(number: u32) -> u32 {
        number
    }
}

mod cake {
    #[dyntrace::export]
    fn bake(weight: f64) -> f64 {
        weight
    }
}

dyntrace::module!(
    "twice",
    version = "1.0.0",
    // SAFETY: nothing of it runs before it is refused.
    unloadable = unsafe { dyntrace::code::Unloadable::new() }
);
