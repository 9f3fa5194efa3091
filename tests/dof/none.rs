//! A program without probes: the only call of a probe is unreachable, so the compiler removes it.

fn main() {
    if false {
        dyntrace::user_trace::s1("never");
    }
    println!("status {:?}", dyntrace::sdt::register());
}
