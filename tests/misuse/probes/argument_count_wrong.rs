//! Four arguments instead of three.

use dyntrace::probes::efile_drv;

fn main() {
    efile_drv::int_entry(|| (1, 2, 3, 4));
}
