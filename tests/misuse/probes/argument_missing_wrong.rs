//! The number of bytes is missing.

use dyntrace::probes::efile_drv;

fn main() {
    efile_drv::r#return(|| (1, 2, "tag", 12, 0, 2));
}
