//! A loop with a disabled probe, and the same loop without it: `ci/cross` counts the instructions of both.

use std::hint::black_box;

use dyntrace::probes::efile_drv;

#[unsafe(no_mangle)]
#[inline(never)]
fn bare_loop(passes: u64) {
    for pass in 0..passes {
        black_box(pass);
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
fn probed_loop(passes: u64) {
    for pass in 0..passes {
        efile_drv::entry(|| (1, 2, "tag", 12, "old-name", "new-name", pass.cast_signed(), 0, 0, 0, "port"));
        black_box(pass);
    }
}

#[test]
fn both_loops_end() {
    bare_loop(3);
    probed_loop(3);
}
