struct Cart;

impl Cart {
    #[dyntrace::traced(within = Cart)]
    fn total(&self) {}
}

fn main() {
    Cart.total();
}
