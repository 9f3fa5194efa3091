//! Arguments come from a closure, which takes what it needs with it.

use dyntrace::probes::user_trace;

fn main() {
    let message = String::from("message");
    user_trace::s1(|| &message);
}
