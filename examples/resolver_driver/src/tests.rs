//! Each look-up has an entry and a return, whatever its outcome. None needs a network.

#[path = "../../common/recorded.rs"]
mod recorded;

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use recorded::operations;

use super::*;

const WORKED: [&str; 2] = ["int_entry", "int_return"];

fn resolver() -> Resolver {
    Resolver::new(Pool::builder().threads(1).build())
}

#[test]
fn a_name_is_looked_up_on_behalf_of_the_task_that_asks() {
    let told = operations("resolver_drv", async {
        let resolver = resolver();
        let look_up = async { resolver.look_up(Command::Any, "127.0.0.1").await };
        let addresses = dyntrace::with_tag("req-7", look_up).await.unwrap();
        assert_eq!(addresses, [IpAddr::from(Ipv4Addr::LOCALHOST)]);
    });
    let [operation] = told.as_slice() else { panic!("{told:?}") };
    let entered = ["user_tag", "command", "name"].map(|name| operation.entry[name].as_str());
    assert_eq!(entered, ["req-7", "1", "127.0.0.1"]);
    assert!(operation.entry["port"].starts_with("#Port<0."), "{operation:?}");
    assert_eq!(operation.between, WORKED);
    let returned = ["user_tag", "success", "addresses", "error"].map(|name| operation.returned[name].as_str());
    assert_eq!(returned, ["req-7", "1", "1", ""]);
}

#[test]
fn a_command_takes_addresses_of_its_kind() {
    let told = operations("resolver_drv", async {
        let resolver = resolver();
        assert_eq!(resolver.look_up(Command::Ipv6, "::1").await.unwrap(), [IpAddr::from(Ipv6Addr::LOCALHOST)]);
        assert_eq!(resolver.look_up(Command::Ipv4, "::1").await.unwrap(), Vec::<IpAddr>::new());
    });
    let returned: Vec<_> = told.iter().map(|told| (&*told.entry["command"], &*told.returned["addresses"])).collect();
    assert_eq!(returned, [("3", "1"), ("2", "0")]);
}

#[test]
fn a_name_that_is_none_fails() {
    let told = operations("resolver_drv", async {
        let resolver = resolver();
        for name in ["", "no\0name"] {
            resolver.look_up(Command::Any, name).await.unwrap_err();
        }
    });
    assert_eq!(told.len(), 2);
    for operation in told {
        assert_eq!(operation.between, WORKED);
        assert_eq!(operation.returned["success"], "0");
        assert!(!operation.returned["error"].is_empty(), "{operation:?}");
    }
}

#[test]
fn a_look_up_that_is_dropped_before_its_turn_is_never_done() {
    let told = operations("resolver_drv", async {
        // Without threads the job stays in the queue.
        let resolver = Resolver::new(Pool::builder().threads(0).build());
        drop(resolver.look_up(Command::Any, "localhost"));
    });
    let [operation] = told.as_slice() else { panic!("{told:?}") };
    assert!(operation.between.is_empty(), "{operation:?}");
    assert!(operation.returned["error"].contains("dropped"), "{operation:?}");
}

#[test]
fn scripts_know_the_commands() {
    for file in ["look_ups.bt", "look_ups.d", "look_ups.stp"] {
        let script = fs::read_to_string(Path::new("scripts").join(file)).unwrap();
        for command in [Command::Any, Command::Ipv4, Command::Ipv6] {
            let entry = format!("op_map[{}] = \"{}\";", command as i32, format!("{command:?}").to_uppercase());
            assert!(script.contains(&entry), "{file} has no {entry}");
        }
    }
}
