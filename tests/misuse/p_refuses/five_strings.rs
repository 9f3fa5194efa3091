fn main() {
    dyntrace::p!(1, "a", "b", "c", "d", "e");
}
