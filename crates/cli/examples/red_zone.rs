//! A leaf function with values below the stack pointer, if the compiler puts them there, and a probe site among them. A tracer that
//! writes to the stack at the site must not change them. Prints how many calls found all values unchanged.
#![allow(named_asm_labels)]

use std::hint::black_box;

const CALLS: u64 = 20_000;

/// The site is in the function itself, not in one that it calls.
#[inline(never)]
fn fire(seed: u64) -> bool {
    let mut values = [0u64; 12];
    for (value, at) in black_box(&mut values).iter_mut().zip(0..) {
        *value = seed ^ at;
    }
    dyntrace::sdt::site!("red_zone", "hit", (u64 seed "uint64_t"));
    black_box(&values).iter().zip(0..).all(|(value, at)| *value == seed ^ at)
}

fn main() {
    let kept = (0..CALLS).filter(|call| fire(black_box(*call))).count();
    println!("{kept} of {CALLS} kept");
}
