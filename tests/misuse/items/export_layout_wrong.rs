struct Order {
    quantity: u32,
}

#[dyntrace::export]
fn price(order: &Order) -> u32 {
    order.quantity * 130
}

fn main() {
    price(&Order { quantity: 2 });
}
