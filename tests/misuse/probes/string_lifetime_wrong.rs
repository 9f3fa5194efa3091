//! A string that ends with the closure.

use dyntrace::probes::user_trace;

fn main() {
    user_trace::s1(|| {
        let message = format!("{} percent", 50);
        message.as_str()
    });
}
