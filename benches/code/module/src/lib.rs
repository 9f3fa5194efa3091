//! A module with 100 exports. Its name has four digits, so that copies of the file can have others.

use std::hint::black_box;
use std::mem::transmute;

#[path = "../../src/clock.rs"]
mod clock;

dyntrace::module!(
    "module_0000",
    version = "1",
    // SAFETY: no thread, no reference into it and no code of it outlives a call of its exports.
    unloadable = unsafe { dyntrace::code::Unloadable::new() }
);

dyntrace::import! {
    static PRICE: fn(u32) -> u64 = "module_0000", "price";
}

/// The same computation as [`bare_price`]. It uses no stack, whose layout beside the wrapper's costs some nanoseconds.
#[dyntrace::export]
fn price(quantity: u32) -> u64 {
    u64::from(quantity) * 130
}

/// For libraries that find functions by symbol.
#[unsafe(no_mangle)]
pub fn bare_price(quantity: u32) -> u64 {
    u64::from(quantity) * 130
}

/// Returns nanoseconds of a call by a plain pointer from the module.
#[dyntrace::export]
fn by_pointer(pointer: usize) -> f64 {
    // SAFETY: the program passes a function of this type.
    let pointer = unsafe { transmute::<usize, fn(u32) -> u64>(pointer) };
    clock::call_ns(|number| black_box(pointer)(number))
}

/// Returns nanoseconds of a call of an export from the module.
#[dyntrace::export]
fn by_import() -> f64 {
    clock::call_ns(|number| PRICE.call(number).expect("a version is current"))
}

macro_rules! more {
    ($($name:ident)*) => { $(
        #[dyntrace::export]
        fn $name(quantity: u32) -> u64 {
            u64::from(quantity)
        }
    )* };
}

more! {
    e00 e01 e02 e03 e04 e05 e06 e07 e08 e09 e10 e11 e12 e13 e14 e15 e16 e17 e18 e19 e20 e21 e22 e23 e24 e25 e26 e27
    e28 e29 e30 e31 e32 e33 e34 e35 e36 e37 e38 e39 e40 e41 e42 e43 e44 e45 e46 e47 e48 e49 e50 e51 e52 e53 e54 e55
    e56 e57 e58 e59 e60 e61 e62 e63 e64 e65 e66 e67 e68 e69 e70 e71 e72 e73 e74 e75 e76 e77 e78 e79 e80 e81 e82 e83
    e84 e85 e86 e87 e88 e89 e90 e91 e92 e93 e94 e95 e96
}
