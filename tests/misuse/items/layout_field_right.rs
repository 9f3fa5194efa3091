#[derive(dyntrace::code::Layout)]
struct Item(u32);

#[derive(dyntrace::code::Layout)]
struct Order {
    item: Item,
}

fn main() {
    let order = Order { item: Item(7) };
    assert_eq!(order.item.0, 7);
}
