//! Has no probe that can fire: the only call of one is never made, and nothing is left of it.

fn main() {
    if false {
        dyntrace::user_trace::s1("never");
    }
    println!("status {:?}", dyntrace::sdt::register());
}
