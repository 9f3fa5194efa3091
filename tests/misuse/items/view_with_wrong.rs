fn main() {
    let mut kept = None;
    dyntrace::code::View::with(|view| kept = Some(view));
}
