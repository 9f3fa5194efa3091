//! Fires the probes of messages, of other nodes, of a busy pool, of traced functions and of the application's own events, each with a
//! value in every field, so that tests can compare the output of scripts with it.

use dyntrace::probes::{dist, function, message, port};
use dyntrace::sdt::Text;

const SENDER: &str = "<0.1.0>";
const RECEIVER: &str = "<0.2.0>";
const NODE: &str = "node@host";
const OTHER: &str = "other@host";

fn main() -> Result<(), dyntrace::TagError> {
    message::send(|| (SENDER, RECEIVER, 4_000_000_000, 1, 2, 3));
    message::send_remote(|| (SENDER, NODE, RECEIVER, 5, -1, -2, -3));
    message::queued(|| (RECEIVER, 5, 1, 1, 2, 3));
    message::receive(|| (RECEIVER, 5, 0, 0, 0, 0));

    dist::monitor(|| (NODE, "nodeup", OTHER, "visible", Text::NULL));
    dist::output(|| (NODE, OTHER, OTHER, i32::MAX));
    dist::port_busy(|| (NODE, OTHER, OTHER, SENDER));
    dist::port_not_busy(|| (NODE, OTHER, OTHER));
    dist::monitor(|| (NODE, "nodedown", OTHER, "visible", "it closed the connection"));

    port::busy(|| "#Port<0.7>");
    port::not_busy(|| "#Port<0.7>");

    function::entry(|| (SENDER, "shop::price/2", "7, 250", "req-1", "src/cart.rs:88"));
    function::r#return(|| (SENDER, "shop::price/2", "Ok(1250)", "req-1", "return", u64::MAX, 29_000));

    dyntrace::user_trace::s1("hello, world");
    dyntrace::user_trace::s1(Text::NULL);
    dyntrace::p!("untagged");
    dyntrace::put_tag("req-1")?;
    dyntrace::p!(1, -2i64, i64::MAX, i64::MIN, "a", "b", "c", "d");
    Ok(())
}
