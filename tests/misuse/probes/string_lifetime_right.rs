//! A string that is made only while the probe is enabled outlives the closure.

use dyntrace::probes::user_trace;

fn main() {
    let mut message = String::new();
    user_trace::s1(|| {
        message = format!("{} percent", 50);
        &message
    });
}
