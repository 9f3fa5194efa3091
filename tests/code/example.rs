//! The example `hot_pricing`, for a second; `ci/faults` runs it at length.

use std::process::Command;

use crate::support::{built, module};

#[test]
fn every_answer_is_of_a_version_in_force() {
    // Its modules are built.
    let _ = [module("hot_pricing_1"), module("hot_pricing_2")];
    let run = Command::new(built().join("hot_pricing")).args(["--seconds", "1", "--upgrades", "20"]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let said: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!((said["upgrades"].as_u64(), said["wrong"].as_u64()), (Some(20), Some(0)), "{said}");
    assert!(said["calls"].as_u64() > Some(0) && said["longest_gap_ns"].as_u64() > Some(0), "{said}");
}
