//! Orders over the control socket, as `dyntrace code` sends them.

use dyntrace::code;
use dyntrace::code::remote::Order;
use dyntrace::recorder::control;
use dyntrace::recorder::control::protocol::{Record, Request};
use dyntrace::recorder::control::{Connection, ControlError};

use crate::support::{Turn, module};

/// This process's answer to itself, each record as text.
fn ask(order: &Order) -> Result<Vec<String>, String> {
    let mut connection = Connection::open(std::process::id()).unwrap();
    match connection.request(&Request::Code(order.record())) {
        Ok(records) => Ok(records.iter().map(shown).collect()),
        Err(ControlError::Refused { why, .. }) => Err(why),
        Err(other) => panic!("{other}"),
    }
}

/// Removes the fields that vary.
fn shown(record: &Record) -> String {
    let is_same = |(name, _): &(&str, &str)| !["time", "file", "start", "size"].contains(name);
    let parts: Vec<String> = record.iter().filter(is_same).map(|(name, value)| format!("{name}={value}")).collect();
    parts.join(" ")
}

#[tokio::test]
async fn modules_are_changed_from_outside_where_the_policy_says_so() {
    let turn = Turn::take().await;
    control().unwrap();
    let (one, two) = (vec![module("pricing_1")], vec![module("pricing_2")]);
    let pricing = || "pricing".to_owned();

    let refused = ask(&Order::Load(one.clone())).unwrap_err();
    assert!(refused.contains("dyntrace::code::allow(Policy::new().directory(...).remote(true))"), "{refused}");
    assert!(ask(&Order::List).unwrap()[0].starts_with("kept="));

    code::allow(turn.policy().remote(true)).unwrap();
    let before = ask(&Order::History).unwrap().len();
    let refused = ask(&Order::Upgrade(one.clone())).unwrap_err();
    assert!(refused.contains("module pricing is not loaded: load it instead"), "{refused}");
    assert_eq!(ask(&Order::Load(one.clone())).unwrap(), ["module=pricing version=1.0.0"]);
    let refused = ask(&Order::Load(two.clone())).unwrap_err();
    assert!(refused.contains("already loaded, in version 1.0.0"), "{refused}");
    assert_eq!(ask(&Order::Upgrade(two)).unwrap(), ["module=pricing version=2.0.0 old=1.0.0"]);
    let list = ask(&Order::List).unwrap();
    assert!(list[0].starts_with("module=pricing version=2.0.0 state=current exports="), "{list:?}");
    assert!(list[1].starts_with("module=pricing version=1.0.0 state=old exports="), "{list:?}");
    assert_eq!(ask(&Order::Check(pricing())).unwrap(), [""; 0]);
    let refused = ask(&Order::Upgrade(one)).unwrap_err();
    assert!(refused.contains("purge"), "{refused}");
    let purged = ask(&Order::SoftPurge(pricing())).unwrap();
    assert!(purged[0].starts_with("module=pricing version=1.0.0 fate="), "{purged:?}");
    assert_eq!(ask(&Order::Purge(pricing())).unwrap(), [""; 0]);
    assert_eq!(ask(&Order::Delete(pricing())).unwrap(), ["module=pricing version=2.0.0"]);
    let refused = ask(&Order::Delete(pricing())).unwrap_err();
    assert!(refused.contains("it has no current version"), "{refused}");
    let history = ask(&Order::History).unwrap().split_off(before);
    let expected = ["load 1.0.0", "upgrade 2.0.0", "purge 1.0.0", "delete 2.0.0"].map(|event| {
        let (what, version) = event.split_once(' ').unwrap();
        format!("what={what} module=pricing version={version}")
    });
    assert_eq!(history, expected);
    let refused = ask(&Order::Load(vec!["/nowhere/libx.so".into()])).unwrap_err();
    assert!(refused.contains("/nowhere/libx.so"), "{refused}");
}
