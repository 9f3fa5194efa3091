//! Fires events of its own by `p!`, without a provider. Run it under
//! `dyntrace run user-probe -- target/release/examples/checkout`.
//!
//! Three customers pay, each in a task with the customer's name as its user tag. The lines of `user-probe` have the pid and the tag
//! of the task, the integers and the strings:
//!
//! ```text
//! user_trace s1 | the shop is open
//! user_trace i4s4 <0.1.0> user tag Ada | 3 2450 0 0 | paid | card |  |
//! user_trace i4s4 <0.2.0> user tag Joe | 0 0 0 0 | left |  |  |
//! user_trace i4s4 <0.3.0> user tag Robert | 1 99999 0 0 | refused | card | above the limit |
//! ```

/// The largest amount that the shop takes at once, in cents.
const LIMIT: u32 = 50_000;

const CUSTOMERS: [(&str, &[u32]); 3] = [("Ada", &[1200, 1000, 250]), ("Joe", &[]), ("Robert", &[99_999])];

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    dyntrace::user_trace::s1("the shop is open");
    for (customer, prices) in CUSTOMERS {
        dyntrace::spawn(checkout(customer, prices)).await??;
    }
    Ok(())
}

async fn checkout(customer: &str, prices: &[u32]) -> Result<(), dyntrace::TagError> {
    dyntrace::put_tag(customer)?;
    let total: u32 = prices.iter().sum();
    // The arguments are evaluated only while the probe is enabled.
    match total {
        0 => dyntrace::p!("left"),
        1..=LIMIT => dyntrace::p!(prices.len(), total, "paid", "card"),
        _ => dyntrace::p!(prices.len(), total, "refused", "card", "above the limit"),
    }
    Ok(())
}
