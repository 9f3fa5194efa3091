//! Without the closure, arguments would be evaluated even while the probe is disabled.

use dyntrace::probes::user_trace;

fn main() {
    let message = String::from("message");
    user_trace::s1(&message);
}
