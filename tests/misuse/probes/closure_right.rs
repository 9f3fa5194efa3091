//! Arguments come from a closure, which captures its environment.

use dyntrace::probes::user_trace;

fn main() {
    let message = String::from("message");
    user_trace::s1(|| &message);
}
