struct Cart;

impl Cart {
    #[dyntrace::traced(in = Cart)]
    fn total(&self) {}
}

fn main() {
    Cart.total();
}
