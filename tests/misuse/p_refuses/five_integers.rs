fn main() {
    dyntrace::p!(1, 2, 3, 4, 5);
}
