//! Arguments without the closure would be made even while nobody looks.

use dyntrace::probes::user_trace;

fn main() {
    let message = String::from("message");
    user_trace::s1(&message);
}
