//! A program with its own provider, `bakery.d`, compiled by `build.rs`, and nothing else of dyntrace.
//!
//! Trace it with one of the scripts beside it:
//!
//! ```text
//! dyntrace run examples/own_provider/scripts/orders.bt -- target/release/own_provider
//! ```
//!
//! `scripts/orders_example.txt` shows their output.

mod probes {
    dyntrace_probes::include_provider!("bakery");
}

use probes::order;

fn main() {
    for (customer, loaves) in [("Ada", 2), ("Joe", 1), ("Robert", 3)] {
        order::placed(|| (customer, loaves));
        let minutes = bake(loaves);
        order::baked(|| (customer, loaves, minutes));
    }
    // Checks the probe before costly preparations.
    if order::baked::is_enabled() {
        println!("somebody looks into the oven");
    }
}

/// Returns the baking time of `loaves` loaves, in minutes.
fn bake(loaves: i32) -> u32 {
    40 + 5 * loaves.unsigned_abs()
}
