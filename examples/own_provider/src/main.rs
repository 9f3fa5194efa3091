//! A program with a provider file of its own: `bakery.d`, compiled by `build.rs`.
//!
//! Trace it with one of the scripts beside it:
//!
//! ```text
//! dyntrace run examples/own_provider/scripts/orders.bt -- target/release/own_provider
//! ```
//!
//! What they print is in `scripts/orders_example.txt`.

mod probes {
    dyntrace::include_provider!("bakery");
}

use probes::order;

fn main() {
    for (customer, loaves) in [("Ada", 2), ("Joe", 1), ("Robert", 3)] {
        order::placed(|| (customer, loaves));
        let minutes = bake(loaves);
        order::baked(|| (customer, loaves, minutes));
    }
    // Far from the call that fires it, too: worth asking before costly preparations.
    if order::baked::is_enabled() {
        println!("somebody looks into the oven");
    }
}

/// How many minutes so many loaves take.
fn bake(loaves: i32) -> u32 {
    40 + 5 * loaves.unsigned_abs()
}
